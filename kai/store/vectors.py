"""Vectors of records, by whom they were made, and what changed among them.

Vectors go in as float32 numbers and are kept as float16. Which records they belong to is said by `mem_indexed`, so that
a vector of an old revision is nobody's.
"""

import json
import struct
from array import array
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from kai.store.binding import Connection, Row

_LOADED = 4_096  # rows at a time
_HELD = "mem_indexed i JOIN mem_vector x ON x.embedder = :embedder AND x.seq = i.seq AND x.revision = i.revision"


@dataclass(frozen=True, slots=True)
class Unembedded:
    """The current text of a record that has no vector of an embedder yet."""

    seq: int
    revision: int
    text: str


@dataclass(frozen=True, slots=True)
class Space:
    """A shelf and whose vectors are searched on it; None: nobody's yet. `wanted`: a rebuild with these is under way."""

    shelf: str
    number: int
    embedder: int | None
    wanted: int | None


def embedder(db: Connection, identity: str, probe: bytes) -> tuple[int, bytes]:
    """The number of an embedder, known from now on, and the probe it had when it was first met."""
    db.execute("INSERT OR IGNORE INTO mem_embedder (identity, probe) VALUES (?, ?)", (identity, probe))
    row = db.execute("SELECT embedder, probe FROM mem_embedder WHERE identity = ?", (identity,)).fetchone()
    return row[0], row[1]


def is_empty(db: Connection) -> bool:
    """Whether nothing is remembered that could have a vector."""
    return db.execute("SELECT 1 FROM mem_indexed LIMIT 1").fetchone() is None


def number(db: Connection, /, identity: str) -> int | None:
    """The number of an embedder that has made vectors here."""
    row = db.execute("SELECT embedder FROM mem_embedder WHERE identity = ?", (identity,)).fetchone()
    return row[0] if row else None


def spaces(db: Connection, shelves: Sequence[str]) -> list[Space]:
    """Of these shelves those on which something stands."""
    rows = db.execute(
        "SELECT s.shelf, s.seq AS number, p.embedder, p.wanted FROM mem_shelf s LEFT JOIN mem_space p USING (shelf) "
        f"WHERE s.shelf IN ({', '.join('?' * len(shelves))}) AND EXISTS "
        "(SELECT 1 FROM mem_indexed i WHERE i.shelf = s.seq)",
        tuple(shelves),
    )
    return [Space(*row) for row in rows]


def paused(db: Connection, embedder: int) -> list[Space]:
    """Every shelf on which another embedder's vectors stand: it is not searched by vectors until it is rebuilt."""
    rows = db.execute(
        "SELECT p.shelf, 0 AS number, p.embedder, p.wanted FROM mem_space p WHERE p.embedder <> ? ORDER BY p.shelf",
        (embedder,),
    )
    return [Space(*row) for row in rows]


def want(db: Connection, embedder: int) -> int:
    """Rebuild with this embedder whatever another one's vectors stand on: on how many shelves."""
    return db.execute("UPDATE mem_space SET wanted = ?1 WHERE embedder <> ?1", (embedder,)).rowcount


def unembedded(db: Connection, embedder: int, after: int, limit: int, since: int = -1) -> list[Unembedded]:
    """Records beyond row `after` that have no vector of `embedder` and should: not those of a paused shelf.

    Of all there are, or with `since` of those alone that came or changed after that move.
    """
    rows = (
        "mem_indexed i"
        if since < 0
        else ("(SELECT DISTINCT seq FROM mem_moved WHERE moved > :since) m CROSS JOIN mem_indexed i ON i.seq = m.seq")
    )
    found = db.execute(
        f"SELECT DISTINCT i.seq, i.revision, v.content FROM {rows} JOIN mem_shelf s ON s.seq = i.shelf "
        "LEFT JOIN mem_space p ON p.shelf = s.shelf JOIN mem_record r ON r.seq = i.seq AND r.revision = i.revision "
        "JOIN mem_revision v ON v.record = r.record AND v.revision = i.revision "
        "WHERE i.seq > :after AND (p.shelf IS NULL OR p.embedder = :embedder OR p.wanted = :embedder) AND NOT EXISTS "
        "(SELECT 1 FROM mem_vector x WHERE x.embedder = :embedder AND x.seq = i.seq AND x.revision = i.revision) "
        "ORDER BY i.seq LIMIT :limit",
        {"embedder": embedder, "after": after, "limit": limit, "since": since},
    )
    return [Unembedded(*row) for row in found]


def keep(
    db: Connection, embedder: int, seq: int, revision: int, vector: bytes, tokens: bytes = b"", scale: float = 0.0
) -> bool:
    """Keep the vector of a record. False: it was corrected or forgotten meanwhile, and nothing is kept."""
    row = db.execute("SELECT 1 FROM mem_indexed WHERE seq = ? AND revision = ?", (seq, revision)).fetchone()
    if row is None:
        return False
    drop(db, seq, embedder)
    db.execute("INSERT INTO mem_vector VALUES (?, ?, ?, ?)", (embedder, seq, revision, halved(vector)))
    if tokens:
        db.execute("INSERT INTO mem_token VALUES (?, ?, ?, ?)", (seq, embedder, scale, tokens))
    db.execute(
        "INSERT OR IGNORE INTO mem_space (shelf, embedder) SELECT s.shelf, ? FROM mem_indexed i "
        "JOIN mem_shelf s ON s.seq = i.shelf WHERE i.seq = ?",
        (embedder, seq),
    )
    return True


