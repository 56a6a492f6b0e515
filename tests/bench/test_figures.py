"""What a figure says of its pairs."""

import random

import pytest

from kai.bench.figures import interval, paired, percentile


def test_a_ratio_is_the_median_of_the_pairs_ratios_and_not_the_ratio_of_the_medians() -> None:
    figure = paired("x", [(2.0, 1.0), (30.0, 10.0), (400.0, 100.0)], to_reach=3.0, unit="ms", against="y")
    assert (figure.ratio, figure.value, figure.baseline, figure.pairs) == (3.0, 30.0, 10.0, 3)
    assert figure.low <= figure.ratio <= figure.high
    assert figure.is_reached
    assert not paired("x", [(3.1, 1.0)], to_reach=3.0, unit="ms", against="y").is_reached


def test_the_interval_holds_the_true_median_and_grows_narrow_with_more_pairs() -> None:
    draw = random.Random(1)
    few, many = ([draw.lognormvariate(0.0, 0.5) for _ in range(count)] for count in (20, 500))
    assert interval(many)[0] < 1.0 < interval(many)[1]
    assert interval(many)[1] - interval(many)[0] < interval(few)[1] - interval(few)[0]
    assert interval(few) == interval(few)


@pytest.mark.parametrize(("percent", "value"), [(50, 51), (99, 100), (100, 100), (0, 1)])
def test_a_percentile_is_one_of_the_values(percent: float, value: float) -> None:
    assert percentile([float(n) for n in range(100, 0, -1)], percent) == value
