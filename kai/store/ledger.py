"""The evidence: receipts of what was done, audit of what was read, with nothing of the text in either."""

import hmac
import json
from collections.abc import Callable, Iterable
from datetime import datetime
from hashlib import sha256
from typing import Any

from kai.model.ids import TurnId
from kai.model.memory import Deed, MemoryReceipt, Record, Scope, Searched
from kai.store.binding import Connection
from kai.store.columns import insert, read_all, stamp, values

Made = tuple[Deed, str, str, int, int]  # outcome, reason, record, base, revision


def keyed(db: Connection, text: str, secret: bytes | None = None) -> bytes:
    """The hash of a text under this store's key: a copy of the table tells nobody what was in it."""
    return hmac.digest(secret or own_secret(db), text.encode(errors="replace"), "sha256")


def own_secret(db: Connection) -> bytes:
    return bytes.fromhex(db.execute("SELECT value FROM fact WHERE name = 'memory_secret'").fetchone()[0])


def once(
    db: Connection, scope: Scope, operation: str, op: str, asked: Any, now: datetime, work: Callable[[], Made]
) -> MemoryReceipt:
    """Do `work` unless this operation id was used: a repeat gets the same receipt, another body is refused.

    Its receipt is in the same transaction; when that fails, nothing was done.
    """
    digest = keyed(db, json.dumps([operation, asked], ensure_ascii=False, default=str))
    row = db.execute("SELECT * FROM mem_receipt WHERE owner = ? AND op = ?", (scope.principal, op)).fetchone()
    if row is not None:
        if hmac.compare_digest(row["digest"], digest):
            return _read([row])[0]
        return MemoryReceipt(op, operation, Deed.REJECTED, reason="op_id_reuse", way=scope.way, at=now)
    outcome, reason, record, base, revision = work()
    actor = scope.actor or scope.principal
    receipt = MemoryReceipt(op, operation, outcome, record, base, revision, reason, actor, scope.way, scope.turn, now)
    insert(db, "mem_receipt", owner=scope.principal, digest=digest, **values(receipt))
    namespace = db.execute("SELECT namespace FROM mem_record WHERE record = ?", (record,)).fetchone()
    note(db, scope, operation, [Searched(namespace[0] if namespace else "", outcome, reason)], now)
    return receipt


def receipts(db: Connection, scope: Scope, limit: int, record: str = "") -> tuple[MemoryReceipt, ...]:
    """The person's own, the newest first."""
    rows = db.execute(
        "SELECT * FROM mem_receipt WHERE owner = ?1 AND (?2 = '' OR record = ?2) ORDER BY at DESC, op LIMIT ?3",
        (scope.principal, record, limit),
    )
    return _read(rows)


def note(
    db: Connection, scope: Scope, action: str, searched: Iterable[Searched], now: datetime, turn: TurnId | None = None
) -> None:
    """One row of the audit for every namespace that was asked, whatever was found."""
    given = {
        "at": now,
        "actor": scope.actor or scope.principal,
        "principal": scope.principal,
        "channel": scope.channel,
        "action": action,
        "way": scope.way,
        "turn": turn or scope.turn,
    }
    for one in searched:
        insert(db, "mem_audit", **given, **values(one))


def audit(db: Connection, scope: Scope, limit: int, *, mine: bool = False) -> list[dict[str, Any]]:
    """What was read and written for the person, the newest first. `mine`: also what others read of the person's."""
    own = f"person/{scope.principal}/"
    of_mine = " OR instr(namespace, ?2) = 1 OR instr(namespace, 'granted:' || ?2) = 1" if mine else ""
    rows = db.execute(
        f"SELECT * FROM mem_audit WHERE principal = ?1{of_mine} ORDER BY seq DESC LIMIT ?3",
        (scope.principal, own, limit),
    )
    return [dict(row) for row in rows]


def drop_old(db: Connection, before: datetime) -> int:
    """Erase the audit from before then. Receipts stay: they are what a repeat is known by."""
    return db.execute("DELETE FROM mem_audit WHERE at < ?", (stamp(before),)).rowcount


def fingerprint(record: Record) -> str:
    """A name for the exact text of a revision, for evidence."""
    return sha256(record.text.encode()).hexdigest()[:16]


def _read(rows: Iterable[Any]) -> tuple[MemoryReceipt, ...]:
    return read_all(MemoryReceipt, rows)
