"""A run and its keeper, with the test as the keeper."""

import os
import socket

import anyio
import pytest

from kai.launcher.messages import Stat, Stats, decode, encode
from kai.model.ids import RunId
from kai.processes.control import Control
from kai.processes.kept import KeptRun
from kai.processes.launcher import Stats as Told
from tests.protocols.agents import until

pytestmark = pytest.mark.anyio


class NoKeeper:
    """There is no process behind the channel."""

    async def end(self, grace_s: float) -> None: ...

    def kill_left(self, run: RunId) -> int:
        return 0


async def test_who_asks_how_a_run_is_gets_no_answer_that_was_given_before() -> None:
    """Two looks at once: what a tool left running since the first must be in the answer to the second."""
    ours, keeper = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
    pipes = [os.open(os.devnull, os.O_RDWR) for _ in range(3)]
    run = KeptRun(RunId("r-1"), Control(ours), NoKeeper(), pipes)
    told: list[Told] = []

    async def ask() -> None:
        told.append(await run.stats())

    async with anyio.create_task_group() as looks:
        looks.start_soon(ask)
        looks.start_soon(ask)
        await anyio.wait_all_tasks_blocked()
        keeper.send(encode(Stats("r-1", 1.0, 1, 1)))
        await until(lambda: bool(told))
        assert [stats.processes for stats in told] == [1]
        keeper.send(encode(Stats("r-1", 1.0, 2, 1, ["7 0.10 sleep"])))
    assert [stats.processes for stats in told] == [1, 2]
    assert told[1].apart == {"7 0.10 sleep"}
    assert [decode(keeper.recv(4096)) for _ in told] == [Stat("r-1"), Stat("r-1")]
    await run.aclose()
    keeper.close()
