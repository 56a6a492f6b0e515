"""The daemon's ends of a run's pipes."""

import os
from pathlib import Path

import anyio
import pytest

from kai.processes.launcher import PIECE_BYTES
from kai.processes.pipes import ReadEnd, WriteEnd

pytestmark = pytest.mark.anyio


async def test_what_is_read_is_what_there_is_and_never_more_than_a_piece() -> None:
    far, near = os.pipe()[::-1]
    end = ReadEnd(near)
    os.write(far, b"abc")
    assert await end.read() == b"abc"
    os.set_blocking(far, False)
    os.write(far, bytes(PIECE_BYTES))
    assert await end.read() == bytes(PIECE_BYTES)
    os.close(far)
    assert await end.read() == b""
    end.close()
    end.close()
    assert await end.read() == b""


async def test_a_cancelled_read_loses_nothing() -> None:
    near, far = os.pipe()
    end = ReadEnd(near)
    os.write(far, b"kept")
    with anyio.CancelScope() as scope:
        scope.cancel()
        await end.read()
    assert await end.read() == b"kept"
    os.close(far)
    end.close()


async def test_what_fits_goes_without_a_wait_and_never_into_the_middle_of_anothers() -> None:
    near, far = os.pipe()
    reader, writer = ReadEnd(near), WriteEnd(far)
    assert writer.write_at_once(b"abc") == 3
    assert await reader.read() == b"abc"
    async with anyio.create_task_group() as group:
        group.start_soon(writer.write, bytes(PIECE_BYTES * 2))
        await anyio.wait_all_tasks_blocked()
        assert writer.write_at_once(b"x") == 0  # the pipe is full, and another's are on their way
        group.cancel_scope.cancel()
    writer.close()
    assert writer.write_at_once(b"x") == 0
    reader.close()


async def test_closing_wakes_whoever_waits() -> None:
    near, far = os.pipe()
    reader, writer = ReadEnd(near), WriteEnd(far)
    said: list[object] = []

    async def write() -> None:
        said.append(await writer.write(bytes(PIECE_BYTES * 2)))

    async with anyio.create_task_group() as group:
        group.start_soon(write)
        await anyio.wait_all_tasks_blocked()
        writer.close()
    assert said == [False]
    assert len(await reader.read()) == PIECE_BYTES
    assert await reader.read() == b""
    reader.close()
    assert await writer.write(b"x") is False
    writer.close()


async def test_a_closed_end_does_not_touch_the_next_file_of_that_number(tmp_path: Path) -> None:
    near, far = os.pipe()
    end = ReadEnd(near)
    end.close()
    other = os.open(tmp_path / "file", os.O_CREAT | os.O_RDWR)
    end.close()
    os.fstat(other)
    os.close(other)
    os.close(far)


async def test_nothing_to_write_is_written_at_once() -> None:
    near, far = os.pipe()
    end = WriteEnd(far)
    assert await end.write(b"") is True
    os.close(near)
    assert await end.write(b"x") is False
    end.close()
