"""A figure of the bench: paired measurements of kai and of its baseline, and what they say."""

import random
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from statistics import median
from typing import Any

_RESAMPLES = 2000
_SEED = 20_261_130  # the interval of the same pairs is the same interval


@dataclass(frozen=True, slots=True)
class Figure:
    """`ratio` is the median of the pairs' ratios, `low` and `high` its bootstrap 95 % interval.

    `value` and `baseline` are medians in `unit`; `against` says what the baseline is, `more` holds what else was seen.
    """

    name: str
    value: float
    baseline: float
    ratio: float
    low: float
    high: float
    to_reach: float
    unit: str
    pairs: int
    against: str
    more: Mapping[str, Any] = field(default_factory=dict)

    @property
    def is_reached(self) -> bool:
        return self.ratio <= self.to_reach


def paired(
    name: str,
    pairs: Sequence[tuple[float, float]],
    *,
    to_reach: float,
    unit: str,
    against: str,
    more: Mapping[str, Any] | None = None,
) -> Figure:
    """The figure of `pairs`, each one measurement of kai and the one of the baseline that was taken beside it."""
    ratios = [ours / theirs for ours, theirs in pairs]
    low, high = interval(ratios)
    return Figure(
        name=name,
        value=median(ours for ours, _ in pairs),
        baseline=median(theirs for _, theirs in pairs),
        ratio=median(ratios),
        low=low,
        high=high,
        to_reach=to_reach,
        unit=unit,
        pairs=len(pairs),
        against=against,
        more=more or {},
    )


def interval(values: Sequence[float]) -> tuple[float, float]:
    """The 95 % interval of the median of `values`, by bootstrap."""
    draw = random.Random(_SEED)
    medians = sorted(median(draw.choices(values, k=len(values))) for _ in range(_RESAMPLES))
    return medians[round(0.025 * _RESAMPLES)], medians[round(0.975 * _RESAMPLES) - 1]


def percentile(values: Sequence[float], percent: float) -> float:
    """The smallest value that `percent` of `values` do not exceed."""
    ordered = sorted(values)
    return ordered[min(len(ordered) - 1, int(len(ordered) * percent / 100))]
