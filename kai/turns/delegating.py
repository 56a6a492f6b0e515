"""Work that one agent hands to another: begun, bounded in time, waited for; it never outlives who asked for it."""

from collections.abc import Awaitable, Callable
from typing import TYPE_CHECKING, Any

import anyio

from kai.log import log
from kai.model.errors import KaiError
from kai.model.ids import ChannelId, TurnId
from kai.model.memory import MemoryReceipt
from kai.model.work import Delegation
from kai.store import delegations
from kai.store.delegations import Bounds, Wanted

if TYPE_CHECKING:
    from kai.turns.parts import Parts


RETRY_S = 5.0  # until what could not be ended is ended again


class Delegating:
    """What runs of it in this process. `wake` and `stop` are set once there are lanes."""

    def __init__(self) -> None:
        self.wake: Callable[[ChannelId], None] = _nobody
        self.stop: Callable[[TurnId], Awaitable[Any]] = _nothing
        self._over: dict[TurnId, anyio.Event] = {}  # by the turn that does it; set once its end is stored
        self._parents: dict[TurnId, TurnId] = {}

    def parent_of(self, turn: TurnId) -> TurnId | None:
        return self._parents.get(turn)

    def receipts_of(self, parts: "Parts", turn: TurnId) -> list[MemoryReceipt]:
        """What memory did in a turn that ends; a child's stand below its parent's answer."""
        receipts = parts.receipts.pop(turn, [])
        if parent := self.parent_of(turn):
            parts.receipts.setdefault(parent, []).extend(receipts)
        return receipts

    def asks_for_some(self, turn: TurnId) -> bool:
        """Whether work of this turn's goes on."""
        return turn in self._parents.values()

    async def begin(self, parts: "Parts", parent: TurnId, wanted: Wanted) -> Delegation:
        """Raises `DelegationError`; then nothing was started."""
        delegate = parts.config.settings.delegate
        bounds = Bounds(
            delegate.depth, delegate.at_once, delegate.children, delegate.limit_s, ancestors=delegate.ancestors
        )
        made = await parts.store.write(delegations.begin, parent, wanted, bounds, parts.clock.now())
        self._keep_watch(parts, made, made.limit_s)
        self.wake(made.channel)
        log.info("work.delegated", delegation=made.delegation, turn=made.turn, parent=parent, depth=made.depth)
        return made

    async def go_on(self, parts: "Parts") -> None:
        """At a start: what a former daemon's agents work on is bounded as before."""
        for one in await parts.store.read(delegations.unfinished):
            spent = (parts.clock.now() - one.begun_at).total_seconds()
            self._keep_watch(parts, one, max(1.0, one.limit_s - spent))

    async def wait(self, turn: TurnId, limit_s: float) -> None:
        """Return once the turn has ended, or after `limit_s` seconds."""
        if (over := self._over.get(turn)) is not None:
            with anyio.move_on_after(limit_s):
                await over.wait()

    def turn_ended(self, parts: "Parts", turn: TurnId) -> None:
        """Any turn ended, and its end is stored: whoever waits for it goes on, and what it had delegated ends."""
        if (over := self._over.get(turn)) is not None:
            over.set()
        if self.asks_for_some(turn):
            parts.pool.later(self._end_later, parts, turn)

    async def end_children(self, parts: "Parts", turn: TurnId, why: str) -> None:
        """Stop all that a turn has delegated, and return when it has ended."""
        every = await parts.store.read(delegations.children, turn)
        going_on = [one for one in every if one.ended_at is None]
        await parts.store.write(delegations.why, [one.delegation for one in going_on], why)
        async with anyio.create_task_group() as stopping:
            for one in going_on:
                stopping.start_soon(self._stop, one)

    async def _end_later(self, parts: "Parts", turn: TurnId) -> None:
        try:
            await self.end_children(parts, turn, "what asked for it has ended")
        except KaiError as error:  # a full disk must not end the daemon; at their limit they are ended again
            log.warning("work.not_ended", turn=turn, problem=error.sentence)

    def _keep_watch(self, parts: "Parts", made: Delegation, limit_s: float) -> None:
        self._over[made.turn] = anyio.Event()
        self._parents[made.turn] = made.parent
        parts.pool.later(self._watch, parts, made, limit_s)

    async def _watch(self, parts: "Parts", made: Delegation, limit_s: float) -> None:
        """End it at its limit, and let go of its session when it is over."""
        over = self._over[made.turn]
        while not over.is_set():
            with anyio.move_on_after(limit_s):
                await over.wait()
                break
            log.warning("work.too_long", delegation=made.delegation, turn=made.turn, limit_s=made.limit_s)
            try:
                await parts.store.write(delegations.why, [made.delegation], f"it took longer than {made.limit_s:g} s")
                await self._stop(made)
            except KaiError as error:
                log.warning("work.not_ended", turn=made.turn, problem=error.sentence)
                limit_s = RETRY_S
        await parts.pool.close(made.channel, "its work is over")
        del self._over[made.turn], self._parents[made.turn]

    async def _stop(self, one: Delegation) -> None:
        await self.stop(one.turn)
        if (over := self._over.get(one.turn)) is not None:
            over.set()


def _nobody(_: ChannelId) -> None:
    """No lane is there yet."""


async def _nothing(_: TurnId) -> None:
    """Nothing runs yet."""
