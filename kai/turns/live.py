"""What is going on right now: the log of each running turn, and the bells that wake whoever waits for news."""

import math
from collections import deque
from collections.abc import AsyncIterator, Iterable
from typing import Any

import anyio

from kai.model.ids import TurnId
from kai.model.states import TurnState
from kai.model.turns import Delivery
from kai.turns.fold import Fold

ENDED_KEPT = 64  # logs of ended turns kept for whoever joins a moment too late


class Bell:
    """Wakes every waiter at once. A ring between two waits is not lost: a waiter gives the count it has seen."""

    def __init__(self) -> None:
        self.count = 0
        self.owed = 1  # how often something new was owed; from the start something may be
        self.waiting = 0  # listeners that stand still, with all that was owed in their hands
        self.handed: deque[Delivery] = deque()  # claimed for whoever listens
        self._rung: anyio.Event | None = None  # there while anybody waits for it
        self._owing: anyio.Event | None = None

    @property
    def is_heard(self) -> bool:
        """Somebody waits for it at this moment."""
        return self._rung is not None or self._owing is not None

    def owe(self) -> None:
        """There is a delivery to claim."""
        self.owed += 1
        if self._owing is not None:
            self._owing.set()
            self._owing = None
        self.ring()

    def hand(self, claimed: Iterable[Delivery]) -> None:
        """Give deliveries to one who listens; what nobody takes is found again by whoever joins."""
        self.handed.extend(claimed)
        if self._owing is not None:
            self._owing.set()
            self._owing = None
        self.ring()

    def ring(self) -> None:
        self.count += 1
        if self._rung is not None:
            self._rung.set()
            self._rung = None

    async def wait(self, seen: int, *, limit_s: float = math.inf) -> int:
        """Return the count once it differs from `seen`, or after `limit_s` seconds whatever it is."""
        if self.count == seen:
            event = self._rung = self._rung or anyio.Event()
            await self._until(event, limit_s)
        return self.count

    async def wait_owed(self, owed: int, *, limit_s: float) -> None:
        """Return once something else than `owed` is owed, however often it rings until then, or after `limit_s`."""
        if self.owed == owed:
            event = self._owing = self._owing or anyio.Event()
            await self._until(event, limit_s)

    async def _until(self, event: anyio.Event, limit_s: float) -> None:
        self.waiting += 1
        try:
            with anyio.move_on_after(limit_s):
                await event.wait()
        finally:
            self.waiting -= 1


class LiveTurn:
    """One running turn: its events as JSON-ready rows, appended once, read by any number of listeners."""

    def __init__(self, turn: TurnId, bridge: str, *, hidden: bool = False) -> None:
        self.turn = turn
        self.hidden = hidden  # its bridge is told of questions alone
        self.bridge = bridge
        self.state = TurnState.QUEUED
        self.fold = Fold()
        self.bell = Bell()
        self.rows: list[dict[str, Any]] = []
        self.ended = False

    @property
    def mark(self) -> int:
        """Differs whenever the turn looks different."""
        return len(self.rows)

    def add(self, kind: str, **fields: Any) -> None:
        self.rows.append({"type": kind, **fields})
        self.bell.ring()

    def become(self, state: TurnState) -> None:
        """Note a state that the store has already taken."""
        if state is not self.state:
            self.state = state
            self.add("state", state=state.value)

    def end(self, **fields: Any) -> None:
        self.ended = True
        self.add("end", **fields)

    async def listen(self) -> AsyncIterator[dict[str, Any]]:
        """Every row from the first, then each as it comes, up to and with ``end``."""
        place = 0
        while True:
            seen = self.bell.count
            while place < len(self.rows):
                place += 1
                yield self.rows[place - 1]
            if self.ended:
                return
            await self.bell.wait(seen)


class LiveTurns:
    """All turns that run in this process, and a bell for each bridge."""

    def __init__(self) -> None:
        self._turns: dict[TurnId, LiveTurn] = {}
        self._bells: dict[str, Bell] = {}

    def begin(self, turn: TurnId, bridge: str, *, hidden: bool = False) -> LiveTurn:
        live = self._turns.get(turn)
        if live is None or live.ended:
            live = self._turns[turn] = LiveTurn(turn, bridge, hidden=hidden)
        return live

    def get(self, turn: TurnId) -> LiveTurn | None:
        return self._turns.get(turn)

    def end(self, live: LiveTurn, **fields: Any) -> None:
        live.end(**fields)
        ended = [turn for turn, one in self._turns.items() if one.ended]
        for turn in ended[:-ENDED_KEPT]:
            del self._turns[turn]

    def forget(self, turn: TurnId) -> None:
        """Keep nothing of an ended turn."""
        if (live := self._turns.get(turn)) is not None and live.ended:
            del self._turns[turn]

    def of_bridge(self, bridge: str) -> list[LiveTurn]:
        return [live for live in self._turns.values() if live.bridge == bridge and not (live.ended or live.hidden)]

    @property
    def running(self) -> int:
        return sum(not live.ended for live in self._turns.values())

    def bell(self, bridge: str) -> Bell:
        """Rings when something new is owed to `bridge`, or one of its turns has moved."""
        return self._bells.setdefault(bridge, Bell())
