"""Words reach the agent while it works; what it does not take waits as any message does, and is answered once."""

from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from tests.e2e.house import House, Kai

pytestmark = pytest.mark.anyio


@pytest.fixture(params=["fake-codex", "fake-pi"])
async def listening(request: pytest.FixtureRequest, tmp_path: Path) -> AsyncIterator[Kai]:
    """A kai whose backend takes words in mid-turn."""
    async with House(tmp_path, backend=request.param).open() as kai:
        yield kai


async def test_what_is_steered_is_heard_in_the_turn_that_runs(listening: Kai) -> None:
    kai = listening
    accepted = await kai.say("FAKE:say=begun FAKE:hear")
    await kai.until(accepted, "text")
    steered = await kai.say("/steer and mind the cat")
    assert steered.turn is None
    assert "at work" in steered.reply
    turn = await kai.end(accepted)
    assert turn["state"] == "done"
    assert "heard: and mind the cat" in turn["answer_text"]
    assert [(one["attempt"], one["steered"], one["state"]) for one in turn["dispatches"]] == [
        (1, False, "settled"),
        (2, True, "settled"),
    ]
    shown = await kai.client.context(turn["turn"])
    assert "FAKE:hear" in shown["text"]  # what is shown is the turn's own block
    assert (await kai.client.verify(turn["turn"]))["ok"]
    await kai.say("/new")
    after = await kai.ask("next")
    block = (await kai.client.context(after["turn"]))["text"]
    assert block.index("begun FAKE:hear".removeprefix("begun ")) < block.index("and mind the cat")  # part of the talk


async def test_what_is_not_taken_waits_as_a_message(listening: Kai) -> None:
    """Both ways of being late: an agent that does not listen any more, and one that never looked."""
    kai = listening
    accepted = await kai.say("FAKE:slow=40,0.02")
    await kai.until(accepted, "text")
    await kai.say("/steer FAKE:say=afterwards")
    turn = await kai.end(accepted)
    assert turn["state"] == "done"
    listed = await kai.client.turns()
    if kai.house.backend == "fake-pi":  # it was parked there, and has been cleared
        assert len(listed) == 2


async def test_where_nothing_runs_it_is_an_ordinary_message(listening: Kai) -> None:
    turn = await listening.ask("/steer hello")
    assert (turn["state"], turn["answer_text"]) == ("done", "echo: hello")


async def test_a_backend_that_cannot_listen_answers_it_next(kai: Kai) -> None:
    accepted = await kai.say("FAKE:slow=20,0.02")
    await kai.until(accepted, "text")
    steered = await kai.say("/steer what about me")
    assert (await kai.end(accepted))["state"] == "done"
    turn = await kai.end(steered)
    assert (turn["state"], turn["answer_text"]) == ("done", "echo: what about me")


async def test_a_steer_without_words_says_how(kai: Kai) -> None:
    assert "/steer WORDS" in (await kai.say("/steer")).reply
