"""Frames reach an agent whole and in order, whatever its pipe takes at once."""

from pathlib import Path
from typing import Any

import anyio
import pytest

from kai.model.errors import SessionBrokenError
from kai.model.ids import RunId
from kai.protocols.frames import Frames
from kai.protocols.wirefile import WireFile

pytestmark = pytest.mark.anyio


class Pipe:
    """Takes so many bytes at once, and the rest from a writer that waits."""

    def __init__(self, *takes: int) -> None:
        self.got = b""
        self.open = anyio.Event()
        self.is_gone = False
        self._takes = list(takes)

    def write_at_once(self, data: bytes) -> int:
        taken = min(len(data), self._takes.pop(0))
        self.got += data[:taken]
        return taken

    async def write(self, data: bytes) -> None:
        await self.open.wait()
        if self.is_gone:
            raise SessionBrokenError(RunId("r"), "it is gone")
        self.got += data


def frames(pipe: Any, failures: list[Exception]) -> Frames:
    return Frames(pipe, WireFile(Path("nowhere"), None), 5, failures.append)


async def test_what_the_pipe_takes_goes_at_once_and_the_rest_in_its_turn() -> None:
    pipe = Pipe(4, 2, 99)
    out = frames(pipe, [])
    out.send(b"one\n")
    assert pipe.got == b"one\n"
    out.send(b"two\n")
    out.send(b"three\n")  # not asked at once: it would overtake
    assert pipe.got == b"one\ntw"
    async with anyio.create_task_group() as tasks:
        tasks.start_soon(out.write)
        pipe.open.set()
        await anyio.wait_all_tasks_blocked()
        assert pipe.got == b"one\ntwo\nthree\n"
        out.send(b"four\n")
        assert pipe.got.endswith(b"three\nfour\n")
        tasks.cancel_scope.cancel()
    out.close()


async def test_a_pipe_that_is_gone_is_told_once_and_nothing_more_is_tried() -> None:
    pipe, failures = Pipe(0), list[Exception]()
    pipe.is_gone = True
    pipe.open.set()
    out = frames(pipe, failures)
    out.send(b"one\n")
    await out.write()
    assert [type(one) for one in failures] == [SessionBrokenError]
    out.send(b"two\n")
    assert pipe.got == b""
    out.close()
