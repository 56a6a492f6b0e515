"""The one formula by which records are ranked, and its parts as they are kept with every item. Pure.

    score = origin × (keyword_weight × keyword + vector_weight × vector) / (the weights of the stages that ran)

``keyword`` is a record's BM25 score divided by the best of this search; ``vector`` is what the vector stage gives, from
0 to 1. ``origin`` is never more than 1: it only takes away from what the person did not say themselves. A stage that
did not run takes no part, and does not count as nothing found. Ties go to the smaller record id.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from kai.model.memory import Origin, Record

ORIGIN = {
    Origin.EXPLICIT_USER: 1.0,
    Origin.ADMIN: 1.0,
    Origin.IMPORT: 0.9,
    Origin.AGENT_NOTE: 0.9,
    Origin.LEARNED: 0.8,
    Origin.AUTO_RUN: 0.7,
}


@dataclass(frozen=True, slots=True)
class Weights:
    """How much each stage counts. Measured on conversations; see docs/decisions."""

    keyword: float = 0.6
    vector: float = 0.4


@dataclass(frozen=True, slots=True)
class Scored:
    """A record with its score and the parts of it."""

    record: Record
    score: float
    parts: Mapping[str, float]

    @property
    def text(self) -> str:
        """The parts as they are kept and shown."""
        return " ".join([f"score={self.score:.3f}", *(f"{name}={value:.3f}" for name, value in self.parts.items())])


def ranked(
    records: Iterable[Record],
    keyword: Mapping[int, float],
    vector: Mapping[int, float] | None = None,
    weights: Weights = Weights(),
) -> list[Scored]:
    """Records by falling score. `keyword` and `vector` map their rows to raw scores; None: that stage did not run."""
    best = max(keyword.values(), default=0.0)
    of_all = weights.keyword + (0.0 if vector is None else weights.vector)
    found = []
    for record in records:
        raw = keyword.get(record.seq, 0.0)
        parts = {"keyword": raw / best if best > 0 else float(record.seq in keyword), "bm25": raw}
        total = weights.keyword * parts["keyword"]
        if vector is not None:
            parts["vector"] = vector.get(record.seq, 0.0)
            total += weights.vector * parts["vector"]
        parts["origin"] = ORIGIN[record.origin]
        found.append(Scored(record, parts["origin"] * total / of_all, parts))
    return sorted(found, key=lambda one: (-one.score, one.record.record))


def once_each(scored: Iterable[Scored]) -> list[Scored]:
    """Without what says the same again to the same people: the better one stays. Expects them ranked."""
    seen: set[tuple[object, ...]] = set()
    kept = []
    for one in scored:
        record = one.record
        same = (record.digest, record.owner, record.audience, record.sensitivity)
        if same not in seen:
            seen.add(same)
            kept.append(one)
    return kept
