"""Memory by tool: with the person's message behind it, within the definition's lists, and with a receipt."""

from pathlib import Path
from typing import Any

import pytest

from kai.client import Client
from kai.model.errors import BadInputError, UnknownThingError
from tests.e2e.house import House, Kai
from tests.tools.at_work import at_work

pytestmark = pytest.mark.anyio
FACT = "the bins go out on Monday"


async def test_what_the_person_asked_to_keep_is_kept_found_corrected_and_forgotten(kai: Kai) -> None:
    async with at_work(kai, "remember that") as run:
        saved = await run.call("memory_save", text=FACT)
        assert (saved["outcome"], saved["sentence"]) == ("committed", f"Saved ({saved['record']}).")
        found = await run.call("memory_search", query="bins")
        assert found["status"] == "ok"
        (hit,) = found["hits"]
        assert (hit["text"], hit["revision"], hit["kind"]) == (FACT, 1, "fact")
        fixed = await run.call("memory_correct", record=hit["record"], text="the bins go out on Tuesday", base=1)
        assert (fixed["outcome"], fixed["revision"]) == ("committed", 2)
        stale = await run.call("memory_forget", record=hit["record"], base=1)
        assert (stale["outcome"], stale["revision"]) == ("conflict", 2)
        assert (await run.call("memory_forget", record=hit["record"], base=2))["outcome"] == "committed"
        assert (await run.call("memory_search", query="bins"))["status"] == "empty"
        turn = await run.stop()
    shown = await kai.client.memory("record", {}, saved["record"])
    assert shown["revisions"][0]["message"] == turn["message"]
    assert shown["revisions"][0]["origin"] == "explicit_user"
    for receipt in shown["receipts"]:
        assert (receipt["way"], receipt["turn"], receipt["actor"]) == ("tool", turn["turn"], f"run:{run.live.run}")


async def test_a_receipt_stands_below_the_answer_whatever_the_agent_says(kai: Kai) -> None:
    async with at_work(kai) as run:
        saved = await run.call("memory_save", text=FACT)
        refused = await run.call("memory_save", text="the key is sk-ant-api03-" + "a1B2" * 20)
        assert (refused["outcome"], refused["reason"][:7]) == ("rejected", "secret:")
        await run.stop()
        end = await kai.until(run.accepted, "end")
        assert f"— Saved ({saved['record']})." in end["below"]
    told = [one.text for one in await kai.deliveries(1)]
    assert f"— Saved ({saved['record']})." in told[0]
    assert "— Not saved: it holds what looks like a secret" in told[0]


async def test_what_an_agent_keeps_between_two_turns_is_nobodys_wish_and_waits(kai: Kai) -> None:
    """The attack: an agent that goes on by itself makes its own words a fact."""
    async with at_work(kai) as run:
        await run.stop()
        kept = await run.call("memory_save", text=FACT)
        assert (kept["outcome"], kept["reason"]) == ("committed", "candidate")
        assert (await run.call("memory_search", query="bins"))["status"] == "empty"
    assert FACT not in (await kai.client.context((await kai.ask("when do the bins go out?"))["turn"]))["text"]


async def test_an_operation_that_is_sent_twice_is_done_once(kai: Kai) -> None:
    async with at_work(kai) as run:
        first = await run.call("memory_save", text=FACT, op="one")
        assert await run.call("memory_save", text=FACT, op="one") == first
        assert (await run.call("memory_save", text="another", op="one"))["reason"] == "op_id_reuse"


AGENT = "purpose: Test.\nmemory: {own_only: true, write: [person/self/howto], delete: []}\n"


async def test_a_definition_says_where_its_tools_write_and_a_tool_that_may_nothing_is_not_there(tmp_path: Path) -> None:
    house = House(tmp_path, yaml="agent: narrow\n")
    (house.folders.config / "agents").mkdir()
    (house.folders.config / "agents/narrow.yaml").write_text(AGENT)
    async with house.open() as kai:
        mine = await kai.client.memory("save", {"text": "pumps: close the valve first", "kind": "howto"})
        async with at_work(kai) as run:
            assert (await run.call("memory_save", text=FACT))["reason"] == "not_granted"
            own = await run.call("memory_save", text="bins: the lid sticks", kind="howto")
            assert own["outcome"] == "committed"
            with pytest.raises(UnknownThingError):
                await run.call("memory_forget", record=own["record"], base=1)
            # Another definition's, or the person's own: not this one's to change.
            others = await run.call("memory_correct", record=mine["record"], base=1, text="x")
            assert (others["outcome"], others["reason"]) == ("rejected", "not_granted")
            assert [hit["record"] for hit in (await run.call("memory_search", query="pumps bins"))["hits"]] == [
                own["record"]
            ]


