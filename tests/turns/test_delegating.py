"""Delegated work in a whole kai: bounded, stopped with who asked for it, owned up to after a crash."""

import json
from collections.abc import AsyncIterator
from contextlib import closing
from pathlib import Path
from typing import Any

import anyio
import pytest
from anyio import to_thread

from kai.model.ids import TurnId
from kai.model.turns import Receipt, ReceiptOutcome
from kai.store import delegations, opening
from kai.store.binding import Connection
from kai.turns.delegating import Delegating
from tests.e2e.house import LIMIT_S, House, Kai
from tests.store.remembered import everything

pytestmark = pytest.mark.anyio
SAVE = (
    "import subprocess\nprint(subprocess.run(['kai', 'tool', 'memory_save', 'pumps are fun'], capture_output=True))\n"
)
PLAIN = "memory: {embedder: {provider: none}}\n"


@pytest.fixture
async def kai(tmp_path: Path) -> AsyncIterator[Kai]:
    async with House(tmp_path, yaml=f"{PLAIN}delegate: {{at_once: 2, children: 3}}\n").open() as kai:
        yield kai


def hands_over(words: str, agent: str = "research", more: str = "") -> str:
    """Words that make the agent delegate; `words` are the child's own, its script too."""
    return f"FAKE:run=kai_tool_delegate_--agent_{agent}{more}_{words}"


async def answer(turn: dict[str, Any]) -> Any:
    text = turn["answer_text"].partition(": ")[2]
    return json.loads(text[: text.rindex("}") + 1])


async def child_of(kai: Kai, *, state: str = "") -> dict[str, Any]:
    """The newest delegated turn, once there is one (in that state)."""
    with anyio.fail_after(LIMIT_S):
        while True:
            found = [one for one in await kai.client.turns() if one["delegated"]]
            if found and state in ("", found[0]["state"]):
                return found[0]
            await anyio.sleep(0.02)


async def children(kai: Kai, parent: str) -> Any:
    return await kai.daemon.parts.store.read(delegations.children, TurnId(parent))


async def test_what_it_finds_comes_back_as_a_result_that_can_be_read_on(kai: Kai) -> None:
    turn = await kai.ask(hands_over("look-at-the-pump"))
    told = await answer(turn)
    assert (told["state"], told["agent"], told["depth"], told["is_whole"]) == ("done", "research", 1, True)
    assert told["findings"] == "echo: look-at-the-pump"
    read = await answer(await kai.ask(f"FAKE:run=kai_tool_result-read_--start_7_--limit_4_{told['result']}"))
    assert (read["characters"], read["next"], read["producer"]) == ("look", 11, "agent research")
    assert await kai.deliveries(2)  # the answers, and nothing of the child's
    assert [one["title"] for one in await kai.client.channels()] == ["main"]
    assert kai.daemon.parts.pool.every()[0].row.channel == turn["channel"]  # the child's session is gone


async def test_the_child_has_a_run_and_a_place_of_its_own_and_its_people_are_the_same(kai: Kai) -> None:
    parent = await kai.ask(hands_over("who"))
    child = await child_of(kai)
    assert child["channel"] != parent["channel"]
    one, other = [(await kai.client.turn(turn["turn"]))["dispatches"][0] for turn in (parent, child)]
    assert one["run"] != other["run"]
    assert one["epoch"] != other["epoch"]


async def test_what_takes_too_long_is_stopped_and_says_so(tmp_path: Path) -> None:
    async with House(tmp_path, yaml=f"{PLAIN}delegate: {{limit_s: 1.5}}\n").open() as kai:
        told = await answer(await kai.ask(hands_over("FAKE:silent")))
        assert (told["state"], told["result"]) == ("stopped", None)
        assert "it took longer than 1.5 s" in told["reason"]


async def test_a_child_that_dies_fails_and_its_parent_goes_on(kai: Kai) -> None:
    turn = await kai.ask(f"{hands_over('FAKE:die')} FAKE:say=and-on")
    told = await answer(turn)
    assert (turn["state"], told["state"], told["result"]) == ("done", "failed", None)
    assert told["reason"]
    assert turn["answer_text"].endswith("and-on")


async def test_what_a_child_had_said_before_it_was_cut_is_kept_and_is_not_whole(tmp_path: Path) -> None:
    async with House(tmp_path, yaml=f"{PLAIN}delegate: {{limit_s: 3}}\n").open() as kai:
        told = await answer(await kai.ask(hands_over("FAKE:endless")))
        assert (told["state"], told["is_whole"]) == ("stopped", False)
        assert told["findings"]


