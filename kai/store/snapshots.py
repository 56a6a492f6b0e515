"""The exact text of each dispatch: sections as blobs, each distinct text stored once, and what became of every item."""

import zlib
from collections.abc import Collection, Iterator, Sequence
from datetime import datetime
from hashlib import sha256

from kai.model.context import ContextBlock, Disposition, Section
from kai.model.errors import UnknownThingError
from kai.model.ids import DispatchId, SessionId, TurnId
from kai.model.turns import Dispatch
from kai.store.binding import Connection
from kai.store.columns import insert_all, read_all, stamp, the

_WORDS = -1  # the position of the person's own words
_UNUSED = "DELETE FROM blob WHERE sha256 = ?1 AND NOT EXISTS (SELECT 1 FROM snapshot_section WHERE blob = ?1)"
BLANK = "(erased: this was temporary; its hash is kept)"
_LEVEL = 1  # of zlib: this stands between a person and the first byte


def keep(db: Connection, dispatch: DispatchId, block: ContextBlock) -> None:
    """Store a block. Its dispatch row must be there."""
    parts = [(_WORDS, "words", True, False, block.words)]
    parts += [(at, part.name, part.required, part.stable, part.text) for at, part in enumerate(block.sections)]
    digests = _store(db, [part[-1] for part in parts])
    rows = [(dispatch, *part[:-1], digest) for part, digest in zip(parts, digests, strict=True)]
    db.executemany("INSERT INTO snapshot_section VALUES (?, ?, ?, ?, ?, ?)", rows)
    insert_all(db, "disposition", block.dispositions, lambda at: {"dispatch": dispatch, "position": at})


def snapshot(db: Connection, dispatch: DispatchId) -> ContextBlock:
    """The block as it was dispatched, byte for byte. Raises `UnknownThingError` when it was purged or never was."""
    head = db.execute("SELECT bare, tokens FROM dispatch WHERE dispatch = ?", (dispatch,)).fetchone()
    rows = db.execute(
        "SELECT s.*, b.packed FROM snapshot_section s JOIN blob b ON b.sha256 = s.blob WHERE s.dispatch = ? "
        "ORDER BY s.position",
        (dispatch,),
    ).fetchall()
    if head is None or not rows:
        raise UnknownThingError("snapshot", dispatch)
    texts = [zlib.decompress(row["packed"]).decode() if row["packed"] else BLANK for row in rows]
    return ContextBlock(
        sections=tuple(
            Section(row["name"], text, bool(row["required"]), bool(row["stable"]))
            for row, text in zip(rows[1:], texts[1:], strict=True)
        ),
        words=texts[0],
        dispositions=dispositions(db, dispatch),
        tokens=head["tokens"],
        bare=bool(head["bare"]),
    )


def dispositions(db: Connection, dispatch: DispatchId) -> tuple[Disposition, ...]:
    """What became of every considered item, in the order it was considered."""
    rows = db.execute("SELECT * FROM disposition WHERE dispatch = ? ORDER BY position", (dispatch,))
    return read_all(Disposition, rows)


def dispatches(db: Connection, turn: TurnId) -> tuple[Dispatch, ...]:
    """The attempts of a turn, first to last."""
    rows = db.execute("SELECT * FROM dispatch WHERE turn = ? ORDER BY attempt", (turn,))
    return read_all(Dispatch, rows)


def dispatch(db: Connection, dispatch: DispatchId) -> Dispatch:
    """Raises `UnknownThingError`."""
    return the(db, Dispatch, "dispatch", "SELECT * FROM dispatch WHERE dispatch = ?", dispatch)


def of_session(db: Connection, session: SessionId) -> tuple[Dispatch, ...]:
    """All that one session was sent, first to last."""
    rows = db.execute("SELECT * FROM dispatch WHERE session = ? ORDER BY prepared_at", (session,))
    return read_all(Dispatch, rows)


