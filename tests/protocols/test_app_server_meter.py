"""Codex counts over a thread; a turn's use is what came on top."""

from datetime import UTC, datetime
from typing import Any

from kai.model.events import Usage
from kai.protocols.app_server_meter import Meter


def used(total: tuple[int, int], last: tuple[int, int]) -> Any:
    def figures(tokens: tuple[int, int]) -> dict[str, int]:
        return {"inputTokens": tokens[0], "outputTokens": tokens[1], "totalTokens": sum(tokens)}

    return {"tokenUsage": {"total": figures(total), "last": figures(last), "modelContextWindow": 1000}}


def test_a_turn_has_used_what_came_on_top_of_the_turns_before() -> None:
    meter = Meter()
    meter.open(is_new=True)
    meter.begin()
    assert meter.count(used((10, 1), (10, 1))) == Usage(10, 1, None, 1000, 11)
    assert meter.count(used((22, 3), (12, 2))) == Usage(22, 3, None, 1000, 14)
    meter.begin()
    assert meter.count(used((22, 3), (12, 2))) == Usage(None, None, None, 1000, 14), (
        "told once more, and nothing is new"
    )
    assert meter.count(used((35, 4), (13, 1))) == Usage(13, 1, None, 1000, 14)


def test_what_a_thread_had_used_before_it_was_taken_up_is_not_this_turns() -> None:
    meter = Meter()
    meter.open(is_new=False)
    meter.begin()
    assert meter.count(used((500, 50), (20, 2))) == Usage(20, 2, None, 1000, 22)
    assert meter.count(used((530, 53), (30, 3))) == Usage(50, 5, None, 1000, 33)


def test_a_total_told_between_turns_counts_for_none() -> None:
    meter = Meter()
    meter.open(is_new=False)
    meter.count(used((500, 50), (20, 2)))
    meter.begin()
    assert meter.count(used((530, 53), (30, 3))) == Usage(30, 3, None, 1000, 33)


def test_figures_that_are_none_count_as_none() -> None:
    meter = Meter()
    meter.open(is_new=True)
    meter.begin()
    assert meter.count({"tokenUsage": {"total": None, "last": {"inputTokens": "x"}}}) == Usage()
    assert meter.count({}) == Usage()


def test_the_last_of_the_limits_that_are_used_up_tells_when_it_goes_on() -> None:
    meter = Meter()
    assert meter.resets_at() is None
    assert not meter.limit({"primary": {"usedPercent": 100, "resetsAt": 1796040000}})
    assert meter.limit({"secondary": {"usedPercent": 99, "resetsAt": 1796990000}, "rateLimitReachedType": "x"})
    assert meter.resets_at() == datetime.fromtimestamp(1796040000, UTC)
    meter.limit({"secondary": {"usedPercent": 100, "resetsAt": 1796990000}, "primary": None})
    assert meter.resets_at() == datetime.fromtimestamp(1796990000, UTC)