async def test_a_stop_of_the_parent_stops_the_children(kai: Kai) -> None:
    accepted = await kai.say(f"{hands_over('FAKE:silent')} FAKE:slow=100,0.05")
    child = await child_of(kai, state="running")
    assert (await kai.client.stop(accepted.turn or ""))["state"] == "stopped"
    assert (await kai.client.turn(child["turn"]))["state"] == "stopped"
    (kept,) = await children(kai, accepted.turn or "")
    assert kept.ended_at is not None
    assert "stopped" in kept.reason
    with anyio.fail_after(LIMIT_S):
        for live in kai.daemon.parts.pool.every():
            if live.row.channel == child["channel"]:
                await live.closed.wait()


NEST = "import subprocess\nsubprocess.run(['kai', 'tool', 'delegate', '--agent', 'reviewer', 'FAKE:silent'])\n"


async def test_a_stop_reaches_what_the_child_had_delegated_itself(kai: Kai) -> None:
    await anyio.Path(kai.house.root / "sessions" / "nest.py").write_text(NEST)
    accepted = await kai.say(f"{hands_over('FAKE:script=nest.py')} FAKE:slow=100,0.05")
    below: list[dict[str, Any]] = []
    with anyio.fail_after(LIMIT_S):
        while len(below) < 2 or below[0]["state"] != "running":
            below = [one for one in await kai.client.turns() if one["delegated"]]
            await anyio.sleep(0.02)
    deepest = await kai.daemon.parts.store.read(delegations.of_turn, TurnId(below[0]["turn"]))
    assert deepest is not None
    assert (deepest.depth, deepest.lineage, deepest.root) == (2, ("house", "research"), accepted.turn)
    await kai.client.stop(accepted.turn or "")
    states = {one["turn"]: one["state"] for one in await kai.client.turns()}
    assert states.pop(accepted.turn or "") == "stopped"
    assert set(states.values()) <= {"stopped", "done"}  # the child may have gone on once its own was stopped
    assert states[below[0]["turn"]] == "stopped"


async def test_a_parent_that_ends_takes_its_children_along(kai: Kai) -> None:
    accepted = await kai.say(hands_over("FAKE:silent", more="_--seconds_1"))
    turn = await kai.end(accepted)
    told = await answer(turn)
    assert "ends with your turn" in told["hint"]
    child = await child_of(kai, state="stopped")
    assert child["channel"] != turn["channel"]


async def test_one_that_goes_on_is_waited_for_by_its_own_turn_alone(kai: Kai) -> None:
    script = "FAKE:run=kai_tool_delegate_--agent_research_--seconds_1_FAKE:slow=3"
    first = await answer(await kai.ask(script))
    other = await kai.ask(f"FAKE:run=kai_tool_delegation-wait_{first['delegation']}")
    assert "There is no delegation" in other["answer_text"]


async def test_too_many_at_once_and_too_many_in_all_are_refused_as_an_answer(kai: Kai) -> None:
    goes_on = hands_over("FAKE:silent", more="_--seconds_1")
    turn = await kai.ask(f"{goes_on} {goes_on} {goes_on}")
    assert turn["state"] == "done"
    assert turn["answer_text"].count('"refused"') == 1
    assert '"at_once"' in turn["answer_text"]
    at_once = hands_over("hello")
    turn = await kai.ask(f"{at_once} {at_once} {at_once} {at_once}")
    assert turn["answer_text"].count('"findings"') == 3
    assert '"children"' in turn["answer_text"]


async def test_an_unknown_definition_is_named_with_those_that_there_are(kai: Kai) -> None:
    turn = await kai.ask(hands_over("look", agent="reserch"))
    assert "There is no agent definition 'reserch'." in turn["answer_text"]
    assert "Did you mean 'research'?" in turn["answer_text"]
    listed = await answer(await kai.ask("FAKE:run=kai_tool_agents"))
    assert {one["agent"] for one in listed["agents"]} == {"research", "reviewer"}


async def test_a_result_that_is_not_for_here_cannot_be_handed_over_or_read(kai: Kai) -> None:
    for command in (f"{hands_over('look', more='_--references_res-2345')}", "FAKE:run=kai_tool_result-read_res-2345"):
        turn = await kai.ask(command)
        assert "There is no result 'res-2345'" in turn["answer_text"]
    assert not [one for one in await kai.client.turns() if one["delegated"]]


