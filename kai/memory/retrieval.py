"""From a person's own words to what is remembered that fits them: who asks, what is found, what is eligible here."""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from functools import partial
from typing import TYPE_CHECKING, Protocol

from kai.clock import Clock
from kai.memory.dates import named
from kai.memory.embedding.embedder import EmbedderUnavailableError
from kai.memory.ranking import LOOKED_AT, Candidate, Ranking, Scored, Weights, above, candidates, once_each, ranked
from kai.model.context import Hit, Retrieval, RetrievalStatus
from kai.model.errors import DeniedError, StoreError
from kai.model.ids import PrincipalId, SessionId
from kai.model.memory import Policy, Record, Scope, Searched
from kai.store import beside, eligible, exposures, namespaces, shelves, vectors
from kai.store.binding import Connection
from kai.store.database import Store
from kai.store.eligible import Place, Standing

if TYPE_CHECKING:
    from kai.memory.postings import Postings

__all__ = ["DisabledRetriever", "Retriever", "Scope", "StoreRetriever", "VectorStage"]

CANDIDATES = 200  # of each stage, before it is known what may be seen
PINNED, PINNED_CHARS = 3, 600
_FADED = 4  # how many times more candidates are looked at when most of the first may not be seen


class Retriever(Protocol):
    """Finds what fits the person's own words. A failure is a status, never an exception and never invented hits."""

    async def retrieve(
        self, scope: Scope, query: str, policy: Policy = ..., session: SessionId | None = None, *, repeats: bool = ...
    ) -> Retrieval: ...

    def at_once(
        self, db: Connection, scope: Scope, query: str, policy: Policy, session: SessionId | None
    ) -> Retrieval | None:
        """The same within a transaction of the caller; None when it takes longer than that. Faults are raised."""
        ...

    async def foresee(self, scope: Scope, query: str) -> None:
        """What a message will be searched for, said before the transaction that takes it in. Raises nothing."""


class Question(Protocol):
    """A question with its vector. Both methods run in the thread of the connection."""

    def near(self, db: Connection, spaces: Sequence[vectors.Space], limit: int) -> Mapping[int, float]:
        """Rows of records on these shelves to their cosine, the nearest `limit` of each."""

    def alike(self, db: Connection, seqs: Sequence[int]) -> Mapping[int, float] | None:
        """Rows to how well they meet every word of the question; None: the embedder does not offer it."""


class VectorStage(Protocol):
    """Nearness in meaning. `floor`: what is less near is not worth telling, a figure of the model's own."""

    floor: float

    async def asked(self, shelves: Sequence[str], query: str) -> Question | None:
        """None: no vectors are there. Raises `EmbedderUnavailableError`: an outage never is a list of hits."""

    async def foresee(self, query: str) -> None:
        """Make the vector of what is about to be asked, if that is quickly done. Raises nothing."""

    def at_hand(self, db: Connection, spaces: Sequence[vectors.Space], query: str) -> Question | None:
        """The question at once; None: something would have to be made for it."""


