"""A bridge outlives a restart of the daemon."""

import anyio
import pytest

from kai.bridges.patience import Patience, spoken
from kai.client import Client
from kai.model.errors import ApiError, UnreachableError
from tests.bridges.conftest import until
from tests.fake_daemon import FakeDaemon

pytestmark = pytest.mark.anyio


class Told:
    def __init__(self) -> None:
        self.texts: list[str] = []

    async def tell(self, text: str) -> None:
        self.texts.append(text)


async def test_whoever_waits_is_told_once_and_gets_the_answer(fake: FakeDaemon) -> None:
    told = Told()
    async with Client(fake.socket) as client:
        patience = Patience(client, told.tell)
        await anyio.to_thread.run_sync(fake.stop)
        async with anyio.create_task_group() as tasks:
            for _ in range(3):
                tasks.start_soon(patience.sure, client.people)
            await until(lambda: told.texts)
            await anyio.to_thread.run_sync(fake.start)
    assert told.texts == ["The connection to the daemon is lost; waiting for it to come back.", "Connected again."]


async def test_without_patience_a_daemon_that_is_gone_is_an_error(fake: FakeDaemon) -> None:
    async with Client(fake.socket) as client:
        await anyio.to_thread.run_sync(fake.stop)
        with pytest.raises(UnreachableError):
            await Patience(client, Told().tell, limit_s=0).sure(client.people)
        await anyio.to_thread.run_sync(fake.start)


async def test_a_daemon_that_is_gone_may_be_started_again(fake: FakeDaemon) -> None:
    async def revive() -> None:
        await anyio.to_thread.run_sync(fake.start)

    async with Client(fake.socket) as client:
        await anyio.to_thread.run_sync(fake.stop)
        assert len(await Patience(client, Told().tell, revive=revive, revive_after_s=0).sure(client.people)) == 1


async def test_one_that_cannot_be_started_is_told_once_and_waited_for(fake: FakeDaemon) -> None:
    told = Told()

    async def revive() -> None:
        raise UnreachableError("socket", "the configuration is broken")

    async with Client(fake.socket) as client:
        await anyio.to_thread.run_sync(fake.stop)
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(Patience(client, told.tell, revive=revive, revive_after_s=0).sure, client.people)
            await until(lambda: len(told.texts) == 2)
            await anyio.to_thread.run_sync(fake.start)
    assert ["broken" in text for text in told.texts] == [False, True, False]


async def test_a_daemon_that_comes_back_soon_is_not_started_a_second_time(fake: FakeDaemon) -> None:
    async def revive() -> None:
        raise AssertionError

    told = Told()
    async with Client(fake.socket) as client:
        await anyio.to_thread.run_sync(fake.stop)
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(Patience(client, told.tell, revive=revive).sure, client.people)
            await until(lambda: told.texts)
            await anyio.to_thread.run_sync(fake.start)


async def test_a_connection_that_broke_while_the_daemon_goes_on_is_not_worth_a_word(fake: FakeDaemon) -> None:
    told = Told()
    async with Client(fake.socket) as client:
        await Patience(client, told.tell).wait(UnreachableError("socket", "it broke"))
    assert told.texts == []


async def test_a_refusal_is_no_matter_of_patience(fake: FakeDaemon) -> None:
    fake.canned["GET", "/v1/people"] = (403, {"title": "Not allowed", "detail": "Not you.", "hint": "Ask Ann."})
    async with Client(fake.socket) as client:
        with pytest.raises(ApiError) as raised:
            await Patience(client, Told().tell).sure(client.people)
    assert spoken(raised.value) == "Not you. Ask Ann."
