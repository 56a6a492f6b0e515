"""From a person's own words to what is remembered that fits them: who asks, what is found, what is eligible here."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from typing import Protocol

from kai.clock import Clock
from kai.memory.ranking import Scored, once_each, ranked
from kai.model.context import Hit, Retrieval, RetrievalStatus
from kai.model.errors import DeniedError, StoreError
from kai.model.ids import SessionId
from kai.model.memory import Policy, Record, Scope, Searched
from kai.store import eligible, exposures, namespaces, shelves
from kai.store.binding import Connection
from kai.store.database import Store
from kai.store.eligible import Place

__all__ = ["DisabledRetriever", "Retriever", "Scope", "StoreRetriever", "VectorStage"]

CANDIDATES = 200  # of each stage, before it is known what may be seen
PINNED, PINNED_CHARS = 3, 600
_FADED = 4  # how many times more candidates are looked at when most of the first may not be seen


class Retriever(Protocol):
    """Finds what fits the person's own words. A failure is a status, never an exception and never invented hits."""

    async def retrieve(
        self, scope: Scope, query: str, policy: Policy = ..., session: SessionId | None = None
    ) -> Retrieval: ...


class VectorStage(Protocol):
    """Nearness in meaning, when there is an embedder: rows of records of those shelves to nearness, 0 to 1.

    None: it did not run, and the reason is told by `mode`; its outage never is a list of hits.
    """

    mode: str

    async def near(self, shelves: tuple[str, ...], query: str, limit: int) -> Mapping[int, float] | None: ...


class DisabledRetriever:
    """There is no semantic memory: every search ends as ``disabled``."""

    async def retrieve(
        self, scope: Scope, query: str, policy: Policy | None = None, session: SessionId | None = None
    ) -> Retrieval:
        return Retrieval(RetrievalStatus.DISABLED)


@dataclass(frozen=True, slots=True)
class Found:
    """A search before it is cut to what goes along: ranked, eligible, above the floor."""

    status: RetrievalStatus
    scored: tuple[Scored, ...] = ()
    pinned: tuple[Record, ...] = ()
    searched: tuple[Searched, ...] = ()
    reason: str = ""


