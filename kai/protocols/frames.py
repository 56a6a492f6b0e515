"""The frames on their way to an agent's stdin: in order, each whole, and at once where the pipe takes them."""

import math
from collections.abc import Callable
from contextlib import suppress

import anyio

from kai.model.errors import SessionBrokenError
from kai.processes.launcher import Run
from kai.protocols.wirefile import WROTE, WireFile
from kai.wire.record import Kind


class Frames:
    """`on_failure` hears why nothing more can be written: the pipe is gone, or took too long."""

    def __init__(self, run: Run, wire: WireFile, limit_s: float, on_failure: Callable[[Exception], None]) -> None:
        self._run = run
        self._wire = wire
        self._limit_s = limit_s
        self._on_failure = on_failure
        self._waiting = 0  # frames that the pipe did not take at once, or that stand behind one
        self._to_write, self._written = anyio.create_memory_object_stream[bytes](math.inf)

    def send(self, frame: bytes) -> None:
        """Write it now, or have it written when the pipe takes it."""
        self._wire.add(Kind.WRITTEN, frame)
        gone = 0 if self._waiting else self._run.write_at_once(frame)
        if gone == len(frame):
            self._wire.call(WROTE)
        else:
            self._waiting += 1
            with suppress(anyio.BrokenResourceError, anyio.ClosedResourceError):  # nobody is there to hear it
                self._to_write.send_nowait(frame[gone:])

    async def write(self) -> None:
        """Write what waits, for as long as the run lasts."""
        async for frame in self._written:
            try:
                with anyio.fail_after(self._limit_s):
                    await self._run.write(frame)
            except (SessionBrokenError, TimeoutError) as error:
                self._on_failure(error)
                return
            self._wire.call(WROTE)
            self._waiting -= 1

    def close(self) -> None:
        self._to_write.close()
        self._written.close()
