"""A turn from its route to its end, also where something in between goes wrong."""

import os
import signal
from collections.abc import Callable
from typing import Any

import anyio
import pytest

from kai.model.errors import StoreError
from kai.store import deliveries, questions, turns
from tests.e2e.house import House, Kai

pytestmark = pytest.mark.anyio


async def test_an_agent_that_died_while_idle_costs_no_message(kai: Kai) -> None:
    await kai.ask("one")
    (live,) = kai.daemon.parts.pool.every()
    os.kill(live.session._run.pid, signal.SIGKILL)
    with anyio.fail_after(10):
        await live.session.ended()
    turn = await kai.ask("two")
    assert (turn["state"], turn["answer_text"]) == ("done", "echo: two")


async def test_a_session_that_breaks_between_two_looks_is_replaced(kai: Kai, monkeypatch: pytest.MonkeyPatch) -> None:
    await kai.ask("one")
    (live,) = kai.daemon.parts.pool.every()
    live.session._is_closing = True
    monkeypatch.setattr(kai.daemon.parts.pool, "get", lambda channel: live if not live.closing.is_set() else None)
    turn = await kai.ask("two")
    assert (turn["state"], turn["answer_text"]) == ("done", "echo: two")
    assert [one["attempt"] for one in turn["dispatches"]] == [1, 2]


def failing(times: int, function: Callable[..., Any], error: Exception) -> Callable[..., Any]:
    left = [times]

    def wrapped(*args: Any, **kwargs: Any) -> Any:
        if left[0]:
            left[0] -= 1
            raise error
        return function(*args, **kwargs)

    return wrapped


async def test_an_end_that_cannot_be_stored_is_stored_later(kai: Kai, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("kai.turns.runner.FINISH_RETRY_S", 0.01)
    full = StoreError("kai.db", "the disk is full")
    monkeypatch.setattr(turns, "finish", failing(3, turns.finish, full))
    turn = await kai.ask("hello")
    assert (turn["state"], turn["answer_text"]) == ("done", "echo: hello")
    assert len(await kai.deliveries(1)) == 1


async def test_a_fault_of_kais_own_fails_the_turn_and_not_the_daemon(kai: Kai, monkeypatch: pytest.MonkeyPatch) -> None:
    with monkeypatch.context() as broken:
        broken.setattr("kai.turns.runner.assemble", failing(1, lambda facts: None, RuntimeError("boom")))
        turn = await kai.ask("hello")
    assert (turn["state"], turn["failure"]) == ("failed", "internal")
    assert "boom" not in turn["reason"]
    assert (await kai.ask("and now?"))["state"] == "done"


async def test_an_error_of_the_store_in_mid_turn_keeps_what_was_said(kai: Kai, monkeypatch: pytest.MonkeyPatch) -> None:
    full = StoreError("kai.db", "the disk is full", "Make room.")
    with monkeypatch.context() as broken:
        broken.setattr(questions, "ask", failing(1, questions.ask, full))
        turn = await kai.ask("FAKE:say=half_of_it FAKE:ask=shell")
    assert (turn["state"], turn["answer_text"], turn["incomplete"]) == ("failed", "half of it", True)
    assert "the disk is full" in turn["reason"]
    assert (await kai.ask("and now?"))["state"] == "done"


async def test_nothing_unknown_is_sent_again_by_itself(kai: Kai) -> None:
    turn = await kai.ask("FAKE:kill")
    assert (turn["state"], turn["failure"]) == ("failed", "crash")
    assert len(turn["dispatches"]) == 1


@pytest.mark.parametrize(
    ("words", "kind"),
    [
        ("FAKE:error=login", "login"),
        ("FAKE:error=model", "model"),
        ("FAKE:error=provider", "provider"),
        ("FAKE:error=context", "context"),
        ("FAKE:empty", "empty"),
    ],
)
@pytest.mark.parametrize("backend", ["fake", "fake-acp"])
async def test_a_failure_is_a_sentence_with_a_remedy_and_the_next_message_works(
    kai: Kai, words: str, kind: str, backend: str
) -> None:
    await kai.say(f"/backend {backend}")
    turn = await kai.ask(words)
    assert (turn["state"], turn["failure"]) == ("failed", kind)
    owed = await kai.daemon.parts.store.read(deliveries.of_turn, turn["turn"])
    (told,) = [one for one in owed if one.turn_state is not None]
    assert told.text.startswith(turn["reason"])
    assert len(told.text) > len(turn["reason"])  # … and what to do
    assert (await kai.ask("next"))["answer_text"] == "echo: next"


async def test_a_disk_that_is_full_for_a_moment_costs_no_running_answer(
    kai: Kai, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("kai.turns.runner.PARTIAL_EVERY_S", 0.0)
    full = StoreError("kai.db", "the disk is full")
    monkeypatch.setattr(turns, "save_partial", failing(2, turns.save_partial, full))
    turn = await kai.ask("FAKE:slow=4")
    assert (turn["state"], turn["answer_text"].strip()) == ("done", "chunk0 chunk1 chunk2 chunk3")


async def test_a_session_whose_transcript_was_cut_in_mid_write_costs_no_message(house: House) -> None:
    async with house.open() as kai:
        await kai.ask("one")
    (transcript,) = (house.root / "sessions").iterdir()
    transcript.write_text("")  # its agent ends with a traceback when it is to take this up
    async with house.open() as kai:
        turn = await kai.ask("two", external_id="second")
        assert (turn["state"], turn["answer_text"]) == ("done", "echo: two")
        assert (await kai.ask("three", external_id="third"))["state"] == "done"


@pytest.mark.parametrize("has_login", [False, True])
async def test_a_failure_without_a_login_names_the_login_whatever_it_says_of_itself(
    house: House, monkeypatch: pytest.MonkeyPatch, has_login: bool
) -> None:
    manifest, login = house.folders.config / "backends/fake-acp/backend.yaml", house.root / "login.json"
    monkeypatch.setenv("HOME", str(house.root))
    manifest.write_text(f"{manifest.read_text()}login: {{command: fake login, files: [{login.name}]}}\n")
    if has_login:
        login.write_text('{"key": 1}')
    async with house.open() as kai:
        await kai.say("/backend fake-acp")
        turn = await kai.ask("FAKE:error=provider")
    assert turn["failure"] == "provider"
    assert ("is not logged in here: 'kai backend login fake-acp'" in turn["reason"]) == (not has_login)
