"""The words of records, in one index a shelf: a search costs what its own shelf holds, whatever others remember.

An index may miss a record, and never gives one away: what it finds is read again before anybody sees it.
"""

from collections.abc import Callable, Iterable, MutableMapping, Sequence
from functools import partial

from kai.store import indexes, vectors, words
from kai.store.binding import Connection, sqlite_version_info
from kai.store.namespaces import shelf as shelf_of

Counts = MutableMapping[tuple[int, str], int]
_QUERY_TOKENS = 64
POSTINGS = 10_000  # records that one search scores at most, the rarest words first: SQLite scores every match
_SEARCH_CHARS = 20_000  # of a message as a query: what is beyond it brings no word that decides


def add(db: Connection, seq: int) -> None:
    """Index the current revision of an active record: on its own shelf and on those that it was granted to."""
    row = db.execute(
        "SELECT r.record, r.namespace, r.owner, r.revision, v.content FROM mem_record r "
        "JOIN mem_revision v USING (record, revision) WHERE r.seq = ?",
        (seq,),
    ).fetchone()
    granted = db.execute(
        "SELECT ifnull('channel/' || channel, 'person/' || principal) FROM mem_grant WHERE owner = ? "
        "AND revoked_at IS NULL AND (record = ? OR namespace = ?)",
        (row["owner"], row["record"], row["namespace"]),
    )
    for shelf in dict.fromkeys([shelf_of(row["namespace"]), *(each[0] for each in granted)]):
        number = _made(db, shelf)
        known = db.execute("INSERT OR IGNORE INTO mem_indexed VALUES (?, ?, ?)", (number, seq, row["revision"]))
        if known.rowcount:
            text = " ".join(words.tokens(row["content"]))
            db.execute(f"INSERT INTO mem_index_{number} (rowid, words) VALUES (?, ?)", (seq, text))


def drop(db: Connection, seq: int) -> None:
    """Take a record out of every shelf; its words leave the file. Before its text is erased."""
    rows = db.execute(
        "SELECT i.shelf, v.content FROM mem_indexed i JOIN mem_record r ON r.seq = i.seq "
        "JOIN mem_revision v ON v.record = r.record AND v.revision = i.revision WHERE i.seq = ?",
        (seq,),
    ).fetchall()
    for number, content in rows:
        _unword(db, number, seq, " ".join(words.tokens(content)))
    db.execute("DELETE FROM mem_indexed WHERE seq = ?", (seq,))
    vectors.drop(db, seq)


def _unword(db: Connection, number: int, seq: int, text: str) -> None:
    table = f"mem_index_{number}"
    db.execute(f"INSERT INTO {table} ({table}, rowid, words) VALUES ('delete', ?, ?)", (seq, text))
    if sqlite_version_info < (3, 42):  # it only marks what is gone: writing all anew takes the words out of the file
        db.execute(f"INSERT INTO {table} ({table}) VALUES ('optimize')")


def matches(db: Connection, numbers: Iterable[int], text: str, limit: int, counts: Counts) -> dict[int, float]:
    """Row of a record to its BM25 score (higher is better): the best `limit` of each shelf. No text raises.

    `counts` is kept by the caller from search to search: how common a word is decides only what is left out first.
    """
    wanted = terms(text)
    found: dict[int, float] = {}
    for number in numbers:
        if query := " OR ".join(chosen(wanted, partial(count, db, number, counts=counts))):
            table = f"mem_index_{number}"
            found |= {
                row[0]: -row[1]
                for row in db.execute(
                    f"SELECT rowid, score FROM (SELECT rowid, bm25({table}) AS score FROM {table} "
                    f"WHERE {table} MATCH ? "
                    "ORDER BY rowid DESC LIMIT ?) ORDER BY score, rowid LIMIT ?",
                    (query, POSTINGS, limit),
                )
            }
    return found


def terms(text: str) -> list[str]:
    """The words of a question as terms of a query."""
    return [_term(token) for token in dict.fromkeys(words.tokens(text[:_SEARCH_CHARS], query=True))]


