"""What a person says to memory in the chat, and what of it an agent is sent."""

from pathlib import Path

import pytest

from kai.model.ids import TurnId
from kai.model.memory import Deed, MemoryReceipt
from kai.turns.remembering import footer, told
from tests.e2e.house import House, Kai

pytestmark = pytest.mark.anyio
FACT = "The greenhouse controller is an ESP32."


async def reply(kai: Kai, text: str) -> str:
    return (await kai.say(text)).reply


async def block(kai: Kai, words: str) -> str:
    """What was dispatched before these words."""
    turn = await kai.ask(words)
    assert turn["state"] == "done", turn["reason"]
    text: str = (await kai.client.context(TurnId(turn["turn"])))["text"]
    return text


async def test_what_is_remembered_stands_before_the_next_message_and_what_is_forgotten_never_again(kai: Kai) -> None:
    assert "nothing" in (await reply(kai, "/memory")).lower()
    assert (await reply(kai, f"/remember {FACT}")).startswith("Saved (rec-")
    text = await block(kai, "what runs the greenhouse?")
    assert FACT in text
    assert "fact · said by" in text
    assert (await reply(kai, "/forget greenhouse")).startswith("Forgotten (rec-")
    assert "ESP32" not in await block(kai, "what runs the greenhouse?")
    assert "ESP32" not in await block(kai, FACT.replace("ESP32", "what"))


async def test_what_the_session_was_shown_is_not_said_again_and_comes_back_with_a_new_one(kai: Kai) -> None:
    await reply(kai, f"/remember {FACT}")
    assert FACT in await block(kai, "the greenhouse?")
    assert FACT not in await block(kai, "the greenhouse, again?")
    await reply(kai, "/new")
    assert FACT in await block(kai, "the greenhouse, once more?")


async def test_preferences_go_along_with_every_new_session_whatever_it_is_about(kai: Kai) -> None:
    await reply(kai, "/remember preference: Explain the reasoning before the result.")
    assert "Explain the reasoning" in await block(kai, "hello")


async def test_a_process_that_was_shown_what_is_forgotten_ends(kai: Kai) -> None:
    await reply(kai, f"/remember {FACT}")
    await block(kai, "the greenhouse?")
    (before,) = kai.daemon.parts.pool.every()
    await reply(kai, "/forget greenhouse")
    await block(kai, "hello")
    (after,) = kai.daemon.parts.pool.every()
    assert after.row.session != before.row.session


async def test_it_is_brought_back_by_its_id(kai: Kai) -> None:
    await reply(kai, f"/remember {FACT}")
    undo = (await reply(kai, "/forget greenhouse")).partition("/memory restore ")[2].split()[0]
    assert (await reply(kai, f"/memory restore {undo}")).startswith("Restored")
    assert FACT in await reply(kai, "/memory greenhouse")


async def test_forgetting_needs_to_be_clear(kai: Kai) -> None:
    await reply(kai, "/remember The pump is in the cellar.")
    await reply(kai, "/remember The pump needs oil in May.")
    assert "which one?" in await reply(kai, "/forget pump")
    assert "nothing" in await reply(kai, "/forget submarine")
    assert "which one?" in await reply(kai, "/forget the cellar in June")  # one hit that does not hold every word
    assert (await reply(kai, "/forget the pump is in the CELLAR")).startswith("Forgotten")
    (line,) = (await reply(kai, "/memory")).splitlines()
    assert (await reply(kai, f"/forget {line.split()[0]}")).startswith("Forgotten")


async def test_a_secret_is_kept_nowhere(kai: Kai) -> None:
    assert "Not saved: it holds what looks like a secret (password)" in await reply(
        kai, "/remember my password is hunter22!"
    )
    assert b"hunter22" not in kai.daemon.parts.store.path.read_bytes()
    wal = kai.daemon.parts.store.path.with_name("kai.db-wal")
    assert b"hunter22" not in wal.read_bytes()


async def test_the_same_message_is_one_operation(kai: Kai) -> None:
    first = await kai.say(f"/remember {FACT}", external_id="once")
    again = await kai.say(f"/remember {FACT}", external_id="once")
    assert (again.duplicate, again.message) == (True, first.message)
    assert len((await reply(kai, "/memory")).splitlines()) == 1


async def test_switched_off_it_says_so_and_memory_md_holds_the_facts(tmp_path: Path) -> None:
    async with House(tmp_path, yaml="memory: {enabled: false}\n").open() as kai:
        assert "MEMORY.md" in await reply(kai, f"/remember {FACT}")
        text = await block(kai, "hello")
        assert "[Memory subsystem: disabled" in text
        assert "[Memory search" not in text


def test_a_receipt_is_told_as_it_is() -> None:
    saved = MemoryReceipt("o", "save", Deed.COMMITTED, "rec-1")
    failed = MemoryReceipt("o", "save", Deed.REJECTED, reason="store")
    assert footer([saved, failed]) == "— Saved (rec-1).\n— Not saved: the database cannot be written to."
    assert told(MemoryReceipt("o", "forget", Deed.CONFLICT, reason="stale_base")).startswith("Not forgotten")
    assert footer([]) == ""
