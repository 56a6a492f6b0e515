"""Memory over the API: each deed with its caller's rights, its scope made of the credential, its answer as a view."""

from collections.abc import Mapping
from dataclasses import asdict
from datetime import timedelta
from functools import partial
from typing import Any

from kai.memory.embedding.embedder import EmbedderUnavailableError
from kai.memory.notebook import Entry, entries
from kai.memory.retrieval import Found
from kai.model.errors import BadInputError, DeniedError
from kai.model.ids import ChannelId, fresh
from kai.model.memory import Deed, Kind, MemoryReceipt, NewRecord, Record, Scope, Status, Way
from kai.store import archive, candidates, grants, ledger, people, records, redaction, shelves, upkeep, vectors
from kai.store.binding import Connection
from kai.store.records import TakenIn
from kai.turns.door import Caller
from kai.turns.parts import Parts
from kai.turns.remembering import OFF, Remembering, told
from kai.turns.retention import collect
from kai.turns.views import View, channel_of, principal_of

_OPERATORS = frozenset({"gc", "doctor", "reindex"})


class MemoryDoor:
    """``deed_NAME`` for every deed of the routes below ``/v1/memory``."""

    def __init__(self, parts: Parts) -> None:
        self._parts = parts
        self._remembering = Remembering(parts)

    async def do(self, caller: Caller, deed: str, fields: Mapping[str, Any]) -> Any:
        """Raises `DeniedError`, `UnknownThingError`, `BadInputError`; a refused operation is a receipt."""
        given = dict(fields)
        if deed in _OPERATORS:
            if not caller.operator:
                raise DeniedError("this is for operators", "Ask whoever runs kai, or run it as the daemon's user.")
            return await getattr(self, f"deed_{deed}")(**given)
        if not self._parts.config.settings.memory.enabled:
            raise BadInputError("memory", "is off", OFF)
        scope = await self._scope(caller, given.pop("channel", None))
        return await getattr(self, f"deed_{deed}")(scope, **given)

    async def _scope(self, caller: Caller, channel: ChannelId | None) -> Scope:
        """An operator who speaks for somebody is told apart from that person, by way and by name."""
        principal, now = principal_of(caller), self._parts.clock.now()
        where = await self._parts.store.write_soft(channel_of, caller, channel, now)
        own = await self._parts.store.read(_is_own, caller)
        return Scope(principal, where, way=Way.API if own else Way.ADMIN, actor="" if own else f"os:{caller.os_user}")

    async def deed_save(self, scope: Scope, op: str, kind: Kind, text: str, **more: Any) -> View:
        new = NewRecord(text, kind, **more)
        return _receipt(await self._remembering.operate("save", records.save, scope, new, op=op))

    async def deed_correct(self, scope: Scope, record: str, op: str, text: str, base: int | None) -> View:
        return _receipt(await self._remembering.operate("correct", records.correct, scope, record, text, base, op=op))

    async def deed_forget(self, scope: Scope, record: str, op: str, base: int | None) -> View:
        return _receipt(await self._remembering.operate("forget", records.forget, scope, record, base, op=op))

    async def deed_restore(self, scope: Scope, record: str, op: str) -> View:
        return _receipt(await self._remembering.operate("restore", records.restore, scope, record, op=op))

    async def deed_redact(self, scope: Scope, record: str, op: str) -> View:
        return _receipt(await self._remembering.operate("redact", redaction.redact, scope, record, op=op))

    async def deed_accept(self, scope: Scope, record: str, op: str) -> View:
        return _receipt(await self._remembering.operate("accept", candidates.accept, scope, record, op=op))

    async def deed_reject(self, scope: Scope, record: str, op: str) -> View:
        return _receipt(await self._remembering.operate("reject", candidates.reject, scope, record, op=op))

    async def deed_grant(self, scope: Scope, op: str, what: str, to: str, days: float) -> View:
        until = self._parts.clock.now() + timedelta(days=days) if days else None
        return _receipt(await self._remembering.operate("grant", grants.grant, scope, what, to, until, op=op))

    async def deed_revoke(self, scope: Scope, record: str, op: str) -> View:
        return _receipt(await self._remembering.operate("revoke", grants.revoke, scope, record, op=op))

    async def deed_grants(self, scope: Scope) -> list[dict[str, object]]:
        return await self._parts.store.read(grants.of, scope)

    async def deed_search(self, scope: Scope, query: str, namespaces: tuple[str, ...], limit: int) -> View:
        found, dropped = await self._remembering.search(scope, query, namespaces)
        return {**_found(found, limit), "dropped": list(dropped)}

    async def deed_records(self, scope: Scope, status: str, limit: int) -> list[View]:
        wanted = Status(status) if status else None
        found = await self._parts.store.read(records.listing, scope, status=wanted, limit=limit)
        return [_record(one) for one in found]

    async def deed_record(self, scope: Scope, record: str) -> View:
        def look(db: Connection) -> View:
            return {
                **_record(records.get(db, scope, record)),
                "revisions": records.revisions(db, scope, record),
                "receipts": [_receipt(one) for one in ledger.receipts(db, scope, 100, record)],
            }

        return await self._parts.store.read(look)

    async def deed_receipts(self, scope: Scope, limit: int) -> list[View]:
        return [_receipt(one) for one in await self._parts.store.read(ledger.receipts, scope, limit)]

    async def deed_audit(self, scope: Scope, limit: int, mine: bool) -> list[View]:
        return await self._parts.store.read(partial(ledger.audit, mine=mine), scope, limit)

    async def deed_export(self, scope: Scope) -> View:
        return await self._parts.store.write(archive.written, scope, self._parts.clock.now())

    async def deed_import(self, scope: Scope, op: str, document: dict[str, Any], markdown: str, dry_run: bool) -> View:
        """An export, or the text of a MEMORY.md; its entries are told with the lines that they stand in."""
        found = entries(markdown)
        pieces = [(NewRecord(one.text, one.kind, pinned=False), TakenIn(said_at=one.said_at)) for one in found]
        work = partial(archive.take_in if markdown else archive.read_back, dry=dry_run)
        asked = scope, pieces if markdown else document, op or fresh("o"), self._parts.clock.now()
        receipts = await (self._parts.store.read if dry_run else self._parts.store.write)(work, *asked)
        if self._parts.vectors is not None:
            self._parts.vectors.keeper.wake()
        counts: dict[str, int] = {}
        for one in receipts:
            key = one.outcome if not one.reason else f"{one.outcome}: {one.reason}"
            counts[key] = counts.get(key, 0) + 1
        told_of = [_entry(one, receipt) for one, receipt in zip(found, receipts, strict=bool(markdown))]
        return {"receipts": [_receipt(one) for one in receipts], "counts": counts, "entries": told_of}

    async def deed_gc(self) -> View:
        parts = self._parts
        return asdict(await collect(parts.store, parts.config.settings.memory, parts.clock))

    async def deed_doctor(self) -> list[View]:
        return list(await self._parts.store.write(upkeep.findings))

    async def deed_reindex(self) -> View:
        """Words at once; vectors of another embedder begin to be replaced, in the background."""
        found: View = {"records": await self._parts.store.write(shelves.rebuild)}
        if self._parts.vectors is not None and not await self._parts.store.read(vectors.is_empty):
            try:
                found["shelves"] = await self._parts.vectors.keeper.rebuild()
            except EmbedderUnavailableError as error:
                found["vectors"] = error.sentence
        return found


def _is_own(db: Connection, caller: Caller) -> bool:
    """Whether the caller is the person themselves: the one whom their OS user stands for."""
    mine = people.by_os_user(db, caller.os_user)
    return mine is not None and mine.principal == caller.principal


def _receipt(receipt: MemoryReceipt) -> View:
    return {**asdict(receipt), "sentence": told(receipt)}


def _entry(entry: Entry, receipt: MemoryReceipt) -> View:
    """What became of an entry of a file. What is refused is not said again: it may be a secret."""
    text = "" if receipt.outcome is Deed.REJECTED else entry.text
    about = {"line": entry.line, "kind": entry.kind, "text": text}
    return {**about, "outcome": receipt.outcome, "reason": receipt.reason, "record": receipt.record}


def _record(record: Record) -> View:
    """A record without its hash."""
    view = asdict(record)
    del view["digest"], view["seq"]
    return view


def _found(found: Found, limit: int) -> View:
    """`status` tells apart what is not there from what could not be looked for."""
    hits = [{**_record(one.record), "score": round(one.score, 4), "parts": dict(one.parts)} for one in found.scored]
    return {"status": found.status, "reason": found.reason, "eligible": len(hits), "hits": hits[:limit]}
