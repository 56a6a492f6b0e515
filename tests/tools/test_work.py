"""Tasks, results and skills as an agent uses them in a turn."""

import json
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest
from anyio import to_thread

from tests.e2e.house import House, Kai

pytestmark = pytest.mark.anyio
PUMPS = """\
purpose: pumps
skills:
  - {name: pump-check, summary: how to test, body: "Close the valve first."}
  - {name: other, summary: never asked for, body: "Not this."}
"""


@pytest.fixture
async def kai(tmp_path: Path) -> AsyncIterator[Kai]:
    house = House(tmp_path, yaml="agent: pumps\nmemory: {embedder: {provider: none}}\n")
    await to_thread.run_sync(_write, house.folders.config / "agents")
    async with house.open() as kai:
        yield kai


def _write(folder: Path) -> None:
    folder.mkdir(parents=True)
    (folder / "pumps.yaml").write_text(PUMPS)


async def call(kai: Kai, command: str, **more: Any) -> Any:
    turn = await kai.ask("FAKE:run=kai_tool_" + command.replace(" ", "_"), **more)
    code, _, text = turn["answer_text"].partition(": ")
    return json.loads(text) if code == "0" else text


async def block(kai: Kai, words: str, **more: Any) -> str:
    turn = await kai.ask(words, **more)
    text: str = (await kai.client.context(turn["turn"]))["text"]
    return text


async def test_a_skill_is_a_line_until_it_is_read_and_comes_again_once_after_a_compaction(kai: Kai) -> None:
    first = await block(kai, "hello")
    assert "Skills (ask for one by name with skill_read): pump-check: how to test" in first
    assert "Close the valve" not in first
    assert await call(kai, "skill-read pump-check") == {"skill": "pump-check", "body": "Close the valve first."}
    assert "Close the valve" not in await block(kai, "go on FAKE:compact FAKE:say=shorter")
    after = await block(kai, "and now?")
    assert "[Skills again: you had read these" in after
    assert "Close the valve first." in after
    assert "Not this." not in after
    assert "Close the valve first." not in await block(kai, "and then?")
    await kai.say("/new")
    assert "[Skills again" not in await block(kai, "afresh")


async def test_an_unknown_skill_names_those_that_there_are(kai: Kai) -> None:
    told = await call(kai, "skill-read pump-chek")
    assert "There is no skill 'pump-chek'." in told
    assert "pump-check" in told


async def test_a_task_stands_in_the_block_until_its_end(kai: Kai) -> None:
    assert (await call(kai, "task-show")) == {"task": None}
    made = await call(kai, "task-note --kind requirement it-must-be-blue")
    note = await call(kai, "task-note looks-good")
    assert made["task"] == note["task"]
    for words in ("what now?", "and now?"):
        assert "it-must-be-blue" in await block(kai, words)
    shown = (await call(kai, "task-show"))["task"]
    assert [one["kind"] for one in shown["items"]] == ["requirement", "note"]
    assert "principal" not in shown
    await call(kai, f"task-withdraw {note['item']}")
    assert "looks-good\n" not in (await block(kai, "then?")).rpartition("[Task")[2]
    assert "There is no note" in await call(kai, f"task-withdraw {made['item']}")
    assert (await call(kai, "task-status done"))["status"] == "done"
    assert "[Task" not in await block(kai, "finally?")


async def test_in_a_temporary_talk_there_are_no_tasks(kai: Kai) -> None:
    assert "There is no tool 'task_note'" in await call(kai, "task-note remember-me", temporary=True)
    assert (await call(kai, "task-show")) == {"task": None}


async def test_the_task_is_known_again_after_a_restart(tmp_path: Path) -> None:
    house = House(tmp_path, yaml="memory: {embedder: {provider: none}}\n")
    async with house.open() as kai:
        await call(kai, "task-note it-leaks")
    async with house.open() as kai:
        assert "it-leaks" in (await block(kai, "fresh", external_id="a")).rpartition("[Task")[2]
        assert "it-leaks" in (await block(kai, "live", external_id="b")).rpartition("[Task")[2]
