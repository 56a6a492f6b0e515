"""The way in."""

import anyio
import pytest

from kai.model.errors import ApiError
from kai.model.messages import Accepted, InboundMessage
from tests.e2e.house import Kai

pytestmark = pytest.mark.anyio


async def change(kai: Kai, of: str, text: str = "", *, deleted: bool = False) -> Accepted:
    message = InboundMessage("", "shell", "", "", f"change of {of}", text, edit_of=of, deleted=deleted)
    return await kai.client.receive(message)


async def test_a_message_deleted_while_it_waits_is_not_answered(kai: Kai) -> None:
    running = await kai.say("FAKE:slow=500,0.02")
    await kai.until(running, "text")
    waiting = await kai.say("never mind", external_id="oops")
    assert (await change(kai, "oops", deleted=True)).turn is None
    assert (await kai.end(waiting))["state"] == "stopped"
    await kai.client.stop(running.turn or "")
    turn = await kai.ask("FAKE:say=next")
    assert "never mind" not in (await kai.client.context(turn["turn"]))["text"]


async def test_an_edit_is_kept_beside_the_original_and_starts_nothing(kai: Kai) -> None:
    await kai.ask("the meter says 4711", external_id="first")
    assert (await change(kai, "first", "the meter says 4712")).turn is None
    assert len(await kai.client.turns()) == 1
    texts = [one["text"] for one in await kai.client.history("main")]
    assert "the meter says 4712" in texts
    assert "the meter says 4711" not in texts


async def test_a_message_edited_while_it_waits_is_answered_as_it_stands(kai: Kai) -> None:
    running = await kai.say("FAKE:slow=500,0.02")
    await kai.until(running, "text")
    waiting = await kai.say("tpyo", external_id="typo")
    await change(kai, "typo", "typo, mended")
    await kai.client.stop(running.turn or "")
    assert (await kai.end(waiting))["answer_text"] == "echo: typo, mended"


async def test_a_deletion_of_nothing_is_refused_with_its_field(kai: Kai) -> None:
    with pytest.raises(ApiError) as caught:
        await kai.client.receive(InboundMessage("", "shell", "", "", "x", "", deleted=True))
    assert caught.value.field == "deleted"


async def test_the_same_key_fifty_times_at_once_is_one_message(kai: Kai) -> None:
    got: list[Accepted] = []

    async def say() -> None:
        got.append(await kai.say("hello", external_id="same"))

    async with anyio.create_task_group() as tasks:
        for _ in range(50):
            tasks.start_soon(say)
    assert len({one.turn for one in got}) == 1
    assert sum(not one.duplicate for one in got) == 1
    await kai.end(got[0])
    assert len(await kai.client.turns()) == 1
