"""Time that a test sets."""

from datetime import datetime


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
