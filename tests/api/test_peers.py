"""What a process that connects belongs to is told once, and never by a pid that has passed to another."""

import os
import time

import anyio
import pytest

from kai.api.peers import Peer, run_of_peer
from kai.model.errors import DeniedError
from kai.model.ids import RunId

pytestmark = pytest.mark.anyio


def peer(uid: int) -> Peer:
    return Peer(uid, uid, os.getpid())


async def test_the_run_of_a_peer_is_looked_up_once() -> None:
    asked: list[int] = []

    def run_of(pid: int) -> RunId | None:
        asked.append(pid)
        return RunId("r-1")

    one = peer(1001)
    assert [await run_of_peer(one, run_of), await run_of_peer(one, run_of)] == ["r-1", "r-1"]
    assert asked == [os.getpid()]


async def test_a_peer_outside_of_every_run_belongs_to_none() -> None:
    assert await run_of_peer(peer(1001), lambda _: None) is None
    assert await run_of_peer(Peer(1001, 1001, 0), lambda _: RunId("r-1")) is None


async def test_a_peer_whose_process_is_gone_is_refused_as_its_run_cannot_be_told() -> None:
    gone = await anyio.open_process(["true"])
    await gone.wait()
    with pytest.raises(DeniedError, match="is gone"):
        await run_of_peer(Peer(1001, 1001, gone.pid), lambda _: None)


async def test_a_pid_that_another_process_has_by_now_tells_nothing() -> None:
    """The attack: connect, exit, and let the pid pass to a process outside of every run."""
    now = time.clock_gettime(time.CLOCK_BOOTTIME)
    later = await anyio.open_process(["sleep", "100"])
    try:
        assert await run_of_peer(Peer(1001, 1001, os.getpid(), now), lambda _: None) is None
        assert await run_of_peer(Peer(1001, 1001, later.pid, now + 5), lambda _: RunId("r-1")) == "r-1"
        with pytest.raises(DeniedError, match="is gone"):
            await run_of_peer(Peer(1001, 1001, later.pid, now - 5), lambda _: RunId("r-1"))
    finally:
        later.kill()
        await later.aclose()