def postings(db: Connection, number: int, term: str, least: int = 0) -> list[tuple[int, float]]:
    """Rows from `least` on that hold a term, with its BM25 score there: the newest that one search scores, rising."""
    table = f"mem_index_{number}"
    found = db.execute(
        f"SELECT rowid, -bm25({table}) FROM {table} WHERE {table} MATCH ? AND rowid >= ? ORDER BY rowid DESC LIMIT ?",
        (term, least, POSTINGS),
    ).fetchall()
    return found[::-1]


def index_anew(db: Connection) -> None:
    """Make every index anew. Outside of a transaction."""
    db.execute("BEGIN IMMEDIATE")
    try:
        rebuild(db)
        db.execute("COMMIT")
    finally:
        if db.in_transaction:
            db.execute("ROLLBACK")


def rebuild(db: Connection) -> int:
    """Make every index anew from the records as they stand; how many are in it."""
    for (number,) in db.execute("SELECT seq FROM mem_shelf").fetchall():
        db.execute(f"DROP TABLE mem_index_{number}")
    db.execute("DELETE FROM mem_indexed")
    db.execute("DELETE FROM mem_shelf")
    rows = db.execute("SELECT seq FROM mem_record WHERE status = 'active' ORDER BY seq").fetchall()
    for (seq,) in rows:
        add(db, seq)
    return len(rows)


def astray(db: Connection) -> int:
    """Rows in which records and indexes disagree: 0, or a rebuild is due."""
    lost: int = db.execute(
        "SELECT (SELECT count(*) FROM mem_record r WHERE r.status = 'active' AND NOT EXISTS (SELECT 1 FROM mem_indexed "
        "i WHERE i.seq = r.seq AND i.revision = r.revision)) + (SELECT count(*) FROM mem_indexed i WHERE NOT EXISTS "
        "(SELECT 1 FROM mem_record r WHERE r.seq = i.seq AND r.status = 'active'))"
    ).fetchone()[0]
    return lost


def _made(db: Connection, shelf: str) -> int:
    row = db.execute("SELECT seq FROM mem_shelf WHERE shelf = ?", (shelf,)).fetchone()
    if row:
        return int(row[0])
    # Undone within a savepoint, a virtual table spoils the whole transaction (SQLite 3.53): the writer then runs each
    # of its jobs alone, where all of the transaction is undone.
    number = db.execute("INSERT INTO mem_shelf (shelf, words) VALUES (?, ?)", (shelf, indexes.WORDS)).lastrowid or 0
    table = f"mem_index_{number}"
    db.execute(f"CREATE VIRTUAL TABLE {table} USING fts5 (words, content = '', tokenize = \"ascii tokenchars '_'\")")
    if sqlite_version_info >= (3, 42):
        db.execute(f"INSERT INTO {table} ({table}, rank) VALUES ('secure-delete', 1)")
    return number


def _term(token: str) -> str:
    return f'"{token.rstrip("*")}"{"*" if token.endswith("*") else ""}'


def chosen(terms: Sequence[str], counted: Callable[[str], int]) -> list[str]:
    """The terms that are there, the rarest first while the bound lasts. The rarest alone may be beyond it."""
    parts: list[str] = []
    named = 0
    for found, term in sorted((counted(term), term) for term in terms[: 4 * _QUERY_TOKENS]):
        named += found
        if found and (not parts or named <= POSTINGS) and len(parts) < _QUERY_TOKENS:
            parts.append(term)
    return parts


def count(db: Connection, number: int, term: str, *, counts: Counts) -> int:
    """How many rows hold a term, no further than matters."""
    key = number, term
    if key not in counts:
        table = f"mem_index_{number}"
        counted: int = db.execute(
            f"SELECT count(*) FROM (SELECT 1 FROM {table} WHERE {table} MATCH ? LIMIT ?)", (term, POSTINGS + 1)
        ).fetchone()[0]
        if counted < 100:  # a rare word may become common, and one that was not there may come: those are asked again
            return counted
        counts[key] = counted
    return counts[key]
