"""A temporary conversation in a whole kai: it stays so, it is refused where it cannot be, and nothing of it is left."""

import anyio
import pytest

from kai.model.errors import ApiError
from kai.model.people import Preference
from kai.store.binding import Connection
from tests.e2e.house import House, Kai
from tests.store.remembered import everything

pytestmark = pytest.mark.anyio
WORD = "zanzibar"


async def rows(kai: Kai) -> str:
    """All that the database holds."""
    return await kai.daemon.parts.store.read(everything)


async def received(kai: Kai, turn: str) -> None:
    """Take what is owed, each with its receipt, up to the end of a turn."""
    while (await kai.deliveries(1))[0].turn_state is None or turn not in await ended(kai):
        pass


async def ended(kai: Kai) -> list[str]:
    """Turns whose end was delivered."""

    def look(db: Connection) -> list[str]:
        rows = db.execute("SELECT turn FROM delivery WHERE turn_state IS NOT NULL AND state = 'sent'")
        return [row[0] for row in rows]

    return await kai.daemon.parts.store.read(look)


async def test_it_stays_so_over_a_restart_and_a_change_of_the_backend(house: House) -> None:
    async with house.open() as kai:
        assert "nothing is kept" in (await kai.say("/temporary")).reply
        assert "temporary already" in (await kai.say("/temporary on")).reply
        assert (await kai.ask(f"about {WORD}"))["temporary"]
    async with house.open() as kai:
        assert "This conversation is temporary." in (await kai.say("/status", external_id="again")).reply
        await kai.client.use(Preference(backend="fake-pi"))
        turn = await kai.ask("and now?", external_id="later")
        assert (turn["temporary"], turn["backend"], turn["state"]) == (True, "fake-pi", "done")
        context = await kai.client.context(turn["turn"])
        assert "off for this conversation" in context["text"]
        assert WORD not in context["text"]
        assert (await kai.client.channel(turn["channel"]))["temporary"]


async def test_a_message_that_says_so_is_temporary_alone(kai: Kai) -> None:
    assert (await kai.ask(f"about {WORD}", temporary=True))["temporary"]
    assert not (await kai.ask("about pumps"))["temporary"]


async def test_once_all_is_received_no_row_holds_a_word_of_it(kai: Kai) -> None:
    accepted = await kai.say(f"about {WORD} FAKE:ask=Bash", temporary=True)
    asked = await kai.until(accepted, "ask")
    await kai.client.answer(asked["ask"], asked["choices"][0]["key"])
    turn = await kai.end(accepted)
    assert WORD in await rows(kai)
    await received(kai, turn["turn"])
    assert WORD not in await rows(kai)
    assert (await kai.client.turn(turn["turn"]))["text"] == ""
    assert (await kai.client.verify(turn["turn"]))["ok"]
    with pytest.raises(ApiError, match="erased"):
        await kai.client.retry(turn["turn"])


async def test_a_stopped_and_a_failed_one_are_erased_as_well(kai: Kai) -> None:
    accepted = await kai.say(f"{WORD} FAKE:slow=100,0.1", temporary=True)
    await kai.until(accepted, "text")
    await kai.client.stop(accepted.turn or "")
    failed = await kai.ask(f"{WORD} FAKE:error=provider", temporary=True)
    await received(kai, failed["turn"])
    assert WORD not in await rows(kai)


async def test_words_that_are_steered_into_it_are_erased_with_it(house: House) -> None:
    house.backend = "fake-codex"
    house.__post_init__()
    async with house.open() as kai:
        await kai.say("/temporary")
        accepted = await kai.say("FAKE:slow=3,0.1 FAKE:hear=5")
        await kai.until(accepted, "text")
        assert "Handed to" in (await kai.say(f"/steer {WORD}")).reply
        turn = await kai.end(accepted)
        assert WORD in await rows(kai)
        await received(kai, turn["turn"])
        assert WORD not in await rows(kai)


async def test_what_its_agent_says_later_by_itself_is_told_and_erased(kai: Kai) -> None:
    await kai.ask(f"go FAKE:unsolicited=0.3 FAKE:say={WORD}", temporary=True)
    got = await kai.deliveries(2)
    assert "in the background" in got[1].text
    assert WORD not in await rows(kai)


async def test_commands_keep_no_words_and_do_nothing_to_memory(kai: Kai) -> None:
    await kai.say("/temporary")
    for words in (f"/remember {WORD}", f"/forget {WORD}", f"/memory {WORD}"):
        assert "nothing is recalled or kept" in (await kai.say(words)).reply
    assert WORD not in await rows(kai)
    assert "not temporary" not in (await kai.say("/temporary off")).reply
    assert "not temporary" in (await kai.say("/temporary off")).reply
    assert "Saved" in (await kai.say(f"/remember {WORD}")).reply
    assert "Say /temporary" in (await kai.say("/temporary perhaps")).reply


async def test_a_backend_that_would_keep_it_is_named_at_once_and_refused(house: House) -> None:
    async with house.open() as kai:
        await kai.client.use(Preference(backend="fake-acp"))
        assert "cannot switch off" in (await kai.say("/temporary")).reply
        turn = await kai.ask("hello")
        assert (turn["failure"], turn["dispatches"]) == ("unsupported", [])
        said = await kai.client.use(Preference(backend="fake"))
        assert "cannot switch off" not in said["sentence"]
        assert (await kai.ask("hello"))["state"] == "done"


async def test_it_is_refused_while_a_turn_runs(kai: Kai) -> None:
    accepted = await kai.say("FAKE:slow=30,0.05")
    await kai.until(accepted, "text")
    assert "still running" in (await kai.say("/temporary")).reply
    with pytest.raises(ApiError):
        await kai.client.use(Preference(), temporary="on")
    await kai.client.stop(accepted.turn or "")


async def test_a_backup_of_that_time_holds_nothing_of_it(kai: Kai) -> None:
    await kai.ask(f"about {WORD}", temporary=True)
    made = await kai.client.backup()

    assert WORD.encode() not in await anyio.Path(made["path"], "kai.db").read_bytes()
    assert WORD in await rows(kai)  # the running one still has to deliver it
