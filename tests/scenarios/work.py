"""Delegation, tasks, results: S31 to S33, S35."""

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

from anyio import to_thread

from kai.context.sections import work as work_section
from kai.model.errors import DelegationError
from kai.model.ids import TurnId
from kai.model.messages import Author
from kai.model.work import Delegation
from kai.store import channels, delegations, messages, results, tasks
from kai.store.delegations import Bounds, Wanted
from kai.turns import route
from tests.e2e.house import Kai
from tests.scenarios.harness import Stage, scenario, without
from tests.store.remembered import Memory

PLAIN = "memory: {embedder: {provider: none}}\n"


def _asks(memory: Memory, parent: TurnId, agent: str, caller: str, **more: Any) -> Delegation:
    wanted = Wanted(agent, "r1", caller, "look it up")
    return delegations.begin(memory.db, parent, wanted, Bounds(**more), memory.house.now)


def _begun(memory: Memory, turn: TurnId) -> TurnId:
    memory.house.begin(turn)
    return turn


def _refused(memory: Memory, parent: TurnId, agent: str, caller: str, **more: Any) -> str:
    count = "SELECT (SELECT count(*) FROM delegation) + (SELECT count(*) FROM turn) + (SELECT count(*) FROM channel)"
    before = memory.db.execute(count).fetchone()[0]
    try:
        _asks(memory, parent, agent, caller, **more)
    except DelegationError as error:
        assert memory.db.execute(count).fetchone()[0] == before  # nothing was begun
        return error.reason
    return ""


@scenario("S31", without(delegations, "_refuse_beyond", lambda *_: None))
async def to_depth_five(stage: Stage) -> None:
    memory = await stage.household()
    parent, names = _begun(memory, memory.house.queued("go")), ["a0"]
    for depth in range(1, 6):
        made = _asks(memory, parent, f"a{depth}", names[-1])
        assert (made.depth, made.lineage) == (depth, tuple(names))
        names.append(made.agent)
        parent = _begun(memory, made.turn)
    assert _refused(memory, parent, "a6", "a5") == "depth"
    assert _refused(memory, parent, "a5", "a5", depth=9) == "itself"
    assert _refused(memory, parent, "a2", "a5", depth=9) == "ancestor"
    assert _refused(memory, parent, "a2", "a5", depth=9, ancestors=True) == ""
    async with stage.kai(yaml=PLAIN) as kai:
        for name in ("house", "HOUSE", "House", kai.daemon.parts.config.agent("house").revision):
            turn = await kai.ask(f"FAKE:run=kai_tool_delegate_--agent_{name}_look")
            assert turn["state"] == "done"
            assert '"refused"' in turn["answer_text"], name
        assert [one for one in await kai.client.turns() if one["delegated"]] == []


@scenario("S32", without(work_section, "_line", lambda item, _: item.text))
async def replaced_input(stage: Stage) -> None:
    async with stage.kai(yaml=PLAIN) as kai:
        await kai.ask("use prices of 2024 FAKE:run=kai_tool_task-note_--kind_input_P1-of-2024")
        first = (await _task(kai)).items[0]
        assert (first.kind, first.status) == ("input", "active")
        where = (await kai.client.turns())[0]
        await kai.daemon.parts.store.write(_found_from, where["channel"], kai)
        await kai.ask(f"no, of 2025 FAKE:run=kai_tool_task-note_--kind_input_--replaces_{first.item}_P2-of-2025")
        old, new = (await _task(kai)).items
        assert (old.status, new.status, new.replaces) == ("historical", "active", old.item)
        for words in ("go on FAKE:compact FAKE:say=shorter", "and now?"):
            turn = await kai.ask(words)
            shown = await kai.client.context(turn["turn"], why=True)
            assert f"{new.item} input ACTIVE, in place of {old.item}: P2-of-2025" in shown["text"]
            assert f"{old.item} input HISTORICAL, replaced by {new.item}: P1-of-2024" in shown["text"]
            rows = {row["id"]: row for row in shown["dispositions"] if row["section"] == "work"}
            assert rows[old.item]["verdict"] == rows[new.item]["verdict"] == "submitted"
            assert f"made from {old.item}, which is HISTORICAL" in shown["text"]


