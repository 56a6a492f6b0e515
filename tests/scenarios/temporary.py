"""Temporary talk: S01 to S03."""

import sys
from pathlib import Path
from typing import Any

from anyio import to_thread

from kai.catalog import manifests
from kai.memory.retrieval import StoreRetriever
from kai.model.context import MemoryMode
from kai.model.messages import Message
from kai.processes import plan
from kai.protocols.app_server_thread import thread_params
from kai.protocols.driver import DriverSetup
from kai.resources import folder
from kai.store import messages, opening
from kai.turns import facts
from kai.turns import opening as opening_of_turns
from tests.e2e.house import Kai
from tests.scenarios.harness import Stage, block, scenario, without

PLAIN = "memory: {embedder: {provider: none}}\n"
opened: list[str] = []


def _note(event: str, args: Any) -> None:
    if event == "open":
        opened.append(str(args[0]))


sys.addaudithook(_note)


def _watched(stage: Stage) -> tuple[list[str], list[str]]:
    """Every statement from now on, and every call of the retriever."""
    statements: list[str] = []
    searched: list[str] = []
    connect, retrieve, at_once = opening.connect_to, StoreRetriever.retrieve, StoreRetriever.at_once

    def connect_to(path: Path, busy_s: float) -> Any:
        db = connect(path, busy_s)
        db.set_trace_callback(statements.append)
        return db

    async def retrieved(self: Any, *args: Any, **more: Any) -> Any:
        searched.append("search")
        return await retrieve(self, *args, **more)

    def retrieved_at_once(self: Any, *args: Any) -> Any:
        searched.append("search at once")
        return at_once(self, *args)

    stage.patch.setattr(opening, "connect_to", connect_to)
    stage.patch.setattr(StoreRetriever, "retrieve", retrieved)
    stage.patch.setattr(StoreRetriever, "at_once", retrieved_at_once)
    return statements, searched


@scenario("S01", without(facts, "memory_mode", lambda *_: MemoryMode.ENABLED))
async def touches_nothing(stage: Stage) -> None:
    statements, searched = _watched(stage)
    async with stage.kai(yaml=PLAIN) as kai:
        for number in range(5):
            await kai.client.memory("save", {"text": f"pump {number} is in the cellar"})
        assert "pump" in await block(kai, "where is the pump?")
        for told in (statements, searched, opened):
            told.clear()
        for words in ("where is the pump?", "and the other pump?"):  # a fresh session, and a live one
            turn = await kai.ask(words, temporary=True)
            assert turn["state"] == "done"
        text = (await kai.client.context(turn["turn"]))["text"]
        assert "memory_" not in text  # no tool of it is offered
        assert "cellar" not in kai.house.log.read_text().rpartition("where is the pump?")[2]
        assert [one for one in statements if "mem_" in one] == []
        assert searched == []
        assert [path for path in opened if path.endswith(("PREFERENCES.md", "MEMORY.md"))] == []
        assert "off for this conversation" in kai.house.log.read_text()


@scenario("S02", without(opening_of_turns, "refuse_lasting", lambda _: None))
async def refused_or_switched_off(stage: Stage) -> None:
    async with stage.kai(backend="fake-acp") as kai:
        turn = await kai.ask("a secret", temporary=True)
        assert (turn["state"], turn["failure"], turn["dispatches"]) == ("failed", "unsupported", [])
        assert "temporary_mode_unsupported" in turn["reason"]
        assert kai.daemon.parts.pool.every() == []
        assert not kai.house.log.exists()
    shipped = await to_thread.run_sync(lambda: manifests.load(folder("backends")))
    for manifest in shipped.values():
        if not manifest.can.temporary or manifest.id == "offline":  # which keeps nothing anyway
            continue
        setup = DriverSetup(manifest=manifest, cwd="/", temporary=True)
        argv = plan._arguments(manifest, "", "", "ask", "", True)
        ephemeral = manifest.protocol == "app_server" and thread_params(setup, "")["ephemeral"]
        assert ephemeral or set(manifest.launch.temporary) & set(argv), manifest.id


kept = messages.keep


def _in_the_talk(db: Any, message: Message, *args: Any, **more: Any) -> Message:
    """A store in which nothing stands aside for being temporary."""
    made = kept(db, message, *args, **more)
    db.execute("DROP TRIGGER IF EXISTS message_kept")
    db.execute("UPDATE message SET aside = 0 WHERE message = ?", (made.message,))
    return made


@scenario("S03", without(messages, "keep", _in_the_talk))
async def nowhere_afterwards(stage: Stage) -> None:
    async with stage.kai(yaml=PLAIN) as kai:
        await kai.ask("about bananas")
        first = await kai.ask("about zebras FAKE:remember=zebra", temporary=True)
        assert "resume" not in await _argv(kai, temporary=True)  # the same process
        text = await block(kai, "about bananas again")
        assert "bananas" in text
        assert "zebra" not in text
        assert await kai.client.search("zebras") == []
        assert all("zebra" not in str(one) for one in await kai.client.history(first["channel"]))
        assert "--resume" not in await _argv(kai, temporary=True)  # another temporary talk is another session
        said = await kai.ask("what was it? FAKE:recall", temporary=True)
        assert "zebra" not in said["answer_text"]
    async with stage.kai(yaml=PLAIN) as kai:  # nor after a restart
        assert "zebra" not in await block(kai, "and now?", external_id="later")
    left = await to_thread.run_sync(_sessions, stage.folder)
    assert left, "the normal session is kept"
    assert not any("zebra" in text for text in left)


def _sessions(root: Path) -> list[str]:
    return [path.read_text() for path in (root / "sessions").iterdir()]


async def _argv(kai: Kai, **more: Any) -> str:
    answer: str = (await kai.ask("FAKE:argv", **more))["answer_text"]
    return answer
