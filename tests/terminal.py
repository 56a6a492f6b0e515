"""A program on a terminal of its own: what stands on it can be waited for, and keys can be typed."""

import codecs
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

LIMIT_S = 15.0
_TOKEN = re.compile(
    r"\x1b\[([0-?]*)[ -/]*([@-~])|\x1b\][^\x07\x1b]*(?:\x07|\x1b\\)|\x1b[ -/]*[0-~]|[\x00-\x1f]|[^\x00-\x1f]+"
)


class Paper:
    """What stands on a terminal after all that was written to it, scrollback included."""

    def __init__(self, columns: int) -> None:
        self._columns = columns
        self._lines: list[list[str]] = [[]]
        self._row = self._column = 0
        self._wraps = True
        self._rest = ""

    @property
    def text(self) -> str:
        return "\n".join("".join(line).rstrip() for line in self._lines)

    def write(self, text: str) -> None:
        text = self._rest + text
        end = text.rfind("\x1b", max(0, len(text) - 32))
        if end >= 0 and not _TOKEN.fullmatch(text, end) and "\n" not in text[end:]:
            found = _TOKEN.match(text, end)
            end = len(text) if found and found.end() - end > 1 else end
        else:
            end = len(text)
        self._rest = text[end:]
        for found in _TOKEN.finditer(text[:end]):
            self._token(found)

    def _token(self, found: re.Match[str]) -> None:
        sign = found.group()
        if found.group(2):
            self._control(found.group(1), found.group(2))
        elif sign == "\r":
            self._column = 0
        elif sign == "\n":
            self._down(1)
        elif sign == "\b":
            self._column = max(0, self._column - 1)
        elif sign[0] >= " ":
            for one in sign:
                self._put(one)

    def _control(self, given: str, name: str) -> None:
        count = int(given) if given.isdigit() else 1
        line = self._lines[self._row]
        match name:
            case "A":
                self._row = max(0, self._row - count)
            case "B":
                self._down(count)
            case "C":
                self._column = min(self._columns - 1, self._column + count)
            case "D":
                self._column = max(0, self._column - count)
            case "J":
                del line[self._column :], self._lines[self._row + 1 :]
            case "K" if given == "2":
                line.clear()
            case "K":
                del line[self._column :]
            case "h" | "l" if given == "?7":
                self._wraps = name == "h"

    def _down(self, count: int) -> None:
        self._row += count
        self._lines += [[] for _ in range(self._row + 1 - len(self._lines))]

    def _put(self, sign: str) -> None:
        if self._column >= self._columns:
            if self._wraps:
                self._down(1)
                self._column = 0
            else:
                self._column = self._columns - 1
        line = self._lines[self._row]
        line += " " * (self._column + 1 - len(line))
        line[self._column] = sign
        self._column += 1


class OnTerminal:
    """Runs ``python ARGV`` on a new terminal. Leaving the context kills what is left of it."""

    def __init__(self, argv: Sequence[str], *, env: Mapping[str, str], rows: int = 40, columns: int = 100) -> None:
        self.status: int | None = None
        self._paper = Paper(columns)
        self._decoder = codecs.getincrementaldecoder("utf-8")("replace")
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
        """What stands there now, from the first line to the last."""
        return self._paper.text

    def wait(self, wanted: str) -> None:
        """Until `wanted` stands there."""
        deadline = time.monotonic() + LIMIT_S
        while wanted not in self.text:
            assert self._read(deadline), f"{wanted!r} did not come; there stands:\n{self.text[-3000:]}"

    def type(self, keys: str) -> None:
        self.type_bytes(keys.encode())

    def type_bytes(self, keys: bytes) -> None:
        os.write(self._terminal, keys)

    def leave(self) -> int:
        """The exit status, once the program has ended."""
        deadline = time.monotonic() + LIMIT_S
        while self._read(deadline):
            pass
        assert time.monotonic() < deadline, f"it did not end; there stands:\n{self.text[-3000:]}"
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
        self._paper.write(self._decoder.decode(piece))
        return bool(piece)
