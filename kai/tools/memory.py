"""Memory for agents: the same operations as a person's, within the scope of the run and the lists of its definition."""

from collections.abc import Callable
from dataclasses import asdict
from datetime import datetime
from typing import Any

from kai.memory.retrieval import Found
from kai.model.memory import Deed, Kind, MemoryReceipt, NewRecord, Scope
from kai.store import eligible, exposures, ledger, namespaces, records
from kai.store.binding import Connection
from kai.tools.scope import RunScope
from kai.turns.parts import Parts
from kai.turns.remembering import Remembering, told

ANSWER_CHARS = 60_000  # of all records of one answer
Patterns = tuple[str, ...]


async def search(parts: Parts, scope: RunScope, query: str, namespace: str, limit: int) -> dict[str, Any]:
    """Whole records, best first; `status` tells apart what is not there from what could not be looked for."""
    policy, wanted = scope.run.agent.memory, (namespace,) if namespace else ()
    found, dropped = await Remembering(parts).search(scope.memory, query, wanted, policy)
    hits = _fitting(found, limit)
    if hits and scope.turn is not None:  # what is taken back of it later ends the session, or is told to it
        shown = [(hit["record"], hit["revision"]) for hit in hits]
        await parts.store.write_soft(exposures.found, scope.run.session, scope.turn.turn, shown)
    more = {"reason": found.reason} if found.reason else {}
    status = "omitted_budget" if found.scored and not hits else found.status
    return {"status": status, **more, "eligible": len(found.scored), "hits": hits, "not_granted": list(dropped)}


async def save(parts: Parts, scope: RunScope, text: str, kind: str, family: str, op: str) -> dict[str, Any]:
    """The receipt. Without a message of the person in this turn behind it, what is kept waits to be accepted."""
    new, where = NewRecord(text, Kind(kind), family=family), scope.run.agent.memory.write
    receipt = await Remembering(parts).operate("save", _save, scope.memory, where, new, op=op)
    return _receipt(receipt)


async def correct(parts: Parts, scope: RunScope, text: str, record: str, base: int, op: str) -> dict[str, Any]:
    """The receipt; a conflict when `base` is not the current revision."""
    where = _Granted("correct", records.correct, scope.run.agent.memory.write, scope.run.agent.memory.own_only)
    return _receipt(await Remembering(parts).operate("correct", where, scope.memory, record, text, base, op=op))


async def forget(parts: Parts, scope: RunScope, record: str, base: int, op: str) -> dict[str, Any]:
    """The receipt; a conflict when `base` is not the current revision."""
    where = _Granted("forget", records.forget, scope.run.agent.memory.delete, scope.run.agent.memory.own_only)
    return _receipt(await Remembering(parts).operate("forget", where, scope.memory, record, base, op=op))


def _save(db: Connection, scope: Scope, where: Patterns, new: NewRecord, op: str, now: datetime) -> MemoryReceipt:
    here = eligible.place(db, scope, where)
    namespace = namespaces.of_kind(scope, new.kind, shared=here.is_shared)
    if not namespaces.reaches(here.patterns, namespace):
        return _refused(db, scope, "save", asdict(new), op, now)
    return records.save(db, scope, new, op, now)


class _Granted:
    """An operation on one record of the person's, where the definition's list reaches it, else refused."""

    def __init__(self, operation: str, work: Callable[..., MemoryReceipt], where: Patterns, own_only: bool) -> None:
        self._operation, self._work, self._where, self._own_only = operation, work, where, own_only

    def __call__(self, db: Connection, scope: Scope, record: str, *asked: Any) -> MemoryReceipt:
        known, here = records.own(db, scope, record), eligible.place(db, scope, self._where)
        if known is not None:
            is_others = self._own_only and known.agent != scope.agent
            if is_others or not namespaces.reaches(here.patterns, known.namespace):
                return _refused(db, scope, self._operation, [record, *asked[:-2]], *asked[-2:])
        return self._work(db, scope, record, *asked)


def _refused(db: Connection, scope: Scope, operation: str, asked: Any, op: str, now: datetime) -> MemoryReceipt:
    return ledger.once(db, scope, operation, op, asked, now, lambda: (Deed.REJECTED, "not_granted", "", 0, 0))


def _fitting(found: Found, limit: int) -> list[dict[str, Any]]:
    """The first of them, as an agent is told them, that fit one answer: no record is cut."""
    hits: list[dict[str, Any]] = []
    left = ANSWER_CHARS
    for one in found.scored[:limit]:
        record = one.record
        left -= len(record.text)
        if left < 0:
            break
        names = ("record", "revision", "kind", "namespace", "text", "said_by", "said_at")
        hits.append({**{name: getattr(record, name) for name in names}, "score": round(one.score, 3)})
    return hits


def _receipt(receipt: MemoryReceipt) -> dict[str, Any]:
    """The receipt with its sentence, which is all that an agent may report."""
    names = ("op", "operation", "outcome", "record", "base", "revision", "reason", "turn", "at")
    return {**{name: getattr(receipt, name) for name in names}, "sentence": told(receipt)}
