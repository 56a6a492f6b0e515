"""The daemon's ends of a run's pipes: non-blocking, in pieces, so that nothing is held in memory for a slow peer."""

import os

import anyio
from anyio.lowlevel import checkpoint

from kai.processes.launcher import PIECE_BYTES


class ReadEnd:
    """One reader at a time. Owns its descriptor."""

    def __init__(self, descriptor: int) -> None:
        os.set_blocking(descriptor, False)
        self._descriptor: int | None = descriptor
        self._had_to_wait = False

    async def read(self) -> bytes:
        """The next 1 to 65,536 bytes; ``b""`` at the end of the stream and once this end is closed."""
        # Before the read: what was read is never lost to a cancellation. Without it a flood would leave no one a turn.
        if not self._had_to_wait:
            await checkpoint()
        self._had_to_wait = False
        while self._descriptor is not None:
            try:
                return os.read(self._descriptor, PIECE_BYTES)
            except BlockingIOError:
                self._had_to_wait = True
                try:
                    await anyio.wait_readable(self._descriptor)
                except anyio.ClosedResourceError:
                    break
        return b""

    def close(self) -> None:
        _close(self._descriptor)
        self._descriptor = None


class WriteEnd:
    """Any number of writers; each one's data goes out whole before the next one's. Owns its descriptor."""

    def __init__(self, descriptor: int) -> None:
        os.set_blocking(descriptor, False)
        self._descriptor: int | None = descriptor
        self._lock = anyio.Lock(fast_acquire=True)

    def write_at_once(self, data: bytes) -> int:
        """How many bytes of `data` went out without a wait; none while another's are on their way."""
        if self._descriptor is None or self._lock.locked():
            return 0
        try:
            return os.write(self._descriptor, data[:PIECE_BYTES])
        except (BlockingIOError, BrokenPipeError):
            return 0

    async def write(self, data: bytes) -> bool:
        """Write all of `data`. False when nobody can read it any more, or this end is closed."""
        rest = memoryview(data)
        async with self._lock:
            while rest and self._descriptor is not None:
                try:
                    written = os.write(self._descriptor, rest[:PIECE_BYTES])
                    rest = rest[written:]
                    await checkpoint()
                except BlockingIOError:
                    try:
                        await anyio.wait_writable(self._descriptor)
                    except anyio.ClosedResourceError:
                        return False
                except BrokenPipeError:
                    return False
        return not rest

    def close(self) -> None:
        _close(self._descriptor)
        self._descriptor = None


def _close(descriptor: int | None) -> None:
    if descriptor is not None:
        anyio.notify_closing(descriptor)  # whoever waits on it now is told; the number may soon be another file
        os.close(descriptor)
