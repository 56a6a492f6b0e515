"""Stop: through the protocol where it can, within a bound, saying which step it took, keeping the session if it may."""

from dataclasses import dataclass

import anyio

from kai.log import log
from kai.model.ids import TurnId
from kai.model.states import TurnState
from kai.model.turns import Turn
from kai.store import channels, turns
from kai.store.binding import Connection
from kai.turns.parts import Parts
from kai.turns.runner import Runner

FINISH_S = 10.0  # from the agent's end until the turn is stored as stopped


@dataclass(frozen=True, slots=True)
class Stopped:
    """What a stop came to. `step` is "withdrawn", "held", "not sent", "interrupt", "eof", "term", "kill" or "ended"."""

    turn: TurnId
    state: TurnState
    step: str
    seconds: float
    session_kept: bool
    unstored: str = ""  # why its end is not stored yet

    @property
    def sentence(self) -> str:
        if self.step == "ended":
            return "It had ended already."
        kept = "the session is kept" if self.session_kept else "its session is gone"
        said = f"Stopped after {self.seconds:.1f} s ({self.step}); {kept}."
        return f"{said} It is stored as soon as that can be: {self.unstored}" if self.unstored else said


class Stopping:
    """Ends turns on request. A stop names its turn, so that it can never hit the next one."""

    def __init__(self, parts: Parts, runner: Runner) -> None:
        self._parts = parts
        self._runner = runner

    async def stop(self, turn: TurnId) -> Stopped:
        """Stop `turn`, whatever state it is in, and what it has delegated; return when all that has ended."""
        delegating = self._parts.delegating
        if not delegating.asks_for_some(turn):
            return await self._stop(turn)
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(delegating.end_children, self._parts, turn, "what asked for it was stopped")
            stopped = await self._stop(turn)
        return stopped  # noqa: RET504 - mypy takes no return within the group for an end

    async def _stop(self, turn: TurnId) -> Stopped:
        started = self._parts.clock.monotonic()
        running = self._runner.get(turn)
        if running is None:
            return await self.withdraw(turn)
        running.stop_asked = True
        step, kept = "not sent", running.held is not None
        if running.conversing and running.held is not None:
            report = await running.interrupt()
            step, kept = report.step, report.session_kept
        elif running.released is not None:
            step, kept = "held", self._parts.pool.get(running.turn.channel) is not None
            running.released.set()
        else:
            running.scope.cancel()
        with anyio.move_on_after(FINISH_S):
            await running.over.wait()
        unstored = "" if running.ended.is_set() else running.unstored
        stored = await self._parts.store.read(turns.get, turn)
        seconds = round(self._parts.clock.monotonic() - started, 3)
        log.info("turn.stopped", turn=turn, step=step, seconds=seconds, session_kept=kept)
        kept = kept and self._parts.pool.get(stored.channel) is not None
        if stored.state is TurnState.DONE:
            return Stopped(turn, stored.state, "ended", seconds, session_kept=kept)
        return Stopped(turn, stored.state, step, seconds, session_kept=kept, unstored=unstored)

    async def withdraw(self, turn: TurnId) -> Stopped:
        """End `turn` if it is still queued; one that runs or has ended is left alone."""
        stored, withdrawn = await self._parts.store.write(self._withdraw_queued, turn)
        if withdrawn:
            address = await self._parts.store.read(channels.address_of, stored.address)
            live = self._parts.live.begin(turn, address.bridge)
            self._parts.live.end(live, state=stored.state.value, text="", reason=stored.reason, failure=None)
            self._parts.live.bell(address.bridge).owe()
            self._parts.delegating.turn_ended(self._parts, turn)
        return Stopped(turn, stored.state, "withdrawn" if withdrawn else "ended", 0.0, session_kept=True)

    def _withdraw_queued(self, db: Connection, turn: TurnId) -> tuple[Turn, bool]:
        stored = turns.get(db, turn)
        if stored.state is not TurnState.QUEUED:
            return stored, False
        now = self._parts.clock.now()
        turns.move(db, turn, TurnState.STOPPED, now, reason="Withdrawn before it began.")
        return turns.get(db, turn), True
