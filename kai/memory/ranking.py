"""The one formula by which records are ranked, and its parts as they are kept with every item. Pure.

    near   = (keyword_weight × keyword + vector_weight × vector) / (the weights of the stages that ran)
    first  = near + passed_on × (near of the better neighbour) + dated × (1 where the question names its date)
    score  = origin × ((1 - alike_weight) × first / (the best first) + alike_weight × alike)

``keyword`` is a record's BM25 score divided by the best of this search; ``vector`` its cosine, from the least (0) to
the best (1) of this search. Neighbours are records whose messages stand beside each other in the talk. ``alike`` is
MaxSim over the best `LOOKED_AT`, brought to 0 to 1; where the embedder offers none, the score is the first part alone.
``origin`` is never more than 1: it only takes away from what the person did not say themselves. A stage that did not
run takes no part, and does not count as nothing found. Ties go to the smaller record id.
"""

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Protocol

from kai.model.memory import Origin, Record

LOOKED_AT = 50  # of the first ranking, word by word
PASSING_ON = 60  # of the best, which hand on some of their score to what stands beside them
_ALIKE = (0.70, 0.95)  # MaxSim of what has nothing to do with the question, and of what answers it
ORIGIN = {
    Origin.EXPLICIT_USER: 1.0,
    Origin.ADMIN: 1.0,
    Origin.IMPORT: 0.9,
    Origin.AGENT_NOTE: 0.9,
    Origin.LEARNED: 0.8,
    Origin.AUTO_RUN: 0.7,
}
_BY_ORIGIN: Mapping[str, float] = {origin.value: weight for origin, weight in ORIGIN.items()}


@dataclass(frozen=True, slots=True)
class Weights:
    """How much each part counts. Measured on conversations: docs/decisions/0014."""

    keyword: float = 0.6
    vector: float = 0.4
    passed_on: float = 0.5
    dated: float = 0.3
    alike: float = 0.5


@dataclass(frozen=True, slots=True)
class Candidate:
    """A row of a record with its score of the first stage and the parts of it."""

    seq: int
    score: float
    parts: Mapping[str, float]


@dataclass(frozen=True, slots=True)
class Ranking:
    """The first stage of a search. `rows`: by falling score; a row is a `Candidate` only when it is looked at."""

    rows: Sequence[int]
    scores: Mapping[int, float]
    keyword: Mapping[int, float]
    vector: Mapping[int, float] | None
    passed: Mapping[int, float]
    dated: Collection[int]

    def __getitem__(self, some: slice) -> list[Candidate]:
        best, (low, high) = max(self.keyword.values(), default=0.0), _ends(self.vector)
        return [Candidate(seq, self.scores[seq], self._parts(seq, best, low, high)) for seq in self.rows[some]]

    def _parts(self, seq: int, best: float, low: float, high: float) -> dict[str, float]:
        raw = self.keyword.get(seq, 0.0)
        parts = {"keyword": _part(raw, 0.0, best), "bm25": raw}
        if self.vector is not None and seq in self.vector:
            parts |= {"vector": _part(self.vector[seq], low, high), "cosine": self.vector[seq]}
        if passed := self.passed.get(seq):
            parts["neighbour"] = passed
        if seq in self.dated:
            parts["dated"] = 1.0
        return parts


class Judged(Protocol):
    """What of a record ranking looks at."""

    @property
    def record(self) -> str: ...
    @property
    def origin(self) -> str: ...
    @property
    def digest(self) -> bytes: ...
    @property
    def owner(self) -> str: ...
    @property
    def audience(self) -> str | None: ...
    @property
    def sensitivity(self) -> str: ...
    @property
    def namespace(self) -> str: ...
    @property
    def whole(self) -> Record: ...


@dataclass(frozen=True)
class Scored:
    """A record with its score and the parts of it; it is read when somebody asks for it."""

    standing: Judged
    score: float
    parts: Mapping[str, float]

    @cached_property
    def record(self) -> Record:
        return self.standing.whole

    @property
    def text(self) -> str:
        """The parts as they are kept and shown."""
        return " ".join([f"score={self.score:.3f}", *(f"{name}={value:.3f}" for name, value in self.parts.items())])


