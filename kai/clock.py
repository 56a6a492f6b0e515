"""The two clocks: wall time for what people see and schedules, monotonic time for every limit."""

import time
from datetime import UTC, datetime
from typing import Protocol


class Clock(Protocol):
    """Time as an argument, so that a test can set it."""

    def now(self) -> datetime:
        """Aware UTC wall time."""
        ...

    def monotonic(self) -> float:
        """Seconds that never jump."""
        ...


class SystemClock:
    """The machine's own clocks."""

    def now(self) -> datetime:
        return datetime.now(UTC)

    def monotonic(self) -> float:
        return time.monotonic()


class ManualClock:
    """A clock that stands still until it is moved (tests, benchmarks)."""

    def __init__(self, start: datetime) -> None:
        self._now = start
        self._monotonic = 0.0

    def now(self) -> datetime:
        return self._now

    def monotonic(self) -> float:
        return self._monotonic

    def move(self, to: datetime, *, seconds: float = 0.0) -> None:
        """Set the wall clock (any jump) and advance the monotonic one by `seconds`."""
        self._now = to
        self._monotonic += seconds
