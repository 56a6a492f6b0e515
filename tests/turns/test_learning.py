"""What a turn leaves in memory, by the policy of its definition, and what stands below its answer."""

from contextlib import AbstractAsyncContextManager
from pathlib import Path
from typing import Any

import pytest
from anyio import to_thread

from tests.e2e.house import House, Kai

pytestmark = pytest.mark.anyio
SAID = "My sister lives in Ulm."
LONG = "Tell me in some detail how the pump in the cellar is to be bled, " + "x" * 15  # 80 characters


async def learning(root: Path, policy: str) -> AbstractAsyncContextManager[Kai]:
    def write() -> None:
        (root / "config" / "agents").mkdir(parents=True)
        (root / "config" / "agents" / "own.yaml").write_text(f"purpose: help\nmemory: {{{policy}}}\n")

    await to_thread.run_sync(write)
    return House(root, yaml="memory: {embedder: {provider: none}}\nagent: own\n").open()


async def kept(kai: Kai, status: str = "") -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = await kai.client.memory("records", {"status": status})
    return found


async def test_by_default_nothing_is_learned(tmp_path: Path) -> None:
    async with await learning(tmp_path, "") as kai:
        await kai.ask(f"{SAID} {LONG}")
        assert await kept(kai) == []


async def test_what_is_observed_waits_is_told_and_is_used_once_it_is_accepted(tmp_path: Path) -> None:
    async with await learning(tmp_path, 'learn: "observe"') as kai:
        await kai.ask(f"{SAID} FAKE:say=I_have_a_cat_and_my_name_is_fake.")
        (told,) = await kai.deliveries(1)
        (one,) = await kept(kai, "candidate")
        assert (one["status"], one["origin"], one["text"]) == ("candidate", "learned", SAID)
        assert f"— Kept as a candidate ({one['record']}): “{SAID}”: not used before it is accepted." in told.text
        await kai.say("/new")
        turn = await kai.ask("where does my sister live?")
        assert f"by root, revision 1: {SAID}" not in (await kai.client.context(turn["turn"]))["text"]
        assert one["record"] in (await kai.say("/memory candidates")).reply
        assert (await kai.say(f"/memory accept {one['record']}")).reply == f"Accepted ({one['record']})."
        rows = await kai.client.memory("audit", {"mine": "true"})
        assert {"learn", "accept"} <= {row["action"] for row in rows}
        assert (await kept(kai, "active"))[0]["origin"] == "learned"


async def test_auto_keeps_what_the_person_said_and_says_so_and_never_what_the_agent_said(tmp_path: Path) -> None:
    async with await learning(tmp_path, 'learn: "auto"') as kai:
        await kai.ask(f"{SAID} FAKE:say=My_name_is_fake_and_my_cat_is_red.")
        (told,) = await kai.deliveries(1)
        (one,) = await kept(kai)
        assert (one["status"], one["text"], one["pinned"]) == ("active", SAID, False)
        assert told.text.endswith(f"— Saved ({one['record']}): “{SAID}”")
        await kai.ask(SAID)  # known: nothing more to say
        (told,) = await kai.deliveries(1)
        assert "Saved" not in told.text
        await kai.client.memory("forget", {}, one["record"])
        await kai.ask(SAID)
        assert await kept(kai, "active") == []


async def test_a_run_is_kept_from_eighty_characters_on_as_episodes_and_only_if_it_went_well(tmp_path: Path) -> None:
    async with await learning(tmp_path, "save_runs: true") as kai:
        assert len(LONG) == 80
        await kai.ask(LONG[:-1])
        await kai.ask(f"{LONG} FAKE:die")
        assert await kept(kai) == []
        await kai.ask(LONG)
        found = await kept(kai)
        assert {(one["kind"], one["origin"], one["status"]) for one in found} == {("episode", "auto_run", "active")}
        by = {one["family"].partition(":")[0]: one["said_by"] for one in found}
        assert by == {"run_input": "root", "run_output": "kai (own, via fake)"}


async def test_temporary_talk_teaches_nothing(tmp_path: Path) -> None:
    async with await learning(tmp_path, 'learn: "auto", save_runs: true') as kai:
        await kai.ask(f"{SAID} {LONG}", temporary=True)
        assert await kept(kai) == []
