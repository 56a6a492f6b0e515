"""A change of the backend in mid-talk: what stands in its way, and that nothing is lost by it."""

from contextlib import suppress
from pathlib import Path

import anyio
import pytest

from kai.client import Client
from kai.model.errors import ApiError
from kai.model.people import Preference
from kai.model.turns import Delivery, DeliveryKind, Progress, Receipt, ReceiptOutcome
from tests.e2e.house import LIMIT_S, House, Kai

pytestmark = pytest.mark.anyio
TO_ACP = Preference(backend="fake-acp")


async def test_a_switch_during_a_turn_is_refused_by_name_and_changes_nothing(kai: Kai) -> None:
    await kai.client.use(Preference(backend="fake", model="model-7"))
    running = await kai.say("FAKE:slow=500,0.02")
    await kai.until(running, "text")
    with pytest.raises(ApiError) as caught:
        await kai.client.use(TO_ACP)
    assert caught.value.status == 409
    assert "still running" in str(caught.value)
    assert (await kai.client.turn(running.turn or ""))["state"] == "running"
    await kai.client.stop(running.turn or "")
    after = await kai.ask("after")
    assert (after["backend"], after["model"]) == ("fake", "model-7")


async def test_a_switch_that_waits_comes_after_all_that_was_said_before_it(kai: Kai) -> None:
    said = [await kai.say("FAKE:slow=20,0.02"), await kai.say("queued")]
    await kai.until(said[0], "text")
    changed: list[str] = []

    async def change() -> None:
        changed.append((await kai.client.use(TO_ACP, wait=True))["sentence"])

    async with anyio.create_task_group() as tasks:
        tasks.start_soon(change)
        ended = [await kai.end(one) for one in said]
        assert not changed or ended[1]["state"] == "done"
    assert "Fake agent (acp)" in changed[0]
    assert [(turn["state"], turn["backend"]) for turn in ended] == [("done", "fake")] * 2
    after = await kai.ask("after")
    assert (after["state"], after["backend"]) == ("done", "fake-acp")
    block = (await kai.client.context(after["turn"]))["text"]
    assert all(turn["answer_text"].strip() in block for turn in ended)


async def test_a_switch_between_answer_and_receipt_loses_nothing(kai: Kai) -> None:
    """The bridge has the answer and has not confirmed it: it still may, and the next backend knows what was said."""
    before = await kai.ask("the spare key hangs in the shed")
    shown: list[Delivery] = []
    async with Client(kai.daemon.socket) as bridge:
        with anyio.fail_after(LIMIT_S):
            async for item in bridge.deliveries(idempotent=True):
                assert not isinstance(item, Progress)
                shown.append(item)
                break
        await kai.client.use(TO_ACP)
        after = await kai.ask("where is the key?")
        await bridge.receipt(shown[0].delivery, Receipt(ReceiptOutcome.SENT))
    assert [(item.turn, item.text) for item in shown] == [(before["turn"], "echo: the spare key hangs in the shed")]
    assert (after["state"], after["backend"]) == ("done", "fake-acp")
    block = (await kai.client.context(after["turn"]))["text"]
    assert block.count("the spare key hangs in the shed") == 2, "the question and its answer"
    owed = await kai.deliveries(2)
    assert [(item.kind, item.turn) for item in owed] == [
        (DeliveryKind.NOTICE, after["turn"]),
        (DeliveryKind.ANSWER, after["turn"]),
    ]
    assert "Fake agent (acp) (changed from fake); all earlier messages went along" in owed[0].text
    assert (await kai.client.status())["counts"]["deliveries_pending"] == 0


async def test_a_switch_before_anybody_fetched_the_answer_loses_nothing(kai: Kai) -> None:
    before = await kai.ask("the spare key hangs in the shed")
    await kai.client.use(TO_ACP)
    after = await kai.ask("where is the key?")
    owed = await kai.deliveries(3)
    assert [(item.turn, item.kind) for item in owed] == [
        (before["turn"], DeliveryKind.ANSWER),
        (after["turn"], DeliveryKind.NOTICE),
        (after["turn"], DeliveryKind.ANSWER),
    ]
    assert owed[0].text == "echo: the spare key hangs in the shed"


async def test_a_switch_at_the_very_end_of_a_turn_is_refused_or_comes_after_it_and_never_cuts_it(kai: Kai) -> None:
    """Asked again and again while the turn ends: the one that is taken finds the answer stored."""
    running = await kai.say("FAKE:slow=5,0.01")
    await kai.until(running, "text")
    with anyio.fail_after(LIMIT_S):
        while True:
            with suppress(ApiError):
                await kai.client.use(TO_ACP)
                break
    turn = await kai.client.turn(running.turn or "")
    assert (turn["state"], turn["incomplete"]) == ("done", False)
    after = await kai.ask("and?")
    assert turn["answer_text"].strip() in (await kai.client.context(after["turn"]))["text"]


async def test_a_backend_may_be_chosen_for_a_conversation_that_this_begins(kai: Kai) -> None:
    """The first message of a new title goes where it was said to go; a title that is only mistyped begins nothing."""
    with pytest.raises(ApiError):
        await kai.client.use(TO_ACP, channel="orchard")
    await kai.client.use(TO_ACP, channel="orchard", begin=True)
    turn = await kai.ask("hello", thread="orchard")
    assert turn["backend"] == "fake-acp"
    await kai.client.use(Preference(backend="fake"), channel="Orchard", begin=True)
    assert (await kai.ask("again", thread="orchard"))["backend"] == "fake"
    assert [one["title"] for one in await kai.client.channels()] == ["orchard"]


@pytest.mark.parametrize("workspace", ["-", "attic"])
async def test_the_same_facts_make_the_same_block_for_every_backend_there_is(tmp_path: Path, workspace: str) -> None:
    """At home and away."""
    attic = f"attic: {{path: {tmp_path}, system_prompt: Mind the beams.}}\n"
    async with House(tmp_path, yaml="context: {now: 'off'}", workspaces=attic).open() as kai:
        await kai.ask("the ladder is in the shed")
        await kai.client.use(Preference(workspace=workspace))
        backends = [one["id"] for one in await kai.client.backends()]
        blocks = set()
        for backend in backends:
            await kai.client.use(Preference(backend=backend))
            blocks.add((await kai.client.preview("and the lamp?"))["text"])
        (block,) = blocks
        assert "echo: the ladder is in the shed" in block
        assert ("Mind the beams." in block) == (workspace == "attic")
        assert len(backends) > 8


async def test_there_and_back_again_every_turn_has_all_that_was_said(kai: Kai) -> None:
    words = ["the quince", "the medlar", "the sorb", "the azarole"]
    for count, word in enumerate(words):
        await kai.client.use(Preference(backend=("fake", "fake-acp")[count % 2]))
        turn = await kai.ask(word)
        shown = await kai.client.context(turn["turn"])
        for earlier in words[:count]:
            assert shown["text"].count(f"{earlier}\n") == 2, "the question and its answer"