def drop(db: Connection, seq: int, embedder: int | None = None) -> None:
    """Take the vectors of a record out of the file: all of them, or those of one embedder."""
    for table in ("mem_vector", "mem_token"):
        db.execute(f"DELETE FROM {table} WHERE seq = ?1 AND (?2 IS NULL OR embedder = ?2)", (seq, embedder))


def settle(db: Connection, embedder: int) -> int:
    """End the rebuilds with `embedder` when nothing is left to do, and drop what nobody searches any more.

    On how many shelves its vectors are searched from now on.
    """
    is_wanted = db.execute("SELECT 1 FROM mem_space WHERE wanted = ?", (embedder,)).fetchone()
    if is_wanted is None or unembedded(db, embedder, 0, 1):
        return 0
    done = db.execute("UPDATE mem_space SET embedder = wanted, wanted = NULL WHERE wanted = ?", (embedder,)).rowcount
    if done:
        for table in ("mem_vector", "mem_token"):
            db.execute(
                f"DELETE FROM {table} WHERE embedder NOT IN (SELECT embedder FROM mem_space "
                "UNION SELECT wanted FROM mem_space WHERE wanted IS NOT NULL)"
            )
    return done


def moved(db: Connection, shelf: int, since: int) -> tuple[int, list[int]]:
    """What came, went or changed on a shelf after the move `since`, and the last move of them."""
    rows = db.execute("SELECT moved, seq FROM mem_moved WHERE shelf = ? AND moved > ? ORDER BY moved", (shelf, since))
    changed = [(row[0], row[1]) for row in rows]
    return (changed[-1][0] if changed else since), list(dict.fromkeys(seq for _, seq in changed))


def last_move_on(db: Connection, shelf: int) -> int:
    """The last move that changed something on a shelf since the daemon started; 0: none did."""
    last: int | None = db.execute("SELECT max(moved) FROM mem_moved WHERE shelf = ?", (shelf,)).fetchone()[0]
    return last or 0


def last_move(db: Connection) -> int:
    row = db.execute("SELECT seq FROM sqlite_sequence WHERE name = 'mem_moved'").fetchone()
    return row[0] if row else 0


def count(db: Connection, embedder: int, shelf: int) -> int:
    rows: int = db.execute(
        f"SELECT count(*) FROM {_HELD} WHERE i.shelf = :shelf", {"embedder": embedder, "shelf": shelf}
    ).fetchone()[0]
    return rows


def load(db: Connection, embedder: int, shelf: int) -> Iterator[tuple[list[int], bytes]]:
    """The vectors of a shelf, thousands at a time: rows, and their float16 numbers end to end."""
    cursor = db.execute(
        f"SELECT i.seq, x.vector FROM {_HELD} WHERE i.shelf = :shelf", {"embedder": embedder, "shelf": shelf}
    )
    while rows := cursor.fetchmany(_LOADED):
        yield _together(rows)


def held(db: Connection, embedder: int, shelf: int, seqs: Sequence[int]) -> tuple[list[int], bytes]:
    """Of these rows those that stand on the shelf with a vector, and the vectors."""
    found = db.execute(
        f"SELECT i.seq, x.vector FROM json_each(:seqs) j JOIN {_HELD} WHERE i.shelf = :shelf AND i.seq = j.value",
        {"embedder": embedder, "shelf": shelf, "seqs": json.dumps(seqs)},
    )
    return _together(found.fetchall())


def fetch(db: Connection, embedder: int, seqs: Sequence[int]) -> tuple[list[int], bytes]:
    """Of these rows those that have a vector, and the vectors."""
    found = db.execute(
        "SELECT x.seq, x.vector FROM json_each(?) j CROSS JOIN mem_vector x ON x.embedder = ? AND x.seq = j.value",
        (json.dumps(seqs), embedder),
    )
    return _together(found.fetchall())


def tokens(db: Connection, embedder: int, seqs: Sequence[int]) -> dict[int, tuple[float, bytes]]:
    """Scale and token vectors of those of these rows that have them."""
    found = db.execute(
        "SELECT t.seq, t.scale, t.tokens FROM json_each(?) j CROSS JOIN mem_token t ON t.seq = j.value "
        "AND t.embedder = ?",
        (json.dumps(seqs), embedder),
    )
    return {row[0]: (row[1], row[2]) for row in found}


def halved(vector: bytes) -> bytes:
    """float32 numbers as float16."""
    numbers = array("f")
    numbers.frombytes(vector)
    return struct.pack(f"<{len(numbers)}e", *numbers)


def _together(rows: Sequence[Row]) -> tuple[list[int], bytes]:
    return [row[0] for row in rows], b"".join([row[1] for row in rows])
