"""The exact text of each dispatch and what became of every item, a row for each; a text that stays is stored once."""

import json
import zlib
from collections.abc import Collection, Sequence
from dataclasses import fields
from datetime import datetime
from hashlib import sha256
from operator import attrgetter
from typing import Any

from kai.model.context import ContextBlock, Disposition, Section, Verdict
from kai.model.errors import UnknownThingError
from kai.model.ids import DispatchId, SessionId, TurnId
from kai.model.turns import Dispatch
from kai.store.binding import Connection, Row
from kai.store.columns import read_all, stamp, the

BLANK = "(erased: this was temporary; its hash is kept)"
_DAY = 86_400_000_000  # microseconds
_LEVEL = 1  # of zlib: this stands between a person and the first byte
_SNAPSHOT = "SELECT d.bare, d.tokens, s.* FROM dispatch d JOIN snapshot s ON s.seq = d.snapshot WHERE d.dispatch = ?"
_FIELDS = tuple(field.name for field in fields(Disposition))
_of_item = attrgetter(*_FIELDS)


def keep(db: Connection, block: ContextBlock, now: datetime) -> int:
    """Store a block. Gives its number, which its dispatch has to name."""
    parts: list[tuple[str, bool, bool, str | None]] = [("words", True, False, None)]
    texts, lasting = [block.words], dict[str, str]()
    for part in block.sections:
        digest = part.sha256 if part.stable else None
        parts.append((part.name, part.required, part.stable, digest))
        if digest:
            lasting[digest] = part.text
        else:
            texts.append(part.text)
    if lasting:
        _store(db, lasting, stamp(now) // _DAY)
    items = [_of_item(item) for item in block.dispositions]
    row = (_json(parts), *(_compressed(_json(each).encode()) for each in (texts, items)))
    return db.execute("INSERT INTO snapshot (parts, texts, dispositions) VALUES (?, ?, ?)", row).lastrowid or 0


def snapshot(db: Connection, dispatch: DispatchId) -> ContextBlock:
    """The block as it was dispatched, byte for byte. Raises `UnknownThingError` when it was purged or never was."""
    row = db.execute(_SNAPSHOT, (dispatch,)).fetchone()
    if row is None:
        raise UnknownThingError("snapshot", dispatch)
    (_, words), *sections = _parts(db, row)
    return ContextBlock(
        sections=tuple(
            Section(name, text, bool(required), bool(stable)) for (name, required, stable), text in sections
        ),
        words=words,
        dispositions=_dispositions(row),
        tokens=row["tokens"],
        bare=bool(row["bare"]),
    )


def dispositions(db: Connection, dispatch: DispatchId) -> tuple[Disposition, ...]:
    """What became of every considered item, in the order it was considered."""
    row = db.execute(_SNAPSHOT, (dispatch,)).fetchone()
    return _dispositions(row) if row else ()


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

    The dispatch rows stay, with the hash of what was written. A text that snapshots shared goes when none that is kept
    can have used it.
    """
    old = db.execute(
        "SELECT dispatch FROM dispatch WHERE snapshot IS NOT NULL AND prepared_at < ? "
        "AND state IN ('settled', 'unknown') ORDER BY prepared_at LIMIT ?",
        (stamp(before), limit),
    ).fetchall()
    _erase(db, [row[0] for row in old])
    if not old:  # what is not over yet was spared, however old it is
        first = db.execute("SELECT min(prepared_at) FROM dispatch WHERE snapshot IS NOT NULL").fetchone()[0]
        kept_from = stamp(before) if first is None else min(stamp(before), first)
        db.execute("DELETE FROM blob WHERE used_on < ?", (kept_from // _DAY,))
    return len(old)


def holding(db: Connection, sent: Sequence[str], principal: str, texts: Collection[str]) -> list[str]:
    """Dispatches whose snapshot holds one of `texts`: of those named, and of all that answered this person."""
    rows = db.execute("SELECT d.dispatch FROM dispatch d JOIN turn t USING (turn) WHERE t.principal = ?", (principal,))
    found = []
    for dispatch in dict.fromkeys([*sent, *(row[0] for row in rows.fetchall())]):
        row = db.execute(_SNAPSHOT, (dispatch,)).fetchone()
        whole = "\n".join(text for _, text in _parts(db, row)) if row else ""
        if any(text in whole for text in texts):
            found.append(dispatch)
    return found


def erase(db: Connection, dispatches: Sequence[str]) -> None:
    """Erase what was sent, each text that no other snapshot has included; that it was stays known."""
    kept = [row for dispatch in dispatches if (row := db.execute(_SNAPSHOT, (dispatch,)).fetchone())]
    digests = {digest for row in kept for *_, digest in _list(row["parts"]) if digest}
    _erase(db, dispatches)
    for digest in digests:
        if not db.execute("SELECT 1 FROM snapshot WHERE instr(parts, ?) LIMIT 1", (digest,)).fetchone():
            db.execute("DELETE FROM blob WHERE sha256 = ?", (bytes.fromhex(digest),))


def blank(db: Connection, dispatches: Sequence[str]) -> None:
    """Take the texts of these away, whose messages are erased: all but what goes along every time. Hashes stay."""
    for dispatch in dispatches:
        row = db.execute(_SNAPSHOT, (dispatch,)).fetchone()
        if row is None or not row["texts"]:
            continue
        rest = iter(_list(row["texts"]))
        parts = [(*head, digest or sha256(next(rest).encode()).hexdigest()) for *head, digest in _list(row["parts"])]
        db.execute("UPDATE snapshot SET parts = ?, texts = x'' WHERE seq = ?", (_json(parts), row["seq"]))


def is_blank(db: Connection, dispatch: DispatchId) -> bool:
    """Whether its text was taken away."""
    row = db.execute(_SNAPSHOT, (dispatch,)).fetchone()
    return row is not None and any(text == BLANK for _, text in _parts(db, row))


def _erase(db: Connection, dispatches: Sequence[str]) -> None:
    keys = [(dispatch,) for dispatch in dispatches]
    db.executemany("DELETE FROM snapshot WHERE seq = (SELECT snapshot FROM dispatch WHERE dispatch = ?)", keys)
    db.executemany("UPDATE dispatch SET snapshot = NULL WHERE dispatch = ?", keys)


def _parts(db: Connection, row: Row) -> list[tuple[tuple[str, int, int], str]]:
    """((name, required, stable), text) of the person's words and of each section. Raises `UnknownThingError`."""
    rest = iter(_list(row["texts"]) if row["texts"] else ())
    found = []
    for name, required, stable, digest in _list(row["parts"]):
        text = _blob(db, digest) if digest else next(rest)
        if text is None and stable:
            raise UnknownThingError("snapshot text", digest)
        found.append(((name, required, stable), BLANK if text is None else text))
    return found


def _list(column: str | bytes) -> list[Any]:
    found: list[Any] = json.loads(column if isinstance(column, str) else zlib.decompress(column))
    return found


def _blob(db: Connection, digest: str) -> str | None:
    row = db.execute("SELECT packed FROM blob WHERE sha256 = ?", (bytes.fromhex(digest),)).fetchone()
    return zlib.decompress(row["packed"]).decode() if row else None


def _dispositions(row: Row) -> tuple[Disposition, ...]:
    items = (dict(zip(_FIELDS, item, strict=True)) for item in _list(row["dispositions"]))
    return tuple(Disposition(**{**item, "verdict": Verdict(item["verdict"])}) for item in items)


def _store(db: Connection, texts: dict[str, str], today: int) -> None:
    """Keep these texts by the hex of their SHA-256, and that they were used `today`."""
    keys = {bytes.fromhex(digest): text for digest, text in texts.items()}
    marks = ", ".join("?" * len(keys))
    for row in db.execute(f"SELECT sha256 FROM blob WHERE sha256 IN ({marks}) AND used_on >= ?", (*keys, today)):
        del keys[row[0]]
    if keys:
        data = {digest: text.encode() for digest, text in keys.items()}
        db.executemany(
            "INSERT INTO blob VALUES (?, ?, ?, ?) ON CONFLICT (sha256) DO UPDATE SET used_on = excluded.used_on",
            [(digest, len(one), _compressed(one), today) for digest, one in data.items()],
        )


def _json(value: object) -> str:
    return json.dumps(value, ensure_ascii=False, separators=(",", ":"))


def _compressed(data: bytes) -> bytes:
    """In a window no larger than the data: to make ready a whole one costs ten times what a short text does."""
    window = min(15, max(10, len(data).bit_length()))
    pressing = zlib.compressobj(_LEVEL, wbits=window, memLevel=window - 7)
    return pressing.compress(data) + pressing.flush()
