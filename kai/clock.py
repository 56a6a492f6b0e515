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
