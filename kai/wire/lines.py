"""Cuts a stream of bytes into lines: at 0x0A only, however the chunks fall, with a bound on memory."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Overlong:
    """A line grew past the bound and is dropped up to its newline; reported once, when it passed the bound."""

    size_bytes: int


class LineFramer:
    """Feed it chunks, get lines without their newline (and without one ``\\r`` before it).

    ``str.splitlines`` would cut inside JSON strings at U+2028, U+0085 and others; a byte 0x0A is never part of another
    character in UTF-8, so cutting bytes is safe at any chunk border.
    """

    def __init__(self, max_bytes: int) -> None:
        self._max_bytes = max_bytes
        self._parts: list[bytes] = []
        self._size = 0
        self._skipping = False

    def feed(self, chunk: bytes) -> list[bytes | Overlong]:
        """The lines that `chunk` completes, in order."""
        lines: list[bytes | Overlong] = []
        *ends, rest = chunk.split(b"\n")
        for end in ends:
            self._add(end, lines)
            if not self._skipping:
                lines.append(self._take())
            self._skipping, self._size = False, 0
        self._add(rest, lines)
        return lines

    def finish(self) -> bytes | None:
        """The unterminated rest at the end of the stream, None when there is none."""
        return self._take() if self._parts else None

    def _add(self, piece: bytes, lines: list[bytes | Overlong]) -> None:
        if self._skipping or not piece:
            return
        self._size += len(piece)
        if self._size > self._max_bytes:
            self._skipping = True
            self._parts.clear()
            lines.append(Overlong(self._size))
        else:
            self._parts.append(piece)

    def _take(self) -> bytes:
        line = b"".join(self._parts).removesuffix(b"\r")
        self._parts.clear()
        self._size = 0
        return line
