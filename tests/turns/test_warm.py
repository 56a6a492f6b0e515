"""A turn that runs as of its accept: what is committed with it, and what becomes of it when its session is gone."""

from typing import Any

import pytest

from kai.memory.keeper import VectorKeeper
from kai.memory.nearness import Nearness
from kai.memory.retrieval import StoreRetriever
from kai.model.errors import MemoryMovedError
from kai.model.ids import TurnId
from kai.model.states import TurnState
from kai.store import exposures, turns
from kai.turns.route import Next
from kai.turns.runner import Runner
from tests.e2e.house import Kai
from tests.memory.place import WordEmbedder, known

pytestmark = pytest.mark.anyio


async def begun(kai: Kai, monkeypatch: pytest.MonkeyPatch) -> list[bool]:
    """Whether each turn that is run from here on had begun."""
    seen: list[bool] = []
    run = Runner.run

    async def noted(self: Runner, next_: Next) -> None:
        seen.append(next_.begun is not None)
        await run(self, next_)

    monkeypatch.setattr(kai.daemon.lanes, "_run", lambda next_: noted(kai.daemon.runner, next_))
    return seen


async def test_a_message_for_a_session_that_waits_is_accepted_with_its_block(
    kai: Kai, monkeypatch: pytest.MonkeyPatch
) -> None:
    seen = await begun(kai, monkeypatch)
    first = await kai.ask("one")
    accepted = await kai.say("FAKE:slow=20,0.02")
    stored = await kai.daemon.parts.store.read(turns.get, TurnId(accepted.turn or ""))
    assert (stored.state, stored.attempts) == (TurnState.RUNNING, 1)
    turn = await kai.end(accepted)
    assert (turn["state"], [one["attempt"] for one in turn["dispatches"]]) == ("done", [1])
    assert turn["dispatches"][0]["session"] == first["dispatches"][0]["session"]
    context = await kai.client.context(accepted.turn or "")
    assert context["text"].endswith("FAKE:slow=20,0.02")
    assert (await kai.client.verify(accepted.turn or ""))["ok"]
    assert seen == [False, True]


async def test_one_that_stands_behind_another_waits_for_its_lane(kai: Kai, monkeypatch: pytest.MonkeyPatch) -> None:
    await kai.ask("one")
    seen = await begun(kai, monkeypatch)
    first, second = await kai.say("FAKE:slow=20,0.02"), await kai.say("two")
    assert [(await kai.end(one))["state"] for one in (first, second)] == ["done", "done"]
    assert seen == [True, False]


async def test_a_session_that_is_gone_when_its_prompt_comes_costs_no_message(
    kai: Kai, monkeypatch: pytest.MonkeyPatch
) -> None:
    await kai.ask("one")
    run = Runner.run

    async def late(next_: Next) -> None:
        assert next_.begun is not None
        await kai.daemon.parts.pool.close(next_.turn.channel, "made room for another")
        await run(kai.daemon.runner, next_)

    monkeypatch.setattr(kai.daemon.lanes, "_run", late)
    turn = await kai.ask("two")
    assert (turn["state"], turn["answer_text"]) == ("done", "echo: two")
    assert [(one["attempt"], one["state"]) for one in turn["dispatches"]] == [(1, "settled"), (2, "settled")]


async def test_a_message_is_accepted_when_what_goes_with_it_cannot_be_put_on_record(
    kai: Kai, monkeypatch: pytest.MonkeyPatch
) -> None:
    await kai.ask("one")
    dispatch, left = exposures.dispatch, [1]

    def failing(*args: Any) -> None:
        left[0] -= 1
        if left[0] >= 0:
            raise MemoryMovedError("the audit cannot be written", unrecorded=True)
        dispatch(*args)

    monkeypatch.setattr(exposures, "dispatch", failing)
    turn = await kai.ask("two")
    assert left[0] < 0
    assert (turn["state"], len(turn["dispatches"])) == ("done", 1)


async def test_a_question_that_is_compared_by_meaning_begins_at_its_accept_too_as_of_the_second_one(
    kai: Kai, monkeypatch: pytest.MonkeyPatch
) -> None:
    parts, embedder = kai.daemon.parts, WordEmbedder()
    assert isinstance(parts.retriever, StoreRetriever)
    parts.retriever.vectors = Nearness(parts.store, embedder)
    await kai.client.memory("save", {"text": "automobile parked behind church"})
    await parts.store.write(known, embedder)
    await VectorKeeper(parts.store, embedder).catch_up()
    seen = await begun(kai, monkeypatch)
    turns_ = [await kai.ask(f"auto {number}") for number in range(3)]
    assert [turn["state"] for turn in turns_] == ["done"] * 3
    assert seen == [False, False, True]  # a new session, what nobody foresaw, and from then on
    assert embedder.asked.count(("query", "auto 2")) == 1
    rows = (await kai.client.context(turns_[2]["turn"], why=True))["dispositions"]
    assert [row["reason"] for row in rows if row["section"] == "memory"] == ["shown_before"]
    await kai.ask("auto in secret", temporary=True)
    assert ("query", "auto in secret") not in embedder.asked
