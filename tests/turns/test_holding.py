"""A usage limit holds the turn and what waits behind it; both go on by themselves, and nothing is sent twice."""

from datetime import UTC, datetime, timedelta

import pytest

from kai.model.errors import FailureKind
from kai.model.states import TurnState
from kai.model.turns import Outcome
from kai.turns.holding import BLIND_TRIES, held_until
from tests.e2e.house import House, Kai

pytestmark = pytest.mark.anyio

NOW = datetime(2026, 5, 1, 12, tzinfo=UTC)
SOON = NOW + timedelta(minutes=7)
LIMIT = Outcome(TurnState.FAILED, failure=FailureKind.QUOTA, reason="The limit.", resets_at=SOON)


def test_only_a_usage_limit_that_nothing_came_before_is_waited_for() -> None:
    def until(**changes: object) -> datetime | None:
        outcome = Outcome(**{**{name: getattr(LIMIT, name) for name in LIMIT.__slots__}, **changes})
        return held_until(outcome, NOW, blind_tries=0, wait_s=60)

    assert until() == SOON
    assert until(text="half an answer") is None
    assert until(tool_lines=("Bash rm -r x: ok",)) is None
    assert until(failure=FailureKind.PROVIDER) is None
    assert until(resets_at=None) == until(resets_at=NOW) == NOW + timedelta(minutes=1)


def test_a_limit_without_a_named_end_is_tried_a_few_times_and_never_when_the_operator_says_so() -> None:
    blind = Outcome(TurnState.FAILED, failure=FailureKind.QUOTA)
    assert held_until(blind, NOW, blind_tries=BLIND_TRIES - 1, wait_s=60) is not None
    assert held_until(blind, NOW, blind_tries=BLIND_TRIES, wait_s=60) is None
    assert held_until(blind, NOW, blind_tries=0, wait_s=0) is None


async def test_a_held_turn_goes_on_at_the_reset_and_what_came_meanwhile_follows_it(kai: Kai) -> None:
    accepted = await kai.say("FAKE:quota=2 FAKE:say=at_last")
    await kai.until(accepted, "state", state="held")
    behind = await kai.say("and I?")
    assert (await kai.client.turn(accepted.turn or ""))["state"] == "held"
    turn = await kai.end(accepted)
    assert (turn["state"], turn["answer_text"]) == ("done", "at last")
    assert [(one["attempt"], one["state"]) for one in turn["dispatches"]] == [(1, "settled"), (2, "settled")]
    assert (await kai.end(behind))["answer_text"] == "echo: and I?"
    told, *answers = await kai.deliveries(3)
    assert "is held until" in told.text
    assert [one.text for one in answers] == ["at last", "echo: and I?"]


async def test_a_stop_gives_a_held_turn_up_and_keeps_the_session(kai: Kai) -> None:
    accepted = await kai.say("FAKE:quota=3600")
    await kai.until(accepted, "state", state="held")
    report = await kai.client.stop(accepted.turn or "")
    assert (report["step"], report["state"], report["session_kept"]) == ("held", "stopped", True)
    assert (await kai.ask("next"))["answer_text"] == "echo: next"


async def test_who_changes_the_engine_need_not_wait(kai: Kai) -> None:
    accepted = await kai.say("FAKE:quota=3600 FAKE:say=from_the_other")
    await kai.until(accepted, "state", state="held")
    await kai.say("/backend fake-acp")
    turn = await kai.end(accepted)
    assert (turn["state"], turn["answer_text"], turn["backend"]) == ("done", "from the other", "fake-acp")


async def test_the_next_daemon_goes_on_with_what_was_held(house: House) -> None:
    async with house.open() as kai:
        accepted = await kai.say("FAKE:quota=3600 FAKE:say=after_all")
        await kai.until(accepted, "state", state="held")
    async with house.open() as kai:
        assert (await kai.end(accepted))["answer_text"] == "after all"


async def test_a_limit_that_never_ends_fails_in_the_end(house: House) -> None:
    house.folders.config.joinpath("kai.yaml").write_text("backend: fake\nlimits: {hold_s: 0.05}\n")
    async with house.open() as kai:
        turn = await kai.ask("FAKE:quota=,99")
    assert (turn["state"], turn["failure"]) == ("failed", "quota")
    assert len(turn["dispatches"]) == BLIND_TRIES + 1


async def test_what_a_provider_refused_does_not_poison_the_next_turn(kai: Kai) -> None:
    await kai.ask("good one")
    refused = await kai.ask("FAKE:error=refused")
    assert (refused["state"], refused["failure"]) == ("failed", "refused")
    after = await kai.ask("next")
    assert after["answer_text"] == "echo: next"
    assert after["dispatches"][0]["session"] != refused["dispatches"][0]["session"]
    block = (await kai.client.context(after["turn"]))["text"]
    assert "good one" in block
    assert "error=refused" not in block
