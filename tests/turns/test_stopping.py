"""Stop names its turn, says which step it took, and keeps the session where it can."""

from dataclasses import replace
from pathlib import Path
from typing import Any

import anyio
import anyio.lowlevel
import pytest

from kai.turns import attempts
from tests.e2e.house import House, Kai
from tests.small_disk import fill_up

pytestmark = pytest.mark.anyio


async def test_a_stop_in_mid_stream_keeps_the_session(kai: Kai) -> None:
    accepted = await kai.say("FAKE:slow=500,0.02")
    await kai.until(accepted, "text")
    report = await kai.client.stop(accepted.turn or "")
    assert (report["step"], report["session_kept"], report["state"]) == ("interrupt", True, "stopped")
    turn = await kai.end(accepted)
    assert turn["answer_text"].startswith("chunk0")
    assert turn["incomplete"]
    after = await kai.ask("go on")
    assert after["answer_text"] == "echo: go on"
    assert after["dispatches"][0]["session"] == turn["dispatches"][0]["session"]


async def test_a_full_disk_does_not_delay_a_stop_and_is_said(tmp_path: Path, small_disk: Path) -> None:
    house = House(tmp_path)
    house.folders = replace(house.folders, state=small_disk)
    async with house.open() as kai:
        accepted = await kai.say("FAKE:slow=500,0.02")
        await kai.until(accepted, "text")
        await anyio.to_thread.run_sync(fill_up, small_disk / "filler")
        with anyio.fail_after(5):
            report = await kai.client.stop(accepted.turn or "")
        assert (report["step"], report["session_kept"]) == ("interrupt", True)
        assert "disk is full" in report["sentence"]
        await anyio.to_thread.run_sync((small_disk / "filler").unlink)
        assert (await kai.end(accepted))["state"] == "stopped"
        assert (await kai.ask("go on"))["state"] == "done"


@pytest.mark.parametrize("is_fresh", [False, True], ids=["a session that is there", "a fresh session"])
async def test_a_stop_in_the_moment_of_hand_over_keeps_the_session(
    kai: Kai, monkeypatch: pytest.MonkeyPatch, is_fresh: bool
) -> None:
    if not is_fresh:
        await kai.ask("before")
    store, reached, go = kai.daemon.parts.store, anyio.Event(), anyio.Event()
    write_soft = store.write_soft

    async def slow(work: Any, *args: Any) -> Any:
        done = await write_soft(work, *args)
        if work is (attempts.mark_sent if is_fresh else attempts.prepare):  # the last thing before the first byte
            reached.set()
            await go.wait()
        return done

    monkeypatch.setattr(store, "write_soft", slow)
    if not is_fresh:  # with one before it, it is not begun by its accept
        await kai.say("FAKE:slow=5,0.02")
    accepted = await kai.say("FAKE:slow=500,0.02")
    reports = []

    async def stop() -> None:
        reports.append(await kai.client.stop(accepted.turn or ""))

    with anyio.fail_after(10):
        await reached.wait()
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(stop)
            (running,) = kai.daemon.runner.every()
            while not running.stop_asked:
                await anyio.lowlevel.checkpoint()
            go.set()
    assert (reports[0]["state"], reports[0]["step"], reports[0]["session_kept"]) == ("stopped", "interrupt", True)
    turn = await kai.end(accepted)
    after = await kai.ask("go on")
    assert after["dispatches"][0]["session"] == turn["dispatches"][0]["session"]


async def test_a_stop_by_message_passes_the_lane(kai: Kai) -> None:
    accepted = await kai.say("FAKE:slow=500,0.02")
    await kai.until(accepted, "text")
    waiting = await kai.say("I wait")
    said = await kai.say("/stop")
    assert "Stopped" in said.reply
    assert (await kai.end(accepted))["state"] == "stopped"
    assert (await kai.end(waiting))["state"] == "done"


async def test_an_agent_that_ignores_the_interrupt_is_ended_and_the_next_message_works(kai: Kai) -> None:
    accepted = await kai.say("FAKE:nostop FAKE:stubborn FAKE:slow=5000,0.02")
    await kai.until(accepted, "text")
    report = await kai.client.stop(accepted.turn or "")
    assert report["state"] == "stopped"
    assert report["step"] in ("eof", "term", "kill")
    assert not report["session_kept"]
    assert (await kai.ask("still there?"))["answer_text"] == "echo: still there?"


async def test_a_queued_turn_is_withdrawn_without_touching_the_running_one(kai: Kai) -> None:
    running = await kai.say("FAKE:slow=500,0.02")
    await kai.until(running, "text")
    queued = await kai.say("never mind")
    report = await kai.client.stop(queued.turn or "")
    assert (report["step"], report["state"]) == ("withdrawn", "stopped")
    assert (await kai.end(queued))["state"] == "stopped"
    assert (await kai.client.turn(running.turn or ""))["state"] == "running"
    await kai.client.stop(running.turn or "")


async def test_a_stop_that_comes_too_late_never_hits_the_next_turn(kai: Kai) -> None:
    first = await kai.ask("one")
    second = await kai.say("FAKE:slow=20,0.02")
    await kai.until(second, "text")
    report = await kai.client.stop(first["turn"])
    assert report["step"] == "ended"
    assert (await kai.end(second))["state"] == "done"


async def test_late_output_of_a_stopped_turn_never_answers_the_next_one(kai: Kai) -> None:
    accepted = await kai.say("FAKE:late=0.1 FAKE:slow=500,0.02")
    await kai.until(accepted, "text")
    await kai.client.stop(accepted.turn or "")
    assert (await kai.ask("next"))["answer_text"] == "echo: next"


async def test_a_silent_agent_is_given_up_within_its_limit(tmp_path_factory: pytest.TempPathFactory) -> None:
    house = House(tmp_path_factory.mktemp("silent"), limits={"first_output_s": 0.5, "silence_s": 0.5})
    async with house.open() as kai:
        with anyio.fail_after(10):
            turn = await kai.ask("FAKE:silent")
        assert (turn["state"], turn["failure"]) == ("failed", "silent")
        assert (await kai.ask("and now?"))["state"] == "done"


async def test_a_turn_that_takes_too_long_is_ended_with_its_text_kept(tmp_path_factory: pytest.TempPathFactory) -> None:
    async with House(tmp_path_factory.mktemp("long"), limits={"turn_s": 1.0}).open() as kai:
        turn = await kai.ask("FAKE:slow=5000,0.02")
        assert (turn["state"], turn["failure"], turn["incomplete"]) == ("failed", "time", True)