async def test_a_question_of_the_child_reaches_the_person_and_is_answered_in_words(kai: Kai) -> None:
    accepted = await kai.say(hands_over("FAKE:ask=Bash"))
    await child_of(kai, state="asking")
    (question,) = await kai.deliveries(1)
    assert question.kind == "question"
    assert question.channel == accepted.channel
    await kai.say("yes")
    assert (await answer(await kai.end(accepted)))["findings"] == "allowed"


async def test_a_retry_of_delegated_work_alone_is_refused(kai: Kai) -> None:
    await kai.ask(hands_over("FAKE:die"))
    child = await child_of(kai)
    with pytest.raises(Exception, match="an agent had asked for it"):
        await kai.client.retry(child["turn"])


async def test_of_temporary_work_nothing_is_left(kai: Kai) -> None:
    turn = await kai.ask(hands_over("about-zanzibar", more="_--constraints_zanzibar"), temporary=True)
    told = await answer(turn)
    assert told["findings"] == "echo: about-zanzibar"
    child = await child_of(kai)
    assert child["temporary"]
    (owed,) = await kai.deliveries(1, receipts=False)
    assert "zanzibar" in await kai.daemon.parts.store.read(everything)
    await kai.client.receipt(owed.delivery, Receipt(ReceiptOutcome.SENT))
    assert "zanzibar" not in await kai.daemon.parts.store.read(everything)


async def test_after_a_crash_in_the_middle_all_of_it_is_owned_up_to(house: House) -> None:
    house.yaml = PLAIN
    house.__post_init__()
    async with house.open() as kai:
        accepted = await kai.say(hands_over("FAKE:slow=300,0.05"))
        await child_of(kai, state="running")
        queued = await kai.daemon.parts.store.write(_one_more, TurnId(accepted.turn or ""), kai)
        copy = house.root / "copy.db"
        await to_thread.run_sync(_copy, house.folders.state / "kai.db", copy)
        await kai.client.stop(accepted.turn or "")
    await anyio.Path(copy).rename(house.folders.state / "kai.db")  # as a kill at that moment would have left it
    for name in ("kai.db-wal", "kai.db-shm"):
        await anyio.Path(house.folders.state / name).unlink(missing_ok=True)
    async with house.open() as kai:
        (told,) = [one for one in await kai.deliveries(1) if one.turn == accepted.turn]
        assert "Kai was restarted" in told.text
        assert "What it had delegated is cut with it: research, reviewer." in told.text
        states = {one["turn"]: one["state"] for one in await kai.client.turns()}
        assert states[accepted.turn or ""] == "interrupted"
        assert states[queued] == "stopped"  # it never begins
        assert all(one.ended_at for one in await children(kai, accepted.turn or ""))
        assert not kai.daemon.runner.every()


def _copy(path: Path, to: Path) -> None:
    with closing(opening.connect_to(path, 5.0)) as db:
        db.execute("VACUUM INTO ?", (str(to),))


def _one_more(db: Connection, parent: TurnId, kai: Kai) -> TurnId:
    """A piece of work that waits: nobody has woken its lane."""
    wanted = delegations.Wanted("reviewer", "r1", "house", "look at it")
    return delegations.begin(db, parent, wanted, delegations.Bounds(), kai.daemon.parts.clock.now()).turn


async def test_a_survivor_is_bounded_from_where_it_was(kai: Kai) -> None:
    accepted = await kai.say("FAKE:slow=100,0.05")
    await kai.until(accepted, "text")
    turn = await kai.daemon.parts.store.write(_one_more, TurnId(accepted.turn or ""), kai)
    other = Delegating()
    await other.go_on(kai.daemon.parts)
    assert other.parent_of(turn) == accepted.turn
    with anyio.move_on_after(0.05) as waiting:
        await other.wait(turn, 5.0)
    assert waiting.cancelled_caught
    other.turn_ended(kai.daemon.parts, turn)
    await other.wait(turn, 5.0)
    await kai.client.stop(accepted.turn or "")


async def test_what_a_child_did_to_memory_stands_below_the_answer_that_the_person_sees(tmp_path: Path) -> None:
    house = House(tmp_path, yaml=PLAIN)
    own = house.folders.config / "agents"
    await anyio.Path(own).mkdir(parents=True)
    await anyio.Path(own / "keeper.yaml").write_text(
        'purpose: keep\nmemory: {write: ["person/self/*"], delete: ["person/self/*"]}\n'
    )
    async with house.open() as kai:
        await anyio.Path(tmp_path / "sessions" / "save.py").write_text(SAVE)
        await kai.ask(hands_over("FAKE:script=save.py", agent="keeper"))
        (owed,) = await kai.deliveries(1)
        assert "— Kept as a candidate" in owed.text  # no message of the person stands behind it
