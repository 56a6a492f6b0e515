"""The live sessions: one a channel, bounded, the longest idle leaving first, never a busy one.

One whose agent works on after a turn's end is not idle either, for as long as a turn may take.
"""

import math
from collections.abc import Awaitable, Callable, Coroutine
from contextlib import AbstractAsyncContextManager
from dataclasses import dataclass, field
from typing import Any

import anyio
from anyio.abc import TaskGroup, TaskStatus

from kai.clock import Clock
from kai.log import log
from kai.model.ids import ChannelId, RunId
from kai.model.turns import SessionRow
from kai.protocols.session import Session
from kai.turns.live import Bell

Opener = Callable[[], AbstractAsyncContextManager[Session]]
OnEnd = Callable[["Live"], Awaitable[None]]


@dataclass(eq=False)
class Live:
    """A session and what it was started under. `owes_session_block`: the agent compacted its transcript."""

    row: SessionRow
    run: RunId
    session: Session
    closing: anyio.Event = field(default_factory=anyio.Event)
    closed: anyio.Event = field(default_factory=anyio.Event)
    busy: bool = False
    used_at: float = 0.0
    why_closed: str = ""
    owes_session_block: bool = False


class Pool:
    """Owns every live session. Each is hosted by a task of its own, so that it outlives the turn that opened it."""

    def __init__(self, tasks: TaskGroup, clock: Clock, *, on_end: OnEnd, max_live: int, idle_s: float) -> None:
        self._tasks = tasks
        self._clock = clock
        self._on_end = on_end
        self._live: dict[ChannelId, Live] = {}
        self._opening = 0
        self._room = Bell()
        self.max_live = max_live
        self.idle_s = idle_s
        self.ended: dict[ChannelId, str] = {}  # why the last session of a channel ended, until the next one says so

    def get(self, channel: ChannelId) -> Live | None:
        """The channel's session when it can take a prompt."""
        live = self._live.get(channel)
        return live if live is not None and not live.closing.is_set() and live.session.alive else None

    def every(self) -> list[Live]:
        return list(self._live.values())

    async def open(
        self, row: SessionRow, run: RunId, opener: Opener, *, on_wait: Callable[[], Awaitable[None]]
    ) -> Live:
        """Start a session for `row.channel`, after the old one is gone and there is room.

        `on_wait` is called once when every place is taken by a busy session. Raises what `opener` raises.
        """
        await self.close(row.channel, "replaced")
        await self._make_room(on_wait)
        self._opening += 1
        try:
            live: Live = await self._tasks.start(self._host, row, run, opener)
        finally:
            self._opening -= 1
            self._room.ring()
        return live

    async def _host(self, row: SessionRow, run: RunId, opener: Opener, *, task_status: TaskStatus[Live]) -> None:
        async with opener() as session:
            live = Live(row, run, session, used_at=self._clock.monotonic())
            self._live[row.channel] = live
            log.info("session.started", session=row.session, channel=row.channel, backend=row.backend)
            task_status.started(live)
            try:
                async with anyio.create_task_group() as watch:
                    watch.start_soon(self._watch, live)
                    await live.closing.wait()
                    watch.cancel_scope.cancel()
            finally:
                if self._live.get(row.channel) is live:
                    del self._live[row.channel]
        live.closed.set()
        self._room.ring()
        self.ended[row.channel] = live.why_closed
        log.info("session.ended", session=row.session, channel=row.channel, why=live.why_closed)
        await self._on_end(live)

    async def _watch(self, live: Live) -> None:
        """A process that ends by itself while idle leaves the pool at once."""
        await live.session.ended()
        self._let_go(live, "its process ended")

    @staticmethod
    def _let_go(live: Live, why: str) -> None:
        if not live.closing.is_set():
            live.why_closed = why
            live.closing.set()

    async def _make_room(self, on_wait: Callable[[], Awaitable[None]]) -> None:
        told = False
        while len(self._live) + self._opening >= self.max_live:
            idle = [live for live in self.every() if not live.busy and not await self._works_on(live)]
            if idle := [live for live in idle if not live.busy and not live.closed.is_set()]:
                oldest = min(idle, key=lambda live: live.used_at)
                self._let_go(oldest, "made room for another")
                await oldest.closed.wait()
                continue
            seen = self._room.count
            if not told:
                told = True
                await on_wait()
            await self._room.wait(seen, limit_s=5.0)

    def later(self, work: Callable[..., Coroutine[Any, Any, None]], *args: object) -> None:
        """Start something that outlives whoever asks for it."""
        self._tasks.start_soon(work, *args)

    def take(self, live: Live) -> None:
        """Mark it busy: it is not evicted."""
        live.busy = True

    def give_back(self, live: Live) -> None:
        live.busy = False
        live.used_at = self._clock.monotonic()
        self._room.ring()

    async def close(self, channel: ChannelId, why: str) -> None:
        """End the channel's session and return when nothing of it is left."""
        live = self._live.get(channel)
        if live is not None:
            self._let_go(live, why)
            await live.closed.wait()

    async def close_idle(self) -> None:
        """End what has been idle for `idle_s`."""
        now = self._clock.monotonic()
        for live in self.every():
            is_idle = not live.busy and now - live.used_at >= self.idle_s and not await self._works_on(live)
            if is_idle and not live.busy:  # it was not taken during that look
                await self.close(live.row.channel, "idle")

    async def is_at_work(self) -> bool:
        """Any agent works, in a turn or in the background."""
        return any([live.busy or await self._works_on(live) for live in self.every()])

    async def _works_on(self, live: Live) -> bool:
        """Its agent goes on with something in the background; after as long as a turn may take, that is idling."""
        idle_s = self._clock.monotonic() - live.used_at
        return idle_s < (live.session.limits.turn_s or math.inf) and await live.session.works()

    async def close_all(self, why: str) -> None:
        async with anyio.create_task_group() as closing:
            for live in self.every():
                closing.start_soon(self.close, live.row.channel, why)
