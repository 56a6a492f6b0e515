"""A lane a channel: one turn at a time, in order; lanes run beside each other."""

from collections.abc import Awaitable, Callable
from typing import Generic, TypeVar

import anyio
from anyio.abc import TaskGroup

from kai.log import log
from kai.model.ids import ChannelId

T = TypeVar("T")  # a turn, with whatever was looked up along with it
RETRY_S = 1.0  # before a lane that met a fault of the store looks again


class Lanes(Generic[T]):
    """Runs queued turns. The store is the queue: a lane only remembers whether it is moving."""

    def __init__(
        self,
        tasks: TaskGroup,
        next_turn: Callable[[ChannelId], Awaitable[T | None]],
        run_turn: Callable[[T], Awaitable[None]],
    ) -> None:
        self._tasks = tasks
        self._next = next_turn
        self._run = run_turn
        self._moving: dict[ChannelId, bool] = {}  # value: there may be more than it knows of
        self._known: dict[ChannelId, T] = {}  # what comes next in a lane that is about to stand still
        self.open = True  # False: what runs goes on, nothing new begins

    def wake(self, channel: ChannelId, only: T | None = None, *, runs: bool = False) -> None:
        """Something is queued in `channel`: `only` when that is known to be all, so that nobody needs to look.

        One that `runs` as of its accept is no more found in the store's queue, and is seen through in any case.
        """
        if channel in self._moving:
            if runs and only is not None:
                self._known[channel] = only
            else:
                self._moving[channel] = True
        elif self.open or runs:
            self._moving[channel] = only is None
            self._tasks.start_soon(self._lane, channel, only)

    async def _lane(self, channel: ChannelId, turn: T | None) -> None:
        try:
            while turn is not None or (self.open and self._moving[channel]):
                await self._step(channel, turn)
                turn = self._known.pop(channel, None)
        finally:
            del self._moving[channel]

    async def _step(self, channel: ChannelId, turn: T | None) -> None:
        try:
            if turn is None:
                self._moving[channel] = False
                turn = await self._next(channel)
                self._moving[channel] |= turn is not None  # there may be more behind it
            if turn is not None:
                await self._run(turn)
        except Exception:  # noqa: BLE001 - the boundary of a lane: a full disk must neither end it nor take the others with it
            log.exception("lane.stuck", channel=channel)
            self._moving[channel] = True
            await anyio.sleep(RETRY_S)
