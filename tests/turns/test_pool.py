"""Sessions: bounded, resumed within their epoch, replaced with a notice, never mixed with background words."""

import os
from collections.abc import Callable
from pathlib import Path

import anyio
import psutil
import pytest

from tests.e2e.house import House, Kai

pytestmark = pytest.mark.anyio


async def sessions(kai: Kai) -> list[str]:
    return [one["session"] for one in (await kai.client.status())["sessions"]]


async def test_the_longest_idle_session_makes_room(tmp_path: Path) -> None:
    async with House(tmp_path, yaml="sessions: {max_live: 2}").open() as kai:
        for name in ("one", "two", "three"):
            assert (await kai.ask("hello", thread=name))["state"] == "done"
        assert len(await sessions(kai)) == 2
        assert (await kai.ask("again", thread="one"))["state"] == "done"


async def test_a_busy_session_is_never_evicted_and_waiting_is_told(tmp_path: Path) -> None:
    async with House(tmp_path, yaml="sessions: {max_live: 1}").open() as kai:
        busy = await kai.say("FAKE:slow=60,0.05", thread="busy")
        await kai.until(busy, "text")
        waiting = await kai.say("hello", thread="waits")
        told = await kai.until(waiting, "notice")
        assert "waits for one" in told["text"]
        assert (await kai.end(busy))["state"] == "done"
        assert (await kai.end(waiting))["state"] == "done"


async def test_a_session_whose_agent_works_on_in_the_background_is_neither_idle_nor_in_the_way(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("kai.daemon.SWEEP_EVERY_S", 0.1)
    async with House(tmp_path, yaml="sessions: {idle_s: 1, max_live: 1}").open() as kai:
        worked = await kai.ask("FAKE:tool FAKE:escape", thread="works")
        pid = int(worked["answer_text"].split()[-1])
        waiting = await kai.say("hello", thread="waits")
        assert "waits for one" in (await kai.until(waiting, "notice"))["text"]
        await anyio.sleep(1.5)  # longer than an idle one lives
        assert psutil.pid_exists(pid)
        assert await kai.daemon.parts.pool.is_at_work()
        psutil.Process(pid).kill()
        assert (await kai.end(waiting))["state"] == "done"


async def test_work_in_the_background_has_the_limit_of_a_turn(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("kai.daemon.SWEEP_EVERY_S", 0.1)
    async with House(tmp_path, yaml="sessions: {idle_s: 1}\nlimits: {turn_s: 3}").open() as kai:
        await kai.ask("FAKE:tool FAKE:escape")
        await anyio.sleep(2)
        assert await sessions(kai)
        with anyio.fail_after(10):
            while await sessions(kai):  # noqa: ASYNC110 - another task closes it
                await anyio.sleep(0.05)


async def test_an_idle_session_is_closed_and_the_next_message_says_so(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("kai.daemon.SWEEP_EVERY_S", 0.1)
    async with House(tmp_path, yaml="sessions: {idle_s: 1}").open() as kai:
        first = await kai.ask("FAKE:remember=pelican")
        with anyio.fail_after(10):
            while await sessions(kai):  # noqa: ASYNC110 - another task closes it
                await anyio.sleep(0.05)
        second = await kai.ask("FAKE:recall")
        assert "pelican" in second["answer_text"]  # its own session was taken up again …
        assert second["dispatches"][0]["session"] != first["dispatches"][0]["session"]
        texts = [one.text for one in await kai.deliveries(3)]
        assert any(text.startswith("New session") and "idle" in text for text in texts)  # … and that is said


async def test_a_session_that_cannot_be_taken_up_again_is_replaced_once(tmp_path: Path) -> None:
    house = House(tmp_path)
    async with house.open() as kai:
        await kai.ask("remember the word pelican")
    for file in (house.root / "sessions").iterdir():
        file.unlink()
    async with house.open() as kai:
        turn = await kai.ask("which word?", external_id="second")
        assert turn["state"] == "done"
        shown = await kai.client.context(turn["turn"])
        assert "remember the word pelican" in shown["text"]
        texts = [one.text for one in await kai.deliveries(3)]
        assert any("could not be taken up again" in text for text in texts)


async def test_a_retired_session_is_not_taken_up_again(kai: Kai) -> None:
    await kai.ask("FAKE:remember=pelican")
    await kai.say("/new")
    assert "pelican" not in (await kai.ask("FAKE:recall"))["answer_text"]


async def test_words_outside_a_turn_are_a_notice_and_no_answer(kai: Kai) -> None:
    await kai.ask("FAKE:unsolicited=0.2 FAKE:say=done")
    deliveries = await kai.deliveries(2)
    assert deliveries[0].text == "done"
    assert "in the background" in deliveries[1].text
    turn = await kai.ask("next")
    assert turn["answer_text"] == "echo: next"


async def test_a_compacted_session_gets_the_session_block_again_exactly_once(kai: Kai) -> None:
    await kai.ask("one")
    await kai.ask("FAKE:compact FAKE:say=two")
    third, fourth = await kai.ask("three"), await kai.ask("four")
    blocks = [await kai.client.context(turn["turn"]) for turn in (third, fourth)]
    has = [any(section["name"].startswith("session") for section in block["sections"]) for block in blocks]
    assert has == [True, False]


async def test_a_missing_workspace_is_told_with_who_lacks_what(tmp_path: Path) -> None:
    workspaces = f"garden: {{path: {tmp_path / 'nowhere'}}}"
    async with House(tmp_path, workspaces=workspaces).open() as kai:
        await kai.say("/workspace garden")
        turn = await kai.ask("hello")
        assert (turn["state"], turn["failure"]) == ("failed", "launch")
        assert "nowhere" in turn["reason"]


async def test_a_foreign_workspace_carries_the_reminder_and_the_home_identity(tmp_path: Path) -> None:
    folder = tmp_path / "Käse 日本"
    folder.mkdir()
    async with House(
        tmp_path, workspaces=f"garden: {{path: '{folder}', system_prompt: Prune in March.}}"
    ).open() as kai:
        said = await kai.say("/workspace garden")
        assert str(folder) in said.reply
        turn = await kai.ask("FAKE:cwd")
        assert str(folder) in turn["answer_text"]
        text = (await kai.client.context(turn["turn"]))["text"]
        assert text.startswith("[Workspace: this is not your person's home.")
        assert "Prune in March." in text
        assert "[Your core identity and instructions:]" in text


def _as_fifo(file: Path) -> None:
    os.mkfifo(file)


def _as_huge(file: Path) -> None:
    file.write_bytes(b"x" * 10_000_000)


@pytest.mark.parametrize(
    ("replaced", "why"), [(_as_fifo, "not a regular file"), (_as_huge, "more than"), (None, "there is no such file")]
)
async def test_whatever_takes_the_place_of_a_workspaces_instructions_holds_up_no_turn(
    tmp_path: Path, replaced: Callable[[Path], None] | None, why: str
) -> None:
    file = tmp_path / "own.md"
    file.write_text("Prune in March.")
    house = House(tmp_path, workspaces=f"garden: {{path: '{tmp_path}', system_prompt_file: '{file}'}}")
    async with house.open() as kai:
        await kai.say("/workspace garden")
        file.unlink()
        if replaced:
            replaced(file)
        turn = await kai.ask("hello")
        assert turn["state"] == "done"
        text = (await kai.client.context(turn["turn"]))["text"]
        assert f"(The instructions of this workspace, {file}, cannot be read: " in text
        assert why in text
