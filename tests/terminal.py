"""A program on a terminal of its own: what it prints can be waited for, and keys can be typed."""

import fcntl
import os
import pty
import re
import select
import signal
import struct
import sys
import termios
import time
from collections.abc import Mapping, Sequence
from types import TracebackType
from typing import Self

_ANSI = re.compile(r"\x1b\[[0-?]*[ -/]*[@-~]|\x1b[ -/]*[0-~]|\x1b\][^\x07\x1b]*(?:\x07|\x1b\\)")
LIMIT_S = 12.0


class OnTerminal:
    """Runs ``python ARGV`` on a new terminal. Leaving the context kills what is left of it."""

    def __init__(self, argv: Sequence[str], *, env: Mapping[str, str], rows: int = 40, columns: int = 100) -> None:
        self.raw = b""
        self.status: int | None = None
        self._pid, self._terminal = pty.fork()
        if self._pid == 0:
            os.execve(sys.executable, [sys.executable, *argv], dict(env))
        fcntl.ioctl(self._terminal, termios.TIOCSWINSZ, struct.pack("HHHH", rows, columns, 0, 0))

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self.status is None:
            os.kill(self._pid, signal.SIGKILL)
            os.waitpid(self._pid, 0)
        os.close(self._terminal)

    @property
    def text(self) -> str:
        """All that was printed, without what moves the cursor or colours."""
        return _ANSI.sub("", self.raw.decode(errors="replace")).replace("\r", "")

    def wait(self, wanted: str, *, times: int = 1) -> None:
        """Until `wanted` was printed so often."""
        deadline = time.monotonic() + LIMIT_S
        while self.text.count(wanted) < times:
            assert self._read(deadline), f"{wanted!r} did not come; there is:\n{self.text[-3000:]}"

    def type(self, keys: str) -> None:
        os.write(self._terminal, keys.encode())

    def leave(self) -> int:
        """The exit status, once the program has ended."""
        deadline = time.monotonic() + LIMIT_S
        while self._read(deadline):
            pass
        assert time.monotonic() < deadline, f"it did not end; there is:\n{self.text[-3000:]}"
        _, status = os.waitpid(self._pid, 0)
        self.status = os.waitstatus_to_exitcode(status)
        return self.status

    def _read(self, deadline: float) -> bool:
        if not select.select([self._terminal], [], [], max(0.0, deadline - time.monotonic()))[0]:
            return False
        try:
            piece = os.read(self._terminal, 65536)
        except OSError:  # the other side is closed
            piece = b""
        self.raw += piece
        return bool(piece)