async def test_memory_that_is_off_has_no_tools(tmp_path: Path) -> None:
    async with House(tmp_path, yaml="memory: {enabled: false}\n").open() as kai, at_work(kai) as run:
        names = [one["name"] for one in await run.door.tools(run.live)]
        assert not [name for name in names if name.startswith("memory")]
        block = (await kai.client.context(run.accepted.turn or ""))["text"]
        assert "memory_save" not in block


async def test_a_namespace_that_is_not_granted_is_not_searched_and_audited(kai: Kai) -> None:
    await kai.client.memory("save", {"text": FACT})
    async with at_work(kai) as run:
        for namespace in ("person/*/*", "person/p-other/memory", "*", "channel/other/x", "person/self/../memory"):
            found = await run.call("memory_search", query="bins", namespace=namespace)
            assert (found["status"], found["reason"], found["hits"]) == ("denied", "not_granted", []), namespace
            assert found["not_granted"] == [namespace]
        assert (await run.call("memory_search", query="bins", namespace="person/self/memory"))["status"] == "ok"
    rows = await kai.client.memory("audit", {"limit": "100"})
    assert {row["status"] for row in rows if row["namespace"] == "person/*/*"} == {"denied"}
    assert {row["way"] for row in rows if row["action"] == "search"} == {"tool"}


async def test_in_a_shared_channel_no_persons_memory_is_reached_and_its_own_is(kai: Kai) -> None:
    await kai.client.memory("save", {"text": FACT})
    await kai.client.add_person("Bob")
    names = [one["name"] for one in await kai.client.people()]
    room = await kai.client.add_channel("kitchen", members=names)
    await kai.client.bind(room["channel"], "terminal", "shell", "kitchen")
    async with at_work(kai, thread="kitchen") as run:
        assert (await run.call("memory_search", query="bins"))["status"] == "empty"
        kept = await run.call("memory_save", text="the oven needs ten minutes")
        (hit,) = (await run.call("memory_search", query="oven"))["hits"]
        assert hit["namespace"] == f"channel/{room['channel']}/memory"
        assert (await run.call("memory_forget", record=kept["record"], base=1))["outcome"] == "committed"


async def test_another_persons_record_is_not_there(kai: Kai) -> None:
    await kai.client.add_person("Bob")
    async with Client(kai.daemon.socket, as_person="Bob") as bob:
        theirs = await bob.memory("save", {"text": "bob's bins go out on Friday"})
        async with at_work(kai) as run:
            for record in (theirs["record"], "rec-none", "*", "%", "rec-' OR 1=1 --"):
                for name, more in (("memory_forget", {}), ("memory_correct", {"text": "x"})):
                    receipt = await run.call(name, record=record, base=1, **more)
                    assert (receipt["outcome"], receipt["reason"]) == ("rejected", "unknown")
            assert (await run.call("memory_search", query="bins"))["hits"] == []
        (kept,) = await bob.memory("records", {})
        assert kept["text"] == "bob's bins go out on Friday"


@pytest.mark.parametrize(
    "given",
    [
        {},
        {"text": ""},
        {"text": " \n"},
        {"text": "a\0b"},
        {"text": "x" * 1_000_000},
        {"text": FACT, "kind": "truth"},
        {"text": FACT, "namespace": "global/house"},
        {"text": FACT, "family": "x" * 129},
        {"text": 7},
    ],
)
async def test_bad_input_is_a_clear_error_and_changes_nothing(kai: Kai, given: dict[str, Any]) -> None:
    async with at_work(kai) as run:
        with pytest.raises(BadInputError):
            await run.call("memory_save", **given)
    assert await kai.client.memory("records", {"status": ""}) == []