def _found_from(db: Any, channel: str, kai: Kai) -> None:
    """A result that was made while the first input held."""
    here, now = channels.get(db, channel), kai.daemon.parts.clock.now()  # type: ignore[arg-type]
    inputs = tasks.inputs_of(db, here.channel)
    assert here.owner is not None
    results.keep(
        db, here, here.owner, None, now, producer="history_search", source="prices", body=["one", "two"], returned=1,
        inputs=inputs,
    )  # fmt: skip


async def _task(kai: Kai) -> Any:
    turn = (await kai.client.turns())[0]
    return await kai.daemon.parts.store.read(tasks.open_in, turn["channel"])


def _from_the_start(result: Any, start: int, limit: int) -> Any:
    """A reader that begins at the beginning, whatever it is asked."""
    return part(result, 1, limit)


part = results.part


@scenario("S33", without(results, "part", _from_the_start))
async def read_on(stage: Stage) -> None:
    async with stage.kai(yaml=PLAIN) as kai:
        where = (await kai.ask("hello"))["channel"]
        await kai.daemon.parts.store.write(_fifty, where, kai)
        answer = await _call(kai, "history-search --limit 20 pump")
        assert (len(answer["messages"]), answer["found"], answer["next"]) == (20, 50, 21)
        ref = answer["result"]
        await kai.say("/new")
        shown = await kai.client.context((await kai.ask("what is there?"))["turn"])
        assert f"[Result {ref}: 20 of 50 items told, read on with result_read; history_search" in shown["text"]
        rest = await _call(kai, f"result-read --start 21 --limit 50 {ref}")
        assert (len(rest["items"]), rest["next"], rest["is_whole"]) == (30, None, True)
        told = [one["number"] for one in (*answer["messages"], *rest["items"])]
        assert len(set(told)) == 50  # each of the fifty once
        await kai.daemon.parts.store.write(_fifty, where, kai)
        newer = await _call(kai, "history-search --limit 20 pump")
        assert newer["result"] != ref
        assert await _call(kai, f"result-read --start 21 --limit 50 {ref}") == rest
        assert (await _call(kai, f"result-read {newer['result']}"))["previous"] == ref


def _fifty(db: Any, channel: Any, kai: Kai) -> None:
    for number in range(50):
        said = messages.draft(channel, Author.PERSON, None, "root", f"pump {number}", kai.daemon.parts.clock.now())
        messages.keep(db, said)


async def _call(kai: Kai, command: str) -> Any:
    """The answer of a tool that the agent calls in a turn of its own."""
    turn = await kai.ask("FAKE:run=kai_tool_" + command.replace(" ", "_"))
    assert turn["state"] == "done", turn["reason"]
    return json.loads(turn["answer_text"].partition(": ")[2])


def _as_if_the_person_asked(looked: Any, *rest: Any) -> Any:
    """A way on which a child is the agent that the person talks to."""
    return known_way(replace(looked, delegated=None), *rest)


known_way = route.known_way


@scenario("S35", without(route, "known_way", _as_if_the_person_asked))
async def own_policy(stage: Stage) -> None:
    own = stage.folder / "config" / "agents"
    await to_thread.run_sync(_write_agents, own)
    async with stage.kai(yaml=f"{PLAIN}agent: boss\n") as kai:
        for text in ("the pump is in the cellar", "the pump needs oil"):
            await kai.client.memory("save", {"text": text})
        asked = await kai.ask("about the pump FAKE:run=kai_tool_delegate_--agent_lean_the-pump")
        parent = (await kai.client.context(asked["turn"]))["text"]
        assert "cellar" in parent
        assert "OF THE BOSS" in parent
        (child,) = [one for one in await kai.client.turns() if one["delegated"]]
        assert (child["principal"], child["state"]) == (asked["principal"], "done")
        text = (await kai.client.context(child["turn"]))["text"]
        assert "[Agent: lean]" in text
        assert "cellar" not in text
        assert "needs oil" not in text
        assert "OF THE BOSS" not in text
        members = await kai.daemon.parts.store.read(_members, child["channel"], asked["channel"])
        assert members[0] == members[1]


def _write_agents(folder: Path) -> None:
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "boss.yaml").write_text("purpose: lead\ninstructions: INSTRUCTIONS OF THE BOSS\n")
    (folder / "lean.yaml").write_text("purpose: look\nmemory: {inject: [], tool: []}\n")


def _members(db: Any, *wanted: Any) -> list[Any]:
    return [channels.get(db, channel).members for channel in wanted]
