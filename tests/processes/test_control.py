"""The channel to the keeper of a run, with the test as the keeper."""

import socket

import anyio
import pytest

from kai.launcher.messages import BadMessageError, Exited, Gone, Message, Refused, Spawn, Spawned, Stat, Stats, encode
from kai.processes.control import Control

pytestmark = pytest.mark.anyio


class Keeper:
    def __init__(self) -> None:
        ours, self.channel = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        self.control = Control(ours)

    def say(self, message: Message) -> None:
        self.channel.send(encode(message))

    def close(self) -> None:
        self.control.close()
        self.channel.close()


@pytest.fixture
def keeper() -> Keeper:
    return Keeper()


async def test_the_last_message_of_each_kind_is_kept(keeper: Keeper) -> None:
    control = keeper.control
    for message in (Spawned("r-1", 5), Stats("r-1", 1.0, 1, 1), Stats("r-1", 2.0, 1, 1)):
        keeper.say(message)
    assert await control.until(lambda: control.last(Stats) is not None)
    assert control.last(Stats) == Stats("r-1", 2.0, 1, 1)
    assert control.last(Spawned) == Spawned("r-1", 5)
    assert control.last(Exited) is None
    control.forget(Spawned)
    assert control.last(Spawned) is None
    keeper.close()


async def test_what_was_said_before_an_abrupt_end_is_still_heard(keeper: Keeper) -> None:
    """A channel whose far end closed with our words unread first reports an error; the words behind it count."""
    keeper.say(Exited("r-1", 3, None))
    keeper.say(Gone("r-1"))
    keeper.control.tell(Stat("r-1"))
    keeper.channel.close()
    assert await keeper.control.until(lambda: keeper.control.last(Gone) is not None)
    assert keeper.control.last(Exited) == Exited("r-1", 3, None)
    assert await keeper.control.until(lambda: False) is False
    assert not keeper.control.is_open
    keeper.control.tell(Stat("r-1"))
    keeper.close()


async def test_a_cancelled_waiter_hands_over_to_the_next(keeper: Keeper) -> None:
    control = keeper.control
    heard: list[str] = []

    async def wait(name: str) -> None:
        if await control.until(lambda: control.last(Gone) is not None):
            heard.append(name)

    async with anyio.create_task_group() as rest:
        async with anyio.create_task_group() as first:
            first.start_soon(wait, "first")
            await anyio.wait_all_tasks_blocked()
            rest.start_soon(wait, "second")
            rest.start_soon(wait, "third")
            await anyio.wait_all_tasks_blocked()
            first.cancel_scope.cancel()
        keeper.say(Gone("r-1"))
    assert sorted(heard) == ["second", "third"]
    keeper.close()


async def test_a_wait_has_an_end_in_time_and_at_the_close(keeper: Keeper) -> None:
    assert await keeper.control.until(lambda: False, 0.01) is False
    async with anyio.create_task_group() as group:
        group.start_soon(keeper.control.until, lambda: False)
        await anyio.wait_all_tasks_blocked()
        keeper.close()
        keeper.close()


async def test_junk_is_passed_over(keeper: Keeper) -> None:
    keeper.channel.send(b"junk")
    keeper.say(Refused("r-1", "missing", "before the start: whoever waits for it raises it"))
    keeper.say(Spawned("r-1", 5))
    keeper.say(Refused("r-1", "denied", "after it: nobody waits, so it is logged"))
    keeper.say(Gone("r-1"))
    assert await keeper.control.until(lambda: keeper.control.last(Gone) is not None)
    keeper.close()


async def test_a_message_too_long_for_the_channel_is_an_error(keeper: Keeper, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("kai.launcher.messages.MAX_BYTES", 10_000_000)
    with pytest.raises(BadMessageError, match="do not fit"):
        keeper.control.tell(Spawn("r-1", ["x" * 5_000_000], {}, "/"))
    keeper.close()
