"""What Ctrl-C does: once it stops the turn, twice it leaves; at an empty prompt it says how to leave."""

import time
from collections.abc import Callable
from typing import Literal

AGAIN_S = 3.0  # so long after a stop a second one is still meant for that turn

HINT = "Ctrl-C once more leaves, and so does Ctrl-D."

Deed = Literal["stop", "leave", "clear", "hint"]


class Interrupts:
    """Remembers the last one. Whatever is sent between two of them makes the next one a first."""

    def __init__(self, now: Callable[[], float] = time.monotonic) -> None:
        self._now = now
        self._stopped = ""  # the turn that the last one stopped
        self._at_s = 0.0
        self._was_told = False

    def forget(self) -> None:
        """Something was sent."""
        self._stopped, self._was_told = "", False

    def deed(self, turn: str, *, has_text: bool) -> Deed:
        """What this one does; `turn` is the one that runs, "" when none does."""
        now_s = self._now()
        is_second = self._stopped and (turn == self._stopped or (not turn and now_s - self._at_s < AGAIN_S))
        if is_second or (self._was_told and not turn and not has_text):
            return "leave"
        self._was_told = False
        if turn:
            self._stopped, self._at_s = turn, now_s
            return "stop"
        if has_text:
            return "clear"
        self._was_told = True
        return "hint"
