"""The storm counts what it is said to count, and a short one leaves nothing behind."""

import random
from pathlib import Path

import anyio
import pytest

from tests.crash.gale import Gale, Plan

pytestmark = pytest.mark.anyio


def test_ten_thousand_faults_hold_as_many_kills_and_stops_as_are_asked_for() -> None:
    plan = Plan.of(9500).left + Plan.of(500, "daemon").left
    assert plan.total() == 10_000
    assert min(plan["agent"], plan["stop"], plan["noise"]) >= 500
    assert plan["daemon"] >= 500


def test_a_life_gets_its_share_and_the_last_one_the_rest() -> None:
    plan = Plan.of(1000)
    assert len(plan.slice(50, random.Random(1))) < 30
    assert len(plan.slice(0, random.Random(1))) == 945


@pytest.mark.timeout(120)
async def test_a_short_storm_loses_repeats_leaves_and_leaks_nothing(tmp_path: Path) -> None:
    gale = Gale(tmp_path, random.Random(11))
    with anyio.fail_after(100):
        tally = await gale.blow(60)
    assert tally.is_clean, (gale.last_line(), tally.notes)
    assert not gale.leaked, tally.notes
    assert gale.done.total() >= 60
    assert {"daemon", "agent", "stop", "noise", "bytes", "half", "request"} == set(gale.done)
