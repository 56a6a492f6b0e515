"""A permission question is data: a delivery, an answer that passes the lane, an expiry that denies."""

from pathlib import Path

import anyio
import pytest

from kai.model.errors import ApiError
from kai.model.turns import DeliveryKind
from tests.e2e.house import House, Kai

pytestmark = pytest.mark.anyio


async def test_a_question_is_delivered_and_its_answer_reaches_the_agent(kai: Kai) -> None:
    accepted = await kai.say("FAKE:ask=shell")
    asked = await kai.until(accepted, "ask")
    assert (await kai.client.turn(accepted.turn or ""))["state"] == "asking"
    (delivery,) = await kai.deliveries(1)
    assert delivery.kind is DeliveryKind.QUESTION
    assert "1." in delivery.text
    said = await kai.say("yes")
    assert said.turn is None
    turn = await kai.end(accepted)
    assert turn["state"] == "done"
    assert "allowed" in turn["answer_text"]
    assert asked["ask"] == delivery.ask


async def test_a_denial_reaches_the_agent(kai: Kai) -> None:
    accepted = await kai.say("FAKE:ask=shell")
    await kai.until(accepted, "ask")
    await kai.say("no")
    assert "denied" in (await kai.end(accepted))["answer_text"]


async def test_a_choice_that_is_not_offered_is_told_with_those_that_are(kai: Kai) -> None:
    accepted = await kai.say("FAKE:ask=shell")
    asked = await kai.until(accepted, "ask")
    with pytest.raises(ApiError) as caught:
        await kai.client.answer(asked["ask"], "nope")
    assert "'nope' is not offered" in caught.value.sentence
    for choice in asked["choices"]:
        assert f"{choice['key']} ({choice['label']})" in caught.value.hint
    said = await kai.say("9")
    assert "'9' is not offered" in said.reply
    await kai.client.answer(asked["ask"], "no")
    assert (await kai.end(accepted))["state"] == "done"


async def test_an_answer_after_the_end_is_told_to_be_late(kai: Kai) -> None:
    accepted = await kai.say("FAKE:ask=shell")
    asked = await kai.until(accepted, "ask")
    await kai.client.stop(accepted.turn or "")
    with pytest.raises(ApiError) as caught:
        await kai.client.answer(asked["ask"], "yes")
    assert caught.value.status == 409


async def test_an_unanswered_question_expires_as_a_denial_and_is_said(tmp_path: Path) -> None:
    async with House(tmp_path, yaml="limits: {ask_s: 0.5}").open() as kai:
        with anyio.fail_after(10):
            turn = await kai.ask("FAKE:ask=shell")
        assert turn["state"] == "done"
        assert "denied" in turn["answer_text"]
        texts = [one.text for one in await kai.deliveries(2)]
        assert any("was denied" in text for text in texts)


async def test_other_words_while_asked_wait_in_the_lane(kai: Kai) -> None:
    accepted = await kai.say("FAKE:ask=shell")
    await kai.until(accepted, "ask")
    waiting = await kai.say("what do you mean by that?")
    assert waiting.queued_before == 1
    await kai.say("yes")
    assert (await kai.end(accepted))["state"] == "done"
    assert (await kai.end(waiting))["state"] == "done"


async def test_a_question_that_the_agent_withdraws_is_closed(kai: Kai) -> None:
    turn = await kai.ask("FAKE:withdraw=0.1")
    assert turn["state"] == "done"
    assert turn["questions"] == []


@pytest.mark.parametrize("backend", ["fake", "fake-acp"])
async def test_bypass_allows_once_without_asking(tmp_path: Path, backend: str) -> None:
    async with House(tmp_path, yaml="permissions: bypass", backend=backend).open() as kai:
        turn = await kai.ask("FAKE:ask=shell")
        assert turn["state"] == "done"
        assert "allowed" in turn["answer_text"]