@dataclass
class StoreRetriever:
    """Keyword search over the person's shelves; `vectors` takes part where there is one."""

    store: Store
    clock: Clock
    vectors: VectorStage | None = None
    counts: dict[tuple[int, str], int] = field(default_factory=dict)  # how common words are, roughly

    async def retrieve(
        self,
        scope: Scope,
        query: str,
        policy: Policy = Policy(),  # noqa: B008 frozen
        session: SessionId | None = None,
    ) -> Retrieval:
        """What goes before a message by itself. Without words nothing is looked for; what was shown still is."""
        try:
            vector = await self._near(scope, query)
            return await self.store.read(self._for_block, scope, query, policy, session, vector)
        except DeniedError as error:
            reason = error.reason.partition(":")[0]
            return Retrieval(RetrievalStatus.DENIED, reason=reason, searched=refused(policy.inject, "denied", reason))
        except StoreError:
            searched = refused(policy.inject, "unavailable", "fault")
            return Retrieval(RetrievalStatus.UNAVAILABLE, reason="fault", searched=searched)

    async def search(
        self, scope: Scope, query: str, policy: Policy, wanted: tuple[str, ...] = ()
    ) -> tuple[Found, tuple[str, ...]]:
        """What a tool or a person finds, within the policy's `tool` list; with it the names that were not granted."""
        vector = await self._near(scope, query)
        return await self.store.read(self._asked, scope, query, policy, wanted, vector)

    async def _near(self, scope: Scope, query: str) -> Mapping[int, float] | None:
        if self.vectors is None or not query.strip():
            return None
        places = (f"person/{scope.principal}", f"channel/{scope.channel}", "global")
        return await self.vectors.near(places, query, CANDIDATES)

    def _for_block(
        self,
        db: Connection,
        scope: Scope,
        query: str,
        policy: Policy,
        session: SessionId | None,
        vector: Mapping[int, float] | None,
    ) -> Retrieval:
        now = self.clock.now()
        here = eligible.place(db, scope, policy.inject, own_only=policy.own_only)
        if here.is_shared:
            raise DeniedError("shared_channel: nothing is injected there")
        shown = exposures.held(db, session) if session is not None else {}
        changed = exposures.corrections(db, here, shown, now) if shown else ()
        if not query.strip():
            return Retrieval(RetrievalStatus.DISABLED, reason="no_words", corrections=changed)
        found = self._find(db, here, query, policy, vector, now)
        pinned = [_hit(one, "pinned") for one in found.pinned]
        scored = [_hit(one.record, one.text) for one in found.scored if one.record not in found.pinned]
        hits = [*pinned, *scored[: policy.top_k]]
        new = [hit for hit in hits if shown.get(hit.record) != hit.revision and hit.record not in shown]
        known = tuple(hit for hit in hits if shown.get(hit.record) == hit.revision)
        return Retrieval(
            RetrievalStatus.OK if hits else RetrievalStatus.EMPTY,
            tuple(new),
            len(new) + max(0, len(scored) - policy.top_k),
            shown=known,
            corrections=changed,
            searched=tuple(_tally(here, hits, found)),
            max_tokens=policy.max_tokens,
        )

    def _asked(
        self,
        db: Connection,
        scope: Scope,
        query: str,
        policy: Policy,
        wanted: tuple[str, ...],
        vector: Mapping[int, float] | None,
    ) -> tuple[Found, tuple[str, ...]]:
        here = eligible.place(db, scope, policy.tool, own_only=policy.own_only)
        dropped: tuple[str, ...] = ()
        if wanted:
            inside = namespaces.narrowed(namespaces.within(wanted, scope, shared=here.is_shared), here.patterns)
            dropped = tuple(one for one in wanted if not namespaces.within((one,), scope, shared=here.is_shared))
            dropped += tuple(one for one in wanted if one not in dropped and not _inside(one, scope, here, inside))
            here = Place(scope, here.present, here.is_shared, inside, here.own_only)
        searched = refused(dropped, "denied", "not_granted")
        if wanted and not here.patterns:
            return Found(RetrievalStatus.DENIED, searched=searched, reason="not_granted"), dropped
        found = self._find(db, here, query, policy, vector, self.clock.now())
        hits = [_hit(one.record, "") for one in found.scored]
        rows = (*_tally(here, hits, found), *searched)
        return Found(found.status, found.scored, (), rows), dropped

    def _find(
        self,
        db: Connection,
        here: Place,
        query: str,
        policy: Policy,
        vector: Mapping[int, float] | None,
        now: datetime,
    ) -> Found:
        """Candidates of both stages, read again as they stand, ranked, without doubles, above the floor."""
        limit = CANDIDATES
        while True:
            keyword = shelves.matches(db, here.shelves, query, limit, self.counts)
            seqs = dict.fromkeys([*keyword, *(vector or {})])
            standing = eligible.current(db, here, seqs, now)
            scored = once_each(ranked(standing.values(), keyword, vector))
            # When the nearest may not be seen, those behind them still count.
            if len(scored) > policy.top_k or len(keyword) < limit or limit > CANDIDATES * _FADED**2:
                break
            limit *= _FADED
        if len(self.counts) > 100_000:
            self.counts.clear()
        kept = tuple(one for one in scored if one.score >= policy.min_score)
        status = RetrievalStatus.OK if kept else RetrievalStatus.EMPTY
        return Found(status, kept, _fitting(eligible.pinned(db, here, now, PINNED)))


def refused(patterns: tuple[str, ...], status: str, reason: str) -> tuple[Searched, ...]:
    """What the audit says of namespaces that were not searched."""
    return tuple(Searched(pattern, status, reason) for pattern in patterns)


def _inside(one: str, scope: Scope, here: Place, inside: tuple[str, ...]) -> bool:
    return any(name in inside for name in namespaces.within((one,), scope, shared=here.is_shared))


def _fitting(records: tuple[Record, ...]) -> tuple[Record, ...]:
    """The first of them that are short enough together."""
    kept, left = [], PINNED_CHARS
    for record in records:
        left -= len(record.text)
        if left < 0:
            break
        kept.append(record)
    return tuple(kept)


def _hit(record: Record, parts: str) -> Hit:
    return Hit(record.record, record.revision, record.kind, record.said_by, record.said_at, record.text, parts)


def _tally(here: Place, hits: list[Hit], found: Found) -> list[Searched]:
    """One row a pattern, those without a hit too; what a grant alone opened is told apart."""
    names = {one.record.record: one.record.namespace for one in found.scored}
    names |= {record.record: record.namespace for record in found.pinned}
    counted: dict[str, list[int]] = {pattern: [0, 0] for pattern in here.patterns}
    taken = {hit.record for hit in hits}
    for record, namespace in names.items():
        pattern = next((one for one in here.patterns if namespaces.reaches((one,), namespace)), f"granted:{namespace}")
        row = counted.setdefault(pattern, [0, 0])
        row[0] += 1
        row[1] += record in taken
    return [Searched(name, "ok" if row[1] else "empty", "", *row) for name, row in counted.items()]
