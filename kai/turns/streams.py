"""What goes out live: deliveries and progress for a bridge, the events of one turn."""

from collections.abc import AsyncGenerator
from typing import Any

from kai.model.ids import TurnId
from kai.model.states import ENDED_TURNS, TurnState
from kai.model.turns import Delivery, Progress
from kai.store import channels, deliveries
from kai.turns.live import LiveTurn
from kai.turns.parts import Parts
from kai.turns.views import View

PROGRESS_EVERY_S = 0.1  # a progress row carries the whole text: so often, and no oftener
LOOK_EVERY_S = 30.0  # a ring that was missed costs no more than this


class Streams:
    """Pull only: a bridge that does not read costs nothing but its claim."""

    def __init__(self, parts: Parts) -> None:
        self._parts = parts
        self.listeners = 0  # while anybody listens, an idle daemon does not leave

    async def deliveries(
        self, bridge: str, *, after: int | None, idempotent: bool
    ) -> AsyncGenerator[Delivery | Progress, None]:
        """What is owed to `bridge`, claimed as it goes out, with the progress of its turns in between. Endless."""
        clock = self._parts.clock
        self.listeners += 1
        try:
            for asked in await self._join(bridge, after, idempotent):
                yield asked
            bell = self._parts.live.bell(bridge)
            shown: dict[TurnId, int] = {}
            shown_at, claimed = 0.0, 0
            while True:
                seen = bell.count
                while bell.handed or claimed != bell.owed:
                    found, claimed = await self._owed(bridge, claimed)
                    for owed in found:
                        yield owed
                running = self._running(bridge, shown)
                if running and not shown:
                    shown_at = clock.monotonic()  # the first look comes in a moment: a quick turn is over by then
                    shown.update((live.turn, -1) for live in running)
                pause = shown_at + PROGRESS_EVERY_S - clock.monotonic()
                if running and pause <= 0:
                    shown_at = clock.monotonic()
                    for live in [live for live in running if shown.get(live.turn) != live.mark]:
                        shown[live.turn] = live.mark
                        yield Progress(live.turn, live.state.value, live.fold.text, live.fold.tools)
                if running and pause > 0:
                    await bell.wait_owed(claimed, limit_s=pause)
                else:
                    await bell.wait(seen, limit_s=LOOK_EVERY_S)
        finally:
            self.listeners -= 1

    async def _owed(self, bridge: str, claimed: int) -> tuple[tuple[Delivery, ...], int]:
        """What was handed over, or is claimed now; and up to what count all is claimed."""
        bell = self._parts.live.bell(bridge)
        if bell.handed:
            return (bell.handed.popleft(),), claimed
        owed = bell.owed  # a claim is a transaction: not one for every piece of progress
        # Nobody is promised a claim; one that a power cut takes back is followed by the same delivery.
        found = await self._parts.store.write_soft(deliveries.claim, bridge, self._parts.clock.now())
        numbered = sorted((*bell.handed, *found), key=lambda one: one.number)  # what was handed meanwhile is older
        bell.handed.clear()
        return tuple(numbered), 0 if len(found) == deliveries.CLAIM_LIMIT else owed  # 0: there may be more

    async def _join(self, bridge: str, after: int | None, idempotent: bool) -> tuple[Delivery, ...]:
        """Settle what was claimed, or handed to one who left; a question shown elsewhere is shown again, if it may."""
        self._parts.live.bell(bridge).handed.clear()
        await self._parts.store.write(deliveries.reclaim, bridge, after, idempotent, self._parts.clock.now())
        return await self._parts.store.read(deliveries.open_questions, bridge) if idempotent else ()

    def _running(self, bridge: str, shown: dict[TurnId, int]) -> list[LiveTurn]:
        """The running turns of `bridge`; those that ended are forgotten in `shown`."""
        running = self._parts.live.of_bridge(bridge)
        for turn in shown.keys() - {live.turn for live in running}:
            del shown[turn]
        return running

    async def events(self, view: View) -> AsyncGenerator[dict[str, Any], None]:
        """Every event of a turn from its first to ``end``. One that ended before: its end, from what is stored."""
        turn = TurnId(view["turn"])
        live = self._parts.live.get(turn)
        if live is None and TurnState(view["state"]) not in ENDED_TURNS:
            address = await self._parts.store.read(channels.address_of, view["address"])
            live = self._parts.live.begin(turn, address.bridge)
        if live is None:
            yield _end_of(view)
            return
        self.listeners += 1
        try:
            async for row in live.listen():
                yield row
        finally:
            self.listeners -= 1


def _end_of(view: View) -> dict[str, Any]:
    return {
        "type": "end",
        "state": view["state"].value,
        "text": view["answer_text"],
        "below": "",
        "reason": view["reason"],
        "failure": view["failure"].value if view["failure"] else None,
    }
