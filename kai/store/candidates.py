"""What waits to be accepted: only its owner makes a record of it, or turns it down for good."""

from datetime import datetime

from kai.model.memory import Deed, MemoryReceipt, Scope, Status
from kai.store import records, shelves
from kai.store.binding import Connection
from kai.store.ledger import Made, once


def accept(db: Connection, scope: Scope, record: str, op: str, now: datetime) -> MemoryReceipt:
    """Use a candidate from now on. One whose text was forgotten since stays out; one that is known already as well."""

    def work() -> Made:
        known = records.own(db, scope, record)
        if known is not None and known.status is Status.ACTIVE:
            return Deed.NOOP, "active", record, known.revision, known.revision
        if known is None or known.status is not Status.CANDIDATE:
            return Deed.REJECTED, "unknown", record, 0, 0
        if records.is_buried(db, known.owner, known.text):
            return Deed.REJECTED, "tombstoned", record, known.revision, known.revision
        if any(one.namespace == known.namespace for one in records.said(db, scope, known.text)):
            records.put(db, known, Status.SUPERSEDED, now)
            return Deed.NOOP, "known", record, known.revision, known.revision
        records.supersede(db, known.owner, known.namespace, known.family, now)
        records.put(db, known, Status.ACTIVE, now)
        shelves.add(db, known.seq)
        return Deed.COMMITTED, "", record, known.revision, known.revision

    return once(db, scope, "accept", op, [record], now, work)


def reject(db: Connection, scope: Scope, record: str, op: str, now: datetime) -> MemoryReceipt:
    """Turn a candidate down; a stone on its text sees to it that it is never proposed again."""

    def work() -> Made:
        known = records.own(db, scope, record)
        if known is not None and known.status is Status.FORGOTTEN:
            return Deed.NOOP, "forgotten", record, known.revision, known.revision
        if known is None or known.status is not Status.CANDIDATE:
            return Deed.REJECTED, "unknown", record, 0, 0
        records.bury(db, known, now)
        return Deed.COMMITTED, "", record, known.revision, known.revision

    return once(db, scope, "reject", op, [record], now, work)
