"""A client of sockets and bytes only, the same for kai and for the baseline: what it costs is no part of a ratio."""

import socket
from pathlib import Path
from types import TracebackType
from typing import Self

_LIMIT_S = 30.0
_PIECE_BYTES = 65_536
_END_OF_HEAD = b"\r\n\r\n"


class RawError(Exception):
    """The other side said something that no measurement can stand on."""


class Connection:
    """One HTTP/1.1 connection to a unix socket; either requests and answers, or one stream of events."""

    def __init__(self, path: Path, *, headers: bytes = b"") -> None:
        """`headers` go along with each request, each line with its CRLF. Raises `OSError` when nobody listens."""
        self._headers = headers
        self._rest = b""
        self._socket = socket.socket(socket.AF_UNIX)
        self._socket.settimeout(_LIMIT_S)
        try:
            self._socket.connect(str(path))
        except OSError:
            self._socket.close()
            raise

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._socket.close()

    def send(self, method: str, target: str, body: bytes = b"") -> None:
        """Send a request; its answer is to be taken with `answer`, or with `until` when it is a stream."""
        head = f"{method} {target} HTTP/1.1\r\nhost: kai\r\ncontent-length: {len(body)}\r\n".encode()
        kind = b"content-type: application/json\r\n" if body else b""
        self._socket.sendall(head + kind + self._headers + b"\r\n" + body)

    def answer(self) -> bytes:
        """The body of the next answer. Raises `RawError` for one that is no success."""
        head, _, body = self.until(_END_OF_HEAD).partition(_END_OF_HEAD)
        lines = head.lower().split(b"\r\n")
        size = next((int(line.partition(b":")[2]) for line in lines if line.startswith(b"content-length:")), 0)
        self._rest = body + self._rest
        while len(self._rest) < size:
            self._rest += self._receive()
        body, self._rest = self._rest[:size], self._rest[size:]
        if lines[0].split()[1][:1] != b"2":
            raise RawError(f"{head.decode(errors='replace')}\n{body.decode(errors='replace')}")
        return body

    def ask(self, method: str, target: str, body: bytes = b"") -> bytes:
        """A request and its answer."""
        self.send(method, target, body)
        return self.answer()

    def until(self, mark: bytes) -> bytes:
        """All that came up to and with `mark`."""
        while (at := self._rest.find(mark)) < 0:
            self._rest += self._receive()
        at += len(mark)
        found, self._rest = self._rest[:at], self._rest[at:]
        return found

    def event(self, mark: bytes) -> bytes:
        """All that came up to and with the whole event that holds `mark`."""
        return self.until(mark) + self.until(b"\n\n")

    def _receive(self) -> bytes:
        piece = self._socket.recv(_PIECE_BYTES)
        if not piece:
            raise RawError(f"the connection ended after {self._rest[-500:]!r}")
        return piece
