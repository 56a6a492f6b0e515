"""Whether the indexes of words are still those of this kai: one look at each start."""

from kai.store.binding import Connection

WORDS = "1"  # a change of `kai.store.words.tokens` needs another: the indexes are then made anew


def refresh(db: Connection) -> None:
    """Make anew what was indexed by other tokens; no vector is in memory yet. Outside of a transaction."""
    messages, said, records, moved = db.execute(
        "SELECT ifnull((SELECT value FROM fact WHERE name = 'words'), '') <> ?1, "
        "EXISTS (SELECT 1 FROM message), EXISTS (SELECT 1 FROM mem_shelf WHERE words <> ?1), "
        "EXISTS (SELECT 1 FROM mem_moved)",
        (WORDS,),
    ).fetchone()
    if messages and not said:
        db.execute("INSERT OR REPLACE INTO fact VALUES ('words', ?)", (WORDS,))
    elif messages:
        from kai.store import search  # noqa: PLC0415 - most starts find them as they were left

        search.index_anew(db)
    if records:
        from kai.store import shelves  # noqa: PLC0415 - as above

        shelves.index_anew(db)
    if moved:
        db.execute("DELETE FROM mem_moved")