class DisabledRetriever:
    """There is no semantic memory: every search ends as ``disabled``."""

    async def retrieve(
        self,
        scope: Scope,
        query: str,
        policy: Policy | None = None,
        session: SessionId | None = None,
        *,
        repeats: bool = False,
    ) -> Retrieval:
        return Retrieval(RetrievalStatus.DISABLED)

    def at_once(
        self, db: Connection, scope: Scope, query: str, policy: Policy, session: SessionId | None
    ) -> Retrieval | None:
        return Retrieval(RetrievalStatus.DISABLED)

    async def foresee(self, scope: Scope, query: str) -> None:
        pass


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
    """Keyword search over the person's shelves; `vectors` takes part where there is one.

    Where it fails, words alone are searched and `reason` says so; `must_be_near` makes it an outage instead.
    """

    store: Store
    clock: Clock
    vectors: VectorStage | None = None
    must_be_near: bool = False
    weights: Weights = Weights()  # noqa: RUF009 frozen
    counts: dict[tuple[int, str], int] = field(default_factory=dict)  # how common words are, roughly
    postings: "Postings | None" = None
    _near: set[PrincipalId] = field(default_factory=set)  # whose last question needed a vector

    async def retrieve(
        self,
        scope: Scope,
        query: str,
        policy: Policy = Policy(),  # noqa: B008 frozen
        session: SessionId | None = None,
        *,
        repeats: bool = False,
    ) -> Retrieval:
        """What goes before a message by itself. Without words nothing is looked for; what was shown still is.

        `session` is the live one; with `repeats` it is told again what it was shown: it may have lost it.
        """
        try:
            asked = await self._ask(scope, query) if policy.inject else _Asking()
            return await self.store.read(self._for_block, scope, query, policy, (session, repeats), asked)
        except DeniedError as error:
            return _denied(error, policy)
        except EmbedderUnavailableError as error:
            searched = refused(policy.inject, "unavailable", f"embedder_{error.reason}")
            return Retrieval(RetrievalStatus.UNAVAILABLE, reason=f"embedder_{error.reason}", searched=searched)
        except StoreError:
            searched = refused(policy.inject, "unavailable", "fault")
            return Retrieval(RetrievalStatus.UNAVAILABLE, reason="fault", searched=searched)

    def at_once(
        self, db: Connection, scope: Scope, query: str, policy: Policy, session: SessionId | None
    ) -> Retrieval | None:
        try:
            asked = _Asking()
            if self.vectors is not None and policy.inject and query.strip():
                spaces = vectors.spaces(db, _shelves(scope))
                if any(space.embedder is not None for space in spaces):
                    self._near.add(scope.principal)
                    question = self.vectors.at_hand(db, spaces, query)
                    if question is None:
                        return None  # the question has to be embedded
                    asked = _Asking(question, self.vectors.floor)
                else:
                    self._near.discard(scope.principal)
            return self._for_block(db, scope, query, policy, (session, False), asked)
        except DeniedError as error:
            return _denied(error, policy)

    async def foresee(self, scope: Scope, query: str) -> None:
        if self.vectors is not None and scope.principal in self._near and query.strip():
            await self.vectors.foresee(query)

    async def search(
        self, scope: Scope, query: str, policy: Policy, wanted: tuple[str, ...] = ()
    ) -> tuple[Found, tuple[str, ...]]:
        """What a tool or a person finds, within the policy's `tool` list; with it the names that were not granted."""
        try:
            asked = await self._ask(scope, query)
        except EmbedderUnavailableError as error:
            reason = f"embedder_{error.reason}"
            rows = refused(wanted or policy.tool, "unavailable", reason)
            return Found(RetrievalStatus.UNAVAILABLE, searched=rows, reason=reason), ()
        return await self.store.read(self._asked, scope, query, policy, wanted, asked)

    async def _ask(self, scope: Scope, query: str) -> "_Asking":
        """The question with its vector, where there is an embedder. Raises when it must be there and is not."""
        if self.vectors is None or not query.strip():
            return _Asking()
        try:
            return _Asking(await self.vectors.asked(_shelves(scope), query), self.vectors.floor)
        except EmbedderUnavailableError as error:
            if self.must_be_near:
                raise
            return _Asking(reason=f"lexical: embedder_{error.reason}")

    def _for_block(
        self,
        db: Connection,
        scope: Scope,
        query: str,
        policy: Policy,
        into: tuple[SessionId | None, bool],
        asked: "_Asking",
    ) -> Retrieval:
        now = self.clock.now()
        here = eligible.place(db, scope, policy.inject, own_only=policy.own_only)
        if here.is_shared:
            raise DeniedError("shared_channel: nothing is injected there")
        session, repeats = into
        shown = exposures.held(db, session) if session is not None else {}
        changed = exposures.corrections(db, here, shown, now) if shown else ()
        shown = {} if repeats else shown
        if not query.strip():
            return Retrieval(RetrievalStatus.DISABLED, reason="no_words", corrections=changed)
        found = self._find(db, here, query, policy, asked, now)
        pinned = [_hit(one, "pinned") for one in found.pinned]
        above_ = {one.record for one in found.pinned}
        scored = [one for one in found.scored if one.standing.record not in above_]
        hits = [*pinned, *(_hit(one.record, one.text) for one in scored[: policy.top_k])]
        new = [hit for hit in hits if shown.get(hit.record) != hit.revision and hit.record not in shown]
        known = tuple(hit for hit in hits if shown.get(hit.record) == hit.revision)
        return Retrieval(
            RetrievalStatus.OK if hits else RetrievalStatus.EMPTY,
            tuple(new),
            len(new) + max(0, len(scored) - policy.top_k),
            reason=found.reason,
            shown=known,
            corrections=changed,
            searched=tuple(_tally(here, [hit.record for hit in hits], found)),
            max_tokens=policy.max_tokens,
        )

    def _asked(
        self,
        db: Connection,
        scope: Scope,
        query: str,
        policy: Policy,
        wanted: tuple[str, ...],
        asked: "_Asking",
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
        found = self._find(db, here, query, policy, asked, self.clock.now())
        rows = (*_tally(here, [one.standing.record for one in found.scored], found), *searched)
        return Found(found.status, found.scored, (), rows, found.reason), dropped

    def _find(self, db: Connection, here: Place, query: str, policy: Policy, asked: "_Asking", now: datetime) -> Found:
        """Candidates of both stages ranked, read again as they stand, without doubles, above the floor."""
        spaces = vectors.spaces(db, here.shelves)
        if not spaces:  # nothing is remembered that could be shown here: nothing is looked for
            return Found(RetrievalStatus.EMPTY, reason=asked.reason)
        numbers, limit = [space.number for space in spaces], CANDIDATES
        while True:
            keyword = self._keyword(db, numbers, query, limit, asked)
            near = asked.question.near(db, spaces, limit) if asked.question else None
            best = self._candidates(db, query, keyword, near)
            standing = _standing(db, here, best, now)
            # When the nearest may not be seen, those behind them still count.
            more = len(keyword) >= limit or len(near or ()) >= limit
            if len(standing) >= min(LOOKED_AT, len(best.rows)) or not more or limit > CANDIDATES * _FADED**2:
                break
            limit *= _FADED
        if len(self.counts) > 100_000:
            self.counts.clear()
        alike = asked.question.alike(db, [one.seq for one, _ in standing]) if asked.question else None
        scored = once_each(ranked(standing, alike, self.weights))
        kept = tuple(one for one in scored if one.score >= policy.min_score and above(asked.floor, one))
        status = RetrievalStatus.OK if kept else RetrievalStatus.EMPTY
        return Found(status, kept, _fitting(eligible.pinned(db, here, now, PINNED)), reason=asked.reason)

    def _keyword(
        self, db: Connection, numbers: Sequence[int], query: str, limit: int, asked: "_Asking"
    ) -> Mapping[int, float]:
        if asked.question is None:  # without vectors there may be no numpy, and the daemon holds none
            return shelves.matches(db, numbers, query, limit, self.counts)
        if self.postings is None:
            from kai.memory.postings import Postings  # noqa: PLC0415 it is for who has vectors

            self.postings = Postings(self.counts)
        return self.postings.matches(db, numbers, query, limit)

    def _candidates(
        self, db: Connection, query: str, keyword: Mapping[int, float], near: Mapping[int, float] | None
    ) -> Ranking:
        when = named(query)
        said = beside.said(db, [*keyword, *(near or ())]) if when else {}
        dated = {seq for seq, at in said.items() if when.holds(at)}
        return candidates(keyword, near, partial(beside.neighbours, db), dated, self.weights)


@dataclass(frozen=True, slots=True)
class _Asking:
    """A question as it goes into a search: with its vector, or without, and why."""

    question: Question | None = None
    floor: float = 0.0
    reason: str = ""


def _standing(db: Connection, here: Place, best: Ranking, now: datetime) -> list[tuple[Candidate, Standing]]:
    """The first `LOOKED_AT` of the candidates that may be used here, as they stand now."""
    found: list[tuple[Candidate, Standing]] = []
    for at in range(0, len(best.rows), LOOKED_AT):
        some = best[at : at + LOOKED_AT]
        records = eligible.current(db, here, [one.seq for one in some], now)
        found += [(one, records[one.seq]) for one in some if one.seq in records]
        if len(found) >= LOOKED_AT:
            break
    return found[:LOOKED_AT]


def _shelves(scope: Scope) -> tuple[str, ...]:
    return f"person/{scope.principal}", f"channel/{scope.channel}", "global"


def _denied(error: DeniedError, policy: Policy) -> Retrieval:
    reason = error.reason.partition(":")[0]
    return Retrieval(RetrievalStatus.DENIED, reason=reason, searched=refused(policy.inject, "denied", reason))


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


def _tally(here: Place, taken: Collection[str], found: Found) -> list[Searched]:
    """One row a pattern, those without a hit too; what a grant alone opened is told apart. `taken`: the hits."""
    names = {one.standing.record: one.standing.namespace for one in found.scored}
    names |= {record.record: record.namespace for record in found.pinned}
    counted: dict[str, list[int]] = {pattern: [0, 0] for pattern in here.patterns}
    taken = frozenset(taken)
    for record, namespace in names.items():
        pattern = next((one for one in here.patterns if namespaces.reaches((one,), namespace)), f"granted:{namespace}")
        row = counted.setdefault(pattern, [0, 0])
        row[0] += 1
        row[1] += record in taken
    return [Searched(name, "ok" if row[1] else "empty", "", *row) for name, row in counted.items()]
