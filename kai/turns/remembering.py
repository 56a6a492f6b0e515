"""What is done to memory, for whoever asks: in the chat, over the API, by an agent. Each ends as a receipt."""

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from types import MappingProxyType

from kai.log import log
from kai.memory.retrieval import Found, StoreRetriever
from kai.model.agents import Policy
from kai.model.errors import StoreError
from kai.model.ids import MessageId, fresh
from kai.model.memory import Deed, Kind, MemoryReceipt, NewRecord, Record, Scope, Status
from kai.model.people import Address, Person
from kai.store import candidates, channels, exposures, ledger, records, words
from kai.text.graphemes import shorten
from kai.turns.control import Command
from kai.turns.parts import Parts

COMMANDS = frozenset({"memory", "remember", "forget"})
_KIND = re.compile(rf"({'|'.join(Kind)}):\s*", re.IGNORECASE)
_BY_ID: Mapping[str, Callable[..., MemoryReceipt]] = {
    "restore": records.restore,
    "accept": candidates.accept,
    "reject": candidates.reject,
}
_DONE = {
    "save": "Saved", "correct": "Corrected", "forget": "Forgotten", "restore": "Restored", "redact": "Erased",
    "accept": "Accepted", "reject": "Turned down", "learn": "Saved", "keep_run": "Saved",
}  # fmt: skip
_LISTED = 10
_SHOWN_CHARS = 160
OFF = "Memory is off here (the setting memory.enabled): facts live in the file MEMORY.md."
TEMPORARY = "This conversation is temporary: nothing is recalled or kept. '/temporary off' ends it."
_REASONS = {
    "empty": "it is empty",
    "too_long": f"it is longer than {records.CONTENT_BYTES // 1024} KB; a file keeps that better",
    "not_granted": "it may not live there",
    "unknown_namespace": "there is no such place",
    "tombstoned": "it was forgotten before, and only you yourself bring it back",
    "unknown": "there is no such record of yours here",
    "stale_base": "it was changed meanwhile",
    "op_id_reuse": "this operation id was used for something else",
    "store": "the database cannot be written to",
}


