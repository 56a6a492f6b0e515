"""What all tests stand on does what it says."""

import asyncio
import socket
from pathlib import Path

import anyio
import anyio.lowlevel
import pytest
from anyio.abc import SocketAttribute

pytestmark = pytest.mark.anyio


async def test_a_reader_that_is_cancelled_in_the_moment_of_its_data_fails_no_test(tmp_path: Path) -> None:
    """Kind of F: the test that killed a daemon at every point failed with InvalidStateError, once in many runs."""
    first, second = socket.socketpair()
    async with (
        await anyio.create_unix_listener(tmp_path / "s") as listener,
        await anyio.connect_unix(tmp_path / "s") as stream,
        await listener.accept() as peer,
        anyio.create_task_group() as tasks,
    ):
        loop, reading = asyncio.get_running_loop(), anyio.CancelScope()

        async def read() -> None:
            with reading:
                await stream.receive()

        loop.add_reader(first, reading.cancel)
        tasks.start_soon(read)
        await anyio.wait_all_tasks_blocked()
        second.send(b"x")  # both become readable in one turn of the loop, this one first
        peer.extra(SocketAttribute.raw_socket).send(b"y")
        while not reading.cancelled_caught:
            await anyio.lowlevel.checkpoint()
        loop.remove_reader(first)
    first.close()
    second.close()


async def test_any_other_fault_of_a_callback_still_fails_its_test() -> None:
    from anyio._backends._asyncio import TestRunner

    seen: list[BaseException] = []
    runner = TestRunner.__new__(TestRunner)
    runner._exceptions = seen
    loop = asyncio.get_running_loop()
    for error, handle in (
        (ZeroDivisionError(), "<Handle set_result>"),
        (asyncio.InvalidStateError(), "<Handle other>"),
    ):
        runner._exception_handler(loop, {"message": "x", "exception": error, "handle": handle})
    assert [type(one) for one in seen] == [ZeroDivisionError, asyncio.InvalidStateError]
