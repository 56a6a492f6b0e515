"""Deliveries and progress as a bridge pulls them."""

import itertools
from typing import Any

import anyio
import pytest

from kai.client import Client
from kai.model.errors import StoreError
from kai.model.turns import Delivery, Progress, Receipt, ReceiptOutcome
from kai.store import turns
from tests.e2e.house import Kai

pytestmark = pytest.mark.anyio


async def test_progress_carries_the_whole_text_so_far_and_comes_before_the_answer(kai: Kai) -> None:
    seen: list[Progress | Delivery] = []

    async def listen() -> None:
        async for item in kai.client.deliveries(idempotent=True):
            seen.append(item)
            if isinstance(item, Delivery):
                return

    async with anyio.create_task_group() as tasks:
        tasks.start_soon(listen)
        await kai.ask("FAKE:slow=20,0.03")
    texts = [item.text for item in seen if isinstance(item, Progress) and item.text]
    assert len(texts) > 2
    assert all(later.startswith(earlier) for earlier, later in itertools.pairwise(texts))
    assert isinstance(seen[-1], Delivery)
    assert seen[-1].text.startswith(texts[-1].strip())


async def test_a_quick_turn_is_over_before_it_would_be_shown(kai: Kai, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("kai.turns.streams.PROGRESS_EVERY_S", 5.0)
    seen: list[Progress | Delivery] = []

    async def listen() -> None:
        async for item in kai.client.deliveries(idempotent=True):
            seen.append(item)
            if len(seen) == 2:
                return

    async with anyio.create_task_group() as tasks:
        tasks.start_soon(listen)
        await kai.ask("one")
        await kai.ask("two")
    assert [item.text for item in seen if isinstance(item, Delivery)] == ["echo: one", "echo: two"]


async def test_who_listens_gets_an_answer_that_the_store_refused_at_first(
    kai: Kai, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("kai.turns.runner.FINISH_RETRY_S", 0.05)
    finish, left = turns.finish, [2]

    def failing(*args: Any) -> Any:
        left[0] -= 1
        if left[0] >= 0:
            raise StoreError("kai.db", "the disk is full")
        return finish(*args)

    monkeypatch.setattr(turns, "finish", failing)
    async with anyio.create_task_group() as tasks:
        tasks.start_soon(kai.ask, "hello")
        assert [owed.text for owed in await kai.deliveries(1)] == ["echo: hello"]


async def test_more_than_one_claims_worth_comes_out_at_once(kai: Kai, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("kai.store.deliveries.CLAIM_LIMIT", 2)
    for n in range(5):
        await kai.ask(f"number {n}")  # nobody listens yet
    assert len(await kai.deliveries(5)) == 5


async def test_a_bridge_goes_on_from_the_last_number_it_received(kai: Kai) -> None:
    for n in range(3):
        await kai.ask(f"number {n}")
    first, second, third = await kai.deliveries(3, receipts=False)
    assert first.number < second.number < third.number
    again: list[Delivery] = []
    async for item in kai.client.deliveries(after=first.number):
        if isinstance(item, Delivery):
            again.append(item)
        if len(again) == 2:
            break
    assert [one.delivery for one in again] == [second.delivery, third.delivery]


async def test_what_was_claimed_by_a_bridge_that_forgot_is_unknown_and_told_once(kai: Kai) -> None:
    await kai.ask("hello")
    await kai.deliveries(1, receipts=False)
    with anyio.fail_after(10):
        async for item in kai.client.deliveries():
            assert isinstance(item, Delivery)
            assert "may not have arrived" in item.text
            break


async def test_a_receipt_twice_is_one_receipt(kai: Kai) -> None:
    await kai.ask("hello")
    (delivery,) = await kai.deliveries(1)
    await kai.client.receipt(delivery.delivery, Receipt(ReceiptOutcome.SENT))


async def test_what_is_owed_to_one_person_never_comes_out_at_anothers_shell(kai: Kai) -> None:
    await kai.client.add_person("Bob")
    await kai.ask("for my eyes")
    async with Client(kai.daemon.socket, as_person="Bob") as bob:
        with anyio.move_on_after(0.5):
            async for item in bob.deliveries():
                raise AssertionError(item)
    assert (await kai.deliveries(1))[0].text == "echo: for my eyes"


async def test_events_of_an_ended_turn_are_its_end(kai: Kai) -> None:
    turn = await kai.ask("hello")
    kai.daemon.parts.live._turns.clear()
    events = [event async for event in kai.client.events(turn["turn"])]
    assert [event["type"] for event in events] == ["end"]
    assert events[0]["text"] == "echo: hello"


async def test_an_open_question_is_shown_again_to_a_screen_that_joins(kai: Kai) -> None:
    accepted = await kai.say("FAKE:ask=shell")
    await kai.until(accepted, "ask")
    (asked,) = await kai.deliveries(1)
    (again,) = await kai.deliveries(1)
    assert (again.delivery, again.ask) == (asked.delivery, asked.ask)
    said = await kai.say("7")
    assert said.turn is None
    assert "choice" in said.reply
    await kai.say("no")
    await kai.end(accepted)
    with anyio.move_on_after(0.5):
        async for item in kai.client.deliveries(idempotent=True):
            assert not isinstance(item, Delivery) or item.ask is None