class Remembering:
    """Operations with their receipts, searches with their statuses."""

    def __init__(self, parts: Parts) -> None:
        self._parts = parts

    async def operate(
        self, operation: str, work: Callable[..., MemoryReceipt], scope: Scope, *asked: object, op: str = ""
    ) -> MemoryReceipt:
        """Run an operation of `kai.store.records`. What the store refuses is a receipt as well: nothing was done."""
        op, now = op or fresh("o"), self._parts.clock.now()
        try:
            receipt = await self._parts.store.write(work, scope, *asked, op, now)
        except StoreError as error:
            log.warning("memory.not_written", operation=operation, problem=str(error))
            receipt = MemoryReceipt(
                op, operation, Deed.REJECTED, reason="store", way=scope.way, turn=scope.turn, at=now
            )
        if scope.turn is not None:
            self._parts.receipts.setdefault(scope.turn, []).append(receipt)
        if receipt.outcome is Deed.COMMITTED:
            if self._parts.vectors is not None:
                self._parts.vectors.keeper.wake()
            await self._end_retired()
        return receipt

    async def search(
        self,
        scope: Scope,
        query: str,
        wanted: tuple[str, ...] = (),
        policy: Policy = Policy(),  # noqa: B008 frozen
    ) -> tuple[Found, tuple[str, ...]]:
        """What a person or a tool finds, audited, hits or none."""
        assert isinstance(self._parts.retriever, StoreRetriever)
        found, dropped = await self._parts.retriever.search(scope, query, replace(policy, min_score=0.0), wanted)
        await self._parts.store.write_soft(ledger.note, scope, "search", found.searched, self._parts.clock.now())
        return found, dropped

    async def _end_retired(self) -> None:
        """Processes whose session was shown what was taken back end at once; a busy one, before its next message."""
        for live in self._parts.pool.every():
            gone = await self._parts.store.read(exposures.is_retired, live.row.session)
            if gone and not live.busy:
                await self._parts.pool.close(live.row.channel, "it was shown what was taken back")

    async def do(self, person: Person, address: Address, command: Command, message: MessageId | None) -> str:
        """A slash command, answered in sentences that its receipt bears out."""
        if not self._parts.config.settings.memory.enabled:
            return OFF
        if (await self._parts.store.read(channels.get, address.channel)).temporary:
            return TEMPORARY
        scope = Scope(person.principal, address.channel, message=message)
        if command.name == "remember":
            return await self._remember(scope, command.argument)
        if command.name == "forget":
            return await self._forget(scope, command.argument)
        first, _, rest = command.argument.partition(" ")
        if first in _BY_ID and rest:
            return told(await self.operate(first, _BY_ID[first], scope, rest.strip(), op=_op(scope)))
        if command.argument == "candidates":
            waiting = await self._parts.store.read(records.listing, scope, status=Status.CANDIDATE, limit=_LISTED)
            how = ["/memory accept ID uses it, /memory reject ID turns it down."] if waiting else ["Nothing waits."]
            return "\n".join([*map(_line, waiting), *how])
        return await self._list(scope, command.argument)

    async def _remember(self, scope: Scope, text: str) -> str:
        named = _KIND.match(text)
        kind = Kind(named.group(1).lower()) if named else Kind.FACT
        text = text[named.end() :] if named else text
        if not text:
            return "Say what: /remember TEXT. With 'preference: TEXT' it goes along with every message."
        receipt = await self.operate("save", records.save, scope, NewRecord(text, kind), op=_op(scope))
        return told(receipt, text)

    async def _forget(self, scope: Scope, text: str) -> str:
        if not text:
            return "Say what: /forget ID, or /forget WORDS of it. /memory lists what there is."
        meant = await self._meant(scope, text)
        if len(meant) != 1:
            if not meant:
                return "Not forgotten: nothing that is remembered fits. /memory lists what there is."
            return "\n".join(["Not forgotten: which one? /forget ID.", *map(_line, meant[:_LISTED])])
        receipt = await self.operate("forget", records.forget, scope, meant[0].record, None, op=_op(scope))
        return told(receipt, meant[0].text)

    async def _meant(self, scope: Scope, text: str) -> Sequence[Record]:
        """By id, by exact text, else whatever has all of these words; several when it is not clear."""
        store = self._parts.store
        everything = await store.read(records.listing, scope, limit=100_000) if text.startswith("rec-") else ()
        if by_id := [one for one in everything if one.record == text.strip()]:
            return by_id
        if exact := await store.read(records.said, scope, text):
            return exact
        found, _ = await self.search(replace(scope, message=None), text)
        mine = [one.record for one in found.scored if one.record.owner == scope.principal]
        wanted = set(words.tokens(text))
        whole = [one for one in mine if wanted <= set(words.tokens(one.text))]
        return whole or (mine if len(mine) != 1 else [*mine, *mine])[:_LISTED]

    async def _list(self, scope: Scope, text: str) -> str:
        if text:
            found, _ = await self.search(scope, text)
            shown = [one.record for one in found.scored[:_LISTED]]
            by_words = (
                "" if not found.reason else f" (Searched by words alone: {found.reason.removeprefix('lexical: ')}.)"
            )
            return ("\n".join(map(_line, shown)) or "Nothing that is remembered fits.") + by_words
        listed = await self._parts.store.read(records.listing, scope, limit=_LISTED + 1)
        if not listed:
            return "Nothing is remembered here yet. /remember TEXT keeps something."
        more = ["… and more: /memory WORDS finds them."] if len(listed) > _LISTED else []
        return "\n".join([*map(_line, listed[:_LISTED]), *more])


def told(receipt: MemoryReceipt, text: str = "") -> str:
    """What a receipt says, for a person. Nothing is claimed that it does not hold."""
    word = _DONE.get(receipt.operation, receipt.operation.capitalize())
    quoted = f": “{shorten(' '.join(text.split()), _SHOWN_CHARS)}”" if text else "."
    if receipt.outcome is Deed.COMMITTED:
        if receipt.reason == "candidate":
            waits = f"Kept as a candidate ({receipt.record}){quoted.removesuffix('.')}"
            return f"{waits}: not used before it is accepted. /memory accept {receipt.record} does that."
        undo = f" /memory restore {receipt.record} brings it back." if receipt.operation == "forget" else ""
        return f"{word} ({receipt.record}){quoted}{undo}"
    if receipt.outcome is Deed.NOOP:
        return f"That was so already ({receipt.record})."
    kind, _, detail = receipt.reason.partition(":")
    why = f"it holds what looks like a secret ({detail})" if kind == "secret" else _REASONS.get(kind, receipt.reason)
    return f"Not {word.lower()}: {why}."


def footer(receipts: Sequence[MemoryReceipt], texts: Mapping[str, str] = MappingProxyType({})) -> str:
    """What stands below an answer in whose turn memory was written, whatever the answer claims.

    `texts` are of records by their ids: what the person did not ask for is told with its words.
    """
    return "\n".join(f"— {told(receipt, texts.get(receipt.record, ''))}" for receipt in receipts)


def _op(scope: Scope) -> str:
    """A message is an operation: sent twice it is done once."""
    return f"message:{scope.message}" if scope.message else ""


def _line(record: Record) -> str:
    text = shorten(" ".join(record.text.split()), _SHOWN_CHARS)
    pinned = " · always" if record.pinned else ""
    return f"{record.record} · {record.kind}{pinned} · {record.said_at:%Y-%m-%d}: {text}"