def candidates(
    keyword: Mapping[int, float],
    vector: Mapping[int, float] | None = None,
    beside: Callable[[Sequence[int]], Iterable[tuple[int, int]]] | None = None,
    dated: Collection[int] = (),
    weights: Weights = Weights(),
) -> Ranking:
    """Rows by the score of the first stage. `keyword` and `vector`: raw scores; None: that stage did not run.

    `beside` gives pairs of neighbours for the `PASSING_ON` best; a row that no stage found comes in by its neighbour.
    `dated`: rows of a named date.
    """
    near = _near(keyword, vector, weights)
    scores = near if not dated else {seq: near[seq] + weights.dated * (seq in dated) for seq in near}
    passed: dict[int, float] = {}
    if beside is not None and near and weights.passed_on:
        for one, other in beside(_by_score(scores)[:PASSING_ON]):
            for to, by in ((one, other), (other, one)):
                if near.get(by, 0.0) > passed.get(to, 0.0):
                    passed[to] = near[by]
        scores = dict(scores)
        for seq, by_neighbour in passed.items():
            scores[seq] = scores.get(seq, weights.dated * (seq in dated)) + weights.passed_on * by_neighbour
    return Ranking(_by_score(scores), scores, keyword, vector, passed, dated)


def _by_score(scores: Mapping[int, float]) -> list[int]:
    """Rows by falling score, equals by row: the second sort keeps the order of the first."""
    return sorted(sorted(scores), key=scores.__getitem__, reverse=True)


def _near(keyword: Mapping[int, float], vector: Mapping[int, float] | None, weights: Weights) -> dict[int, float]:
    """What both stages come to. The parts are `_part` written out: there are hundreds of them in a search."""
    share = 1.0 if vector is None else weights.keyword / (weights.keyword + weights.vector)
    best = max(keyword.values(), default=0.0)
    near = {seq: share * (raw / best) if best > 0 else 0.0 for seq, raw in keyword.items()}
    low, high = _ends(vector)
    share, wide = 1.0 - share, high - low
    for seq, raw in (vector or {}).items():
        near[seq] = near.get(seq, 0.0) + share * ((raw - low) / wide if wide > 0 else float(raw > 0))
    return near


def _ends(vector: Mapping[int, float] | None) -> tuple[float, float]:
    return (min(vector.values()), max(vector.values())) if vector else (0.0, 0.0)


def ranked(
    found: Sequence[tuple[Candidate, Judged]], alike: Mapping[int, float] | None, weights: Weights = Weights()
) -> list[Scored]:
    """Records by falling score. `alike`: MaxSim of their rows; None: the embedder offers none, or did not run."""
    best = max((one.score for one, _ in found), default=0.0)
    scored = []
    for one, standing in found:
        parts = dict(one.parts)
        score = _part(one.score, 0.0, best)
        if alike is not None:
            parts["maxsim"] = alike.get(one.seq, 0.0)
            score = (1 - weights.alike) * score + weights.alike * _part(parts["maxsim"], *_ALIKE)
        parts["origin"] = _BY_ORIGIN[standing.origin]
        scored.append(Scored(standing, parts["origin"] * score, parts))
    return sorted(scored, key=lambda one: (-one.score, one.standing.record))


def above(floor: float, one: Scored) -> bool:
    """Whether it is near enough to be worth telling. What holds words of the question passes on its own."""
    told = one.parts.get("maxsim", one.parts.get("cosine"))
    return told is None or told >= floor or one.parts["bm25"] > 0


def once_each(scored: Iterable[Scored]) -> list[Scored]:
    """Without what says the same again to the same people: the better one stays. Expects them ranked."""
    seen: set[tuple[object, ...]] = set()
    kept = []
    for one in scored:
        record = one.standing
        same = (record.digest, record.owner, record.audience, record.sensitivity)
        if same not in seen:
            seen.add(same)
            kept.append(one)
    return kept


def _part(value: float, low: float, high: float) -> float:
    """Where `value` stands between `low` (0) and `high` (1)."""
    return min(1.0, max(0.0, (value - low) / (high - low))) if high > low else float(value >= high > 0)
