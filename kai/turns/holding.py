"""A usage limit: the turn is held until it resets, what waits behind it waits on, and the person is told."""

from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING

import anyio

from kai.log import log
from kai.model.errors import FailureKind
from kai.model.states import TurnState
from kai.model.turns import DeliveryKind, NewDelivery, Outcome
from kai.store import deliveries, turns
from kai.store.binding import Connection
from kai.turns.fold import Fold
from kai.turns.parts import Parts

if TYPE_CHECKING:
    from kai.turns.runner import Running

BLIND_TRIES = 3  # while the provider names no time: so often, then the turn fails and says so
LOOK_EVERY_S = 30.0  # a wall clock that was set is noticed by then


def held_until(outcome: Outcome, now: datetime, *, blind_tries: int, wait_s: float) -> datetime | None:
    """When a turn that met a usage limit goes on; None when it is to end with `outcome`.

    What has said or done anything is never sent again by itself. `wait_s` is how long to wait where no time is named
    (0: not at all), `blind_tries` how often that was done.
    """
    if outcome.failure is not FailureKind.QUOTA or outcome.text.strip() or outcome.tool_lines:
        return None
    if outcome.resets_at is not None and outcome.resets_at > now:
        return outcome.resets_at
    return now + timedelta(seconds=wait_s) if wait_s and blind_tries < BLIND_TRIES else None


class Holding:
    """Waits for limits to pass. A held turn has no attempt in flight: a daemon that ends leaves it to the next."""

    def __init__(self, parts: Parts) -> None:
        self._parts = parts

    async def hold(self, running: "Running", outcome: Outcome, until: datetime) -> None:
        """Return when `until` has come or `running` is released."""
        parts, turn = self._parts, running.turn
        assert running.route is not None
        zone = parts.zones.get(running.route.person.zone or parts.zone, UTC)  # loaded for the block that was sent
        text = (
            f"{outcome.reason} Your message is held until {until.astimezone(zone):%Y-%m-%d %H:%M %Z} and goes on by "
            "itself; what you send meanwhile waits behind it. /backend changes the engine at once, /stop gives it up."
        )
        told = NewDelivery(turn.address, DeliveryKind.NOTICE, text, turn=turn.turn)
        await parts.store.write(self._keep, running, outcome.reason, told)
        log.info("turn.held", turn=turn.turn, until=until.isoformat(timespec="seconds"))
        running.dispatch, running.held, running.conversing = None, None, False
        running.live.fold = Fold()
        running.live.become(TurnState.HELD)
        running.live.add("notice", text=text)
        parts.live.bell(running.live.bridge).owe()
        running.released = anyio.Event()
        while (
            not (running.is_left or running.released.is_set())
            and (left_s := (until - parts.clock.now()).total_seconds()) > 0
        ):
            with anyio.move_on_after(min(left_s, LOOK_EVERY_S)):
                await running.released.wait()
        running.released = None

    def _keep(self, db: Connection, running: "Running", reason: str, told: NewDelivery) -> None:
        now = self._parts.clock.now()
        if running.dispatch is not None:
            turns.settle(db, running.dispatch, now)
        turns.move(db, running.turn.turn, TurnState.HELD, now, reason=reason)
        deliveries.owe(db, told, now)
