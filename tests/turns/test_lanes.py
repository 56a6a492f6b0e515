"""A lane a channel: in order within it, beside each other across them."""

from collections import defaultdict, deque
from collections.abc import Awaitable, Callable
from datetime import UTC, datetime

import anyio
import pytest

from kai.model.ids import AddressId, ChannelId, MessageId, PrincipalId, TurnId
from kai.model.states import TurnState
from kai.model.turns import Turn
from kai.turns import lanes as lanes_module
from kai.turns.lanes import Lanes

pytestmark = pytest.mark.anyio
A, B = ChannelId("c-a"), ChannelId("c-b")


def a_turn(channel: ChannelId, name: str) -> Turn:
    return Turn(
        TurnId(name),
        channel,
        MessageId("m"),
        PrincipalId("p"),
        AddressId("a"),
        TurnState.QUEUED,
        datetime(2026, 1, 1, tzinfo=UTC),
    )


class Queue:
    """The store as a lane sees it."""

    def __init__(self) -> None:
        self.waiting: dict[ChannelId, deque[Turn]] = defaultdict(deque)
        self.log: list[str] = []
        self.faults = 0

    async def next(self, channel: ChannelId) -> Turn | None:
        if self.faults:
            self.faults -= 1
            raise OSError("disk full")
        return self.waiting[channel].popleft() if self.waiting[channel] else None

    def runner(self, step: Callable[[], Awaitable[None]]) -> Callable[[Turn], Awaitable[None]]:
        async def run(turn: Turn) -> None:
            self.log.append(f"+{turn.turn}")
            await step()
            self.log.append(f"-{turn.turn}")

        return run


async def test_turns_of_a_channel_run_one_at_a_time_in_order() -> None:
    queue = Queue()
    queue.waiting[A].extend(a_turn(A, name) for name in "123")
    async with anyio.create_task_group() as tasks:
        lanes = Lanes(tasks, queue.next, queue.runner(anyio.lowlevel.checkpoint))
        for _ in range(5):
            lanes.wake(A)
    assert queue.log == ["+1", "-1", "+2", "-2", "+3", "-3"]


async def test_a_channel_does_not_wait_for_another() -> None:
    queue = Queue()
    queue.waiting[A].append(a_turn(A, "slow"))
    queue.waiting[B].append(a_turn(B, "quick"))
    release = anyio.Event()

    async def run(turn: Turn) -> None:
        if turn.turn == "slow":
            await release.wait()
        queue.log.append(turn.turn)
        release.set()

    async with anyio.create_task_group() as tasks:
        lanes = Lanes(tasks, queue.next, run)
        lanes.wake(A)
        lanes.wake(B)
    assert queue.log == ["quick", "slow"]


async def test_a_message_that_comes_while_the_lane_looks_is_not_left_lying() -> None:
    queue = Queue()

    async def next_turn(channel: ChannelId) -> Turn | None:
        turn = await queue.next(channel)
        if not queue.log:
            queue.waiting[A].append(a_turn(A, "1"))
            queue.log.append("came")
            lanes.wake(A)
        return turn

    async with anyio.create_task_group() as tasks:
        lanes = Lanes(tasks, next_turn, queue.runner(anyio.lowlevel.checkpoint))
        lanes.wake(A)
    assert queue.log == ["came", "+1", "-1"]


async def test_a_turn_that_is_known_to_be_the_only_one_needs_no_look_and_what_comes_behind_it_gets_one() -> None:
    queue, looks = Queue(), []

    async def next_turn(channel: ChannelId) -> Turn | None:
        looks.append(channel)
        return await queue.next(channel)

    async with anyio.create_task_group() as tasks:
        lanes = Lanes(tasks, next_turn, queue.runner(anyio.lowlevel.checkpoint))
        lanes.wake(A, a_turn(A, "1"))
    assert (queue.log, looks) == (["+1", "-1"], [])
    async with anyio.create_task_group() as tasks:
        lanes = Lanes(tasks, next_turn, queue.runner(anyio.lowlevel.checkpoint))
        lanes.wake(A, a_turn(A, "2"))
        queue.waiting[A].append(a_turn(A, "3"))
        lanes.wake(A, a_turn(A, "3"))
    assert queue.log == ["+1", "-1", "+2", "-2", "+3", "-3"]
    assert len(looks) == 2


async def test_a_turn_that_was_handed_over_and_could_not_be_run_is_looked_for_again(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(lanes_module, "RETRY_S", 0.01)
    queue = Queue()
    queue.waiting[A].append(a_turn(A, "1"))

    async def run(turn: Turn) -> None:
        queue.log.append(turn.turn)
        if len(queue.log) == 1:
            raise OSError("disk full")

    async with anyio.create_task_group() as tasks:
        Lanes(tasks, queue.next, run).wake(A, queue.waiting[A][0])
    assert queue.log == ["1", "1"]


async def test_a_fault_of_the_store_delays_a_lane_and_loses_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(lanes_module, "RETRY_S", 0.01)
    queue = Queue()
    queue.faults = 3
    queue.waiting[A].append(a_turn(A, "1"))
    async with anyio.create_task_group() as tasks:
        Lanes(tasks, queue.next, queue.runner(anyio.lowlevel.checkpoint)).wake(A)
    assert queue.log == ["+1", "-1"]


async def test_closed_lanes_begin_nothing_new() -> None:
    queue = Queue()
    queue.waiting[A].extend(a_turn(A, name) for name in "12")
    async with anyio.create_task_group() as tasks:
        lanes = Lanes(tasks, queue.next, queue.runner(anyio.lowlevel.checkpoint))
        lanes.wake(A)
        await anyio.lowlevel.checkpoint()
        lanes.open = False
    assert queue.log == ["+1", "-1"]


async def test_one_that_runs_already_is_seen_through_though_its_lane_is_still_moving_or_all_are_closed() -> None:
    queue = Queue()
    release = anyio.Event()
    async with anyio.create_task_group() as tasks:
        lanes = Lanes(tasks, queue.next, queue.runner(release.wait))
        lanes.wake(A, a_turn(A, "1"))
        await anyio.wait_all_tasks_blocked()
        lanes.wake(A, a_turn(A, "2"), runs=True)  # its accept came before the end of the one before was told here
        lanes.open = False
        lanes.wake(B, a_turn(B, "3"))
        lanes.wake(B, a_turn(B, "4"), runs=True)
        release.set()
    assert [one for one in queue.log if one[1] in "12"] == ["+1", "-1", "+2", "-2"]
    assert [one for one in queue.log if one[1] in "34"] == ["+4", "-4"]
