"""A turn in flight in a session: its contract, its caller's stream of events, and its limits in time."""

import asyncio
import math
from collections import deque
from collections.abc import AsyncIterator
from dataclasses import replace

import anyio

from kai.model.backends import Limits
from kai.model.errors import FailureKind
from kai.model.events import BackendEvent, Failed, Finished, Limit
from kai.model.ids import DispatchId
from kai.protocols.classify import Evidence, classify
from kai.protocols.turn import Turn

BUSY_SHARE = 0.15  # of a core: Claude uses 0.04 on average, at times 0.12, while it only waits for its provider


class Events:
    """The events of a turn for its caller, in order. What is there is taken without a pause: it came in one piece."""

    def __init__(self) -> None:
        self._waiting: deque[BackendEvent] = deque()
        self._news = anyio.Event()
        self._has_ended = False

    def __len__(self) -> int:
        """How many wait to be taken."""
        return len(self._waiting)

    def put(self, event: BackendEvent) -> None:
        self._waiting.append(event)
        self._news.set()

    def end(self) -> None:
        self._has_ended = True
        self._news.set()

    def __aiter__(self) -> AsyncIterator[BackendEvent]:
        return self

    async def __anext__(self) -> BackendEvent:
        while not self._waiting:
            if self._has_ended:
                raise StopAsyncIteration
            self._news = anyio.Event()
            await self._news.wait()
        return self._waiting.popleft()


class Running:
    """One object a turn, and so its own generation: what arrives for another one is never put into this one.

    `verdict` is kai's own reason to end it, which then stands whatever the agent says; `stopping`: it was asked to end.
    All times are monotonic seconds, given by the caller.
    """

    def __init__(self, dispatch: DispatchId, native_id: str, limits: Limits, now: float) -> None:
        self.dispatch = dispatch
        self.turn = Turn(limits, native_id)
        self.events = Events()
        self.verdict: Failed | None = None
        self.stopping = False
        self.done = anyio.Event()
        self.guard: asyncio.TimerHandle | None = None  # starts the watch on its limits, if it lasts
        self._limits = limits
        self._began = now
        self._life = now
        self._heard = False
        self._trouble = ""  # why the agent said that its provider keeps it waiting, when that was its last word

    def put(self, event: BackendEvent, *, process_gone: bool) -> None:
        """Pass what the driver saw on to the caller; after the last event the stream ends and `done` is set."""
        if isinstance(event, Finished | Failed):
            event = self._last_word(event, process_gone=process_gone)
        self._trouble = event.reason if isinstance(event, Limit) else ""
        for out in self.turn.take(event):
            self.events.put(out)
        if self.turn.end is not None:
            self.events.end()
            self.done.set()

    def _last_word(self, end: Finished | Failed, *, process_gone: bool) -> Finished | Failed:
        """The end as the caller gets it: kai's own reason first, then the wish to stop, then what the agent said."""
        if self.verdict is not None:
            return replace(self.verdict, session_lost=self.verdict.session_lost or process_gone)
        if self.stopping and isinstance(end, Failed):
            return Finished(stopped=True)
        return end

    # Limits in time

    def lives(self, now: float) -> None:
        """The run showed a sign of life."""
        self._life = now

    def hears(self, now: float) -> None:
        """The agent said something."""
        self._life, self._heard = now, True

    def pause_s(self, now: float) -> float:
        """Until a limit may be passed; often enough to see by the CPU whether work goes on in silence."""
        limits = self._limits
        quiet_s = limits.silence_s if self._heard else limits.first_output_s or limits.silence_s
        dues = (self._life + quiet_s - now, self._began + (limits.turn_s or math.inf) - now)
        return max(0.01, min(*dues, limits.silence_s / 4))

    def note_cpu(self, used_s: float, pause_s: float, now: float) -> None:
        """CPU that the tree used during a pause. It counts as life once the agent has said anything at all.

        A person who is asked is no silence of the agent's, either.
        """
        if self.turn.asking or (self._heard and used_s > BUSY_SHARE * pause_s):
            self._life = now

    def overdue(self, now: float) -> Failed | None:
        """The failure, when a limit is passed."""
        limits, quiet_s = self._limits, now - self._life
        if limits.turn_s and now - self._began >= limits.turn_s:
            return Failed(FailureKind.TIME, f"The turn took longer than {limits.turn_s:g} s.")
        if not self._heard and limits.first_output_s and quiet_s >= limits.first_output_s:
            return self._silence(f"in {limits.first_output_s:g} s")
        if (self._heard or not limits.first_output_s) and quiet_s >= limits.silence_s:
            return self._silence(f"for {limits.silence_s:g} s")
        return None

    def _silence(self, how_long: str) -> Failed:
        """What the agent last said of its provider is the cause, where it did."""
        sentence = f"The agent gave no sign of life {how_long}."
        if not self._trouble:
            return Failed(FailureKind.SILENT, sentence)
        kind = classify(Evidence(text=self._trouble)).kind
        passing = kind if kind in (FailureKind.QUOTA, FailureKind.LOGIN) else FailureKind.PROVIDER
        return Failed(passing, f"{self._trouble.rstrip('.')}. {sentence}", self._trouble)