def purge(db: Connection, before: datetime, *, limit: int = 200) -> int:
    """Erase the snapshots of up to `limit` dispatches prepared earlier; call again until it gives 0.

    The dispatch rows stay, with the hash of what was written.
    """
    old = db.execute(
        "SELECT dispatch FROM dispatch d WHERE prepared_at < ? AND state IN ('settled', 'unknown') "
        "AND EXISTS (SELECT 1 FROM snapshot_section s WHERE s.dispatch = d.dispatch) ORDER BY prepared_at LIMIT ?",
        (stamp(before), limit),
    ).fetchall()
    digests = set(_erase(db, (row[0] for row in old)))
    db.executemany(_UNUSED, ((digest,) for digest in digests))
    return len(old)


def holding(db: Connection, sent: Sequence[str], principal: str, texts: Collection[str]) -> list[str]:
    """Dispatches whose snapshot holds one of `texts`: of those named, and of all that answered this person."""
    rows = db.execute("SELECT d.dispatch FROM dispatch d JOIN turn t USING (turn) WHERE t.principal = ?", (principal,))
    found = []
    for dispatch in dict.fromkeys([*sent, *(row[0] for row in rows.fetchall())]):
        parts = db.execute(
            "SELECT b.packed FROM snapshot_section s JOIN blob b ON b.sha256 = s.blob WHERE s.dispatch = ?", (dispatch,)
        )
        whole = "\n".join(zlib.decompress(row[0]).decode() for row in parts if row[0])
        if any(text in whole for text in texts):
            found.append(dispatch)
    return found


def erase(db: Connection, dispatches: Sequence[str]) -> None:
    """Erase what was sent; that it was stays known."""
    digests = set(_erase(db, iter(dispatches)))
    db.executemany(_UNUSED, ((digest,) for digest in digests))


def blank(db: Connection, dispatches: Sequence[str]) -> None:
    """Take the text of these away, whose messages are erased; which parts there were, and their hashes, stay.

    What a turn was sent as well that is not erased stays for that one.
    """
    db.execute(
        f"UPDATE blob SET packed = x'' WHERE sha256 IN (SELECT blob FROM snapshot_section WHERE dispatch IN "
        f"({', '.join('?' * len(dispatches))})) AND NOT EXISTS (SELECT 1 FROM snapshot_section s "
        "JOIN dispatch d ON d.dispatch = s.dispatch JOIN turn t ON t.turn = d.turn JOIN message m "
        "ON m.message = t.message WHERE s.blob = blob.sha256 AND (t.temporary = 0 OR m.redacted_at IS NULL))",
        dispatches,
    )


def is_blank(db: Connection, dispatch: DispatchId) -> bool:
    """Whether some of its text was taken away."""
    query = "SELECT 1 FROM snapshot_section s JOIN blob b ON b.sha256 = s.blob WHERE s.dispatch = ? AND b.packed = x''"
    return db.execute(f"{query} LIMIT 1", (dispatch,)).fetchone() is not None


def _erase(db: Connection, dispatches: Iterator[str]) -> Iterator[bytes]:
    for dispatch in dispatches:
        for row in db.execute("SELECT blob FROM snapshot_section WHERE dispatch = ?", (dispatch,)).fetchall():
            yield row[0]
        db.execute("DELETE FROM snapshot_section WHERE dispatch = ?", (dispatch,))
        db.execute("DELETE FROM disposition WHERE dispatch = ?", (dispatch,))


def _store(db: Connection, texts: Sequence[str]) -> list[bytes]:
    """Keep what is not there yet; the digest of each text."""
    data = [text.encode() for text in texts]
    digests = [sha256(one).digest() for one in data]
    new = dict(zip(digests, data, strict=True))
    there = f"SELECT sha256 FROM blob WHERE sha256 IN ({', '.join('?' * len(new))}) AND packed <> x''"
    for row in db.execute(there, tuple(new)):
        del new[row[0]]
    rows = [(digest, len(one), _compressed(one)) for digest, one in new.items()]
    # One whose text was taken away has it again: it is sent once more.
    db.executemany(
        "INSERT INTO blob VALUES (?, ?, ?) ON CONFLICT (sha256) DO UPDATE SET packed = excluded.packed", rows
    )
    return digests


def _compressed(data: bytes) -> bytes:
    """In a window no larger than the data: to make ready a whole one costs ten times what a short text does."""
    window = min(15, max(10, len(data).bit_length()))
    pressing = zlib.compressobj(_LEVEL, wbits=window, memLevel=window - 7)
    return pressing.compress(data) + pressing.flush()
