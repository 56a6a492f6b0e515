"""Finding the messages of a channel by their words."""

from kai.model.ids import ChannelId
from kai.model.messages import Message
from kai.store import messages, words
from kai.store.binding import Connection

_QUERY_TOKENS = 64
_POSTINGS = 10_000  # words are taken rarest first until so many rows were named


def search(db: Connection, channel: ChannelId, text: str, limit: int) -> tuple[Message, ...]:
    """Messages of `channel` that hold words of `text`, best first. No text raises; one without words finds nothing."""
    query = _query(db, channel, text)
    if not query:
        return ()
    rows = db.execute(
        "SELECT rowid FROM message_index WHERE message_index MATCH ? ORDER BY rank LIMIT ?", (query, limit)
    ).fetchall()
    return messages.at(db, [row[0] for row in rows])


def refresh(db: Connection) -> None:
    """Make the index anew when it was made by another version of `tokens`. Outside of a transaction."""
    row = db.execute("SELECT value FROM fact WHERE name = 'words'").fetchone()
    if row and row[0] == words.VERSION:
        return
    db.execute("BEGIN IMMEDIATE")
    try:
        db.execute("INSERT INTO message_index (message_index) VALUES ('delete-all')")
        for channel_seq, seq, text in messages.every_said(db):
            words.add(db, channel_seq, seq, text)
        db.execute("INSERT OR REPLACE INTO fact VALUES ('words', ?)", (words.VERSION,))
        db.execute("COMMIT")
    finally:
        if db.in_transaction:
            db.execute("ROLLBACK")


def _query(db: Connection, channel: ChannelId, text: str) -> str:
    """An FTS5 query: marked words in double quotes joined by OR, rarest first while the budget of rows lasts."""
    row = db.execute("SELECT seq FROM channel WHERE channel = ?", (channel,)).fetchone()
    if row is None:
        return ""
    mark = words.mark(row[0])
    wanted = list(dict.fromkeys(words.tokens(text, query=True)))[:_QUERY_TOKENS]
    counted = sorted((_rows_with(db, mark + token), token) for token in wanted)
    parts: list[str] = []
    named = 0
    for count, token in counted:
        if parts and named + count > _POSTINGS:
            break
        named += count
        parts.append(f'"{mark}{token[:-1]}"*' if token.endswith("*") else f'"{mark}{token}"')
    return " OR ".join(parts)


def _rows_with(db: Connection, term: str) -> int:
    row = db.execute("SELECT doc FROM message_words WHERE term = ?", (term.rstrip("*"),)).fetchone()
    return row[0] if row else 0
