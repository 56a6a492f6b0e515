"""No more descriptors, processes or memory: what runs goes on, what cannot begin is refused, and it heals by itself."""

import os
import resource
import signal
import socket
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager, suppress
from pathlib import Path

import anyio
import pytest

from kai.model.errors import ApiError, UnreachableError
from tests.e2e.house import House
from tests.e2e.served import Process, end_of, say, served, until_said

pytestmark = [pytest.mark.anyio, pytest.mark.timeout(60)]
Seen = Callable[[str, object], None]
MIB = 1024 * 1024


@contextmanager
def group(controller: str, **limits: int) -> Iterator[Callable[[], object]]:
    """A control group of our own with these limits; gives what a process calls to join it."""
    own = {line.split(":")[1]: line.split(":")[2] for line in Path("/proc/self/cgroup").read_text().splitlines()}
    parent = Path(f"/sys/fs/cgroup/{controller}{own[controller]}") if controller in own else Path("/sys/fs/cgroup/none")
    folder = parent / f"kai-test-{os.getpid()}-{controller}"
    try:
        folder.mkdir()
    except OSError as error:
        pytest.skip(f"no {controller} group can be made here: {error}")
    try:
        for name, limit in limits.items():
            (folder / name.replace("__", ".")).write_text(f"{limit}\n")
        yield lambda: (folder / "cgroup.procs").write_text(f"{os.getpid()}\n")
    finally:
        with suppress(OSError):
            folder.rmdir()


async def test_no_more_descriptors(tmp_path: Path, record_property: Seen) -> None:
    house = House(tmp_path)
    few = 96
    limit = (resource.RLIMIT_NOFILE, (few, few))
    async with served(house, before=lambda: resource.setrlimit(*limit)) as (process, client):
        running = await say(client, "FAKE:slow=3000,0.01", "a")
        await until_said(client, running)
        refused = 0
        with ExitStack() as stack:
            for _ in range(60):
                peer = stack.enter_context(socket.socket(socket.AF_UNIX))
                with suppress(OSError):
                    peer.connect(str(house.folders.runtime / "people.sock"))
            for _ in range(5):
                try:
                    await client.status()
                except (ApiError, UnreachableError):
                    refused += 1
            assert process.poll() is None
            assert files(process) < few
        assert (await client.turn(running.turn or ""))["state"] == "running"
        await client.stop(running.turn or "")
        with anyio.fail_after(10):
            while True:
                with suppress(ApiError, UnreachableError):
                    done = await end_of(client, await say(client, "and now?", "b"))
                    break
        assert done["state"] == "done"
    told = f"60 idle peers at a limit of {few} files: the running turn goes on, {refused} asked in vain, heals"
    record_property("seen", told)


async def test_no_more_processes(tmp_path: Path, record_property: Seen) -> None:
    house = House(tmp_path)
    with group("pids") as join:
        async with served(house, before=join) as (process, client):
            running = await say(client, "FAKE:slow=3000,0.01", "a")
            await until_said(client, running)
            folder = await anyio.to_thread.run_sync(group_of, process, "pids")
            now = int((folder / "pids.current").read_text())
            await anyio.Path(folder / "pids.max").write_text(f"{now}\n")
            refused = await say(client, "hello", "b", thread="other")
            assert (await end_of(client, refused))["state"] == "failed"
            turn = await client.turn(refused.turn or "")
            assert turn["failure"] == "launch"
            assert (await client.turn(running.turn or ""))["state"] == "running"
            await anyio.Path(folder / "pids.max").write_text("max\n")
            again = await client.retry(refused.turn or "")
            with anyio.fail_after(15):
                async for event in client.events(again["turn"]):
                    if event["type"] == "end":
                        assert event["state"] == "done"
            await client.stop(running.turn or "")
    record_property("seen", f"failed (launch): {turn['reason'][:70]}…; the other turn goes on, the retry is answered")


async def test_no_more_memory(tmp_path: Path, record_property: Seen) -> None:
    house = House(tmp_path)
    with group("memory", memory__limit_in_bytes=300 * MIB) as join:
        async with served(house, before=join) as (process, client):
            running = await say(client, "FAKE:slow=3000,0.01", "a", thread="other")
            await until_said(client, running)
            guilty = await say(client, "FAKE:say=half FAKE:hog=600", "b")
            assert (await end_of(client, guilty, 40))["state"] == "failed"
            turn = await client.turn(guilty.turn or "")
            assert turn["failure"] == "memory", turn
            assert process.poll() is None
            assert (await client.turn(running.turn or ""))["state"] == "running"
            assert (await end_of(client, await say(client, "still there?", "c")))["state"] == "done"
            await client.stop(running.turn or "")
    record_property("seen", f"failed (memory): {turn['reason'][:60]}; daemon and the other turn go on")


async def test_a_bridge_that_never_reads(tmp_path: Path, record_property: Seen) -> None:
    house = House(tmp_path, yaml="queue: {per_channel: 1000}")
    async with served(house) as (process, client):
        head = b"GET /v1/deliveries HTTP/1.1\r\nhost: kai\r\n\r\n"
        before = rss(process)
        with socket.socket(socket.AF_UNIX) as stuck:
            stuck.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 2048)
            stuck.connect(str(house.folders.runtime / "people.sock"))
            stuck.sendall(head)
            slowest = 0.0
            for number in range(40):
                began = anyio.current_time()
                accepted = await say(client, "FAKE:long=200000", f"k{number}")
                assert (await end_of(client, accepted))["state"] == "done"
                slowest = max(slowest, anyio.current_time() - began)
            after = rss(process)
        assert after - before < 64 * MIB
        assert process.poll() is None
    grown = (after - before) // MIB
    record_property("seen", f"8 MB of answers unread: memory +{grown} MiB, slowest turn beside it {slowest:.1f} s")


def group_of(process: Process, controller: str) -> Path:
    lines = [line.split(":") for line in Path(f"/proc/{process.pid}/cgroup").read_text().splitlines()]
    return next(Path(f"/sys/fs/cgroup/{controller}{path}") for _, name, path in lines if name == controller)


def files(process: Process) -> int:
    return len(list(Path(f"/proc/{process.pid}/fd").iterdir()))


def rss(process: Process) -> int:
    return int(Path(f"/proc/{process.pid}/statm").read_text().split()[1]) * resource.getpagesize()


async def test_a_log_that_nobody_reads(tmp_path: Path, record_property: Seen) -> None:
    """What a stalled journald does: the pipe behind stderr is full."""
    house = House(tmp_path)
    reading, writing = os.pipe()
    os.set_blocking(writing, False)
    with suppress(BlockingIOError):
        while True:
            os.write(writing, b"x" * 4096)
    os.set_blocking(writing, True)
    try:
        async with served(house, stderr=writing) as (process, client):
            began = anyio.current_time()
            for number in range(20):
                accepted = await say(client, "hello", f"k{number}")
                assert (await end_of(client, accepted))["state"] == "done"
            seconds = anyio.current_time() - began
            assert process.poll() is None
            process.send_signal(signal.SIGTERM)
            with anyio.fail_after(10):
                assert await anyio.to_thread.run_sync(process.wait) == 0
    finally:
        os.close(reading)
        os.close(writing)
    record_property("seen", f"stderr full: starts, answers 20 turns in {seconds:.1f} s, ends; what is lost is counted")
