"""The direct launcher: what every launcher keeps, and what only this one promises."""

import json
import os
import resource
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import anyio
import pytest

from kai.model.errors import LaunchError
from kai.model.ids import RunId
from kai.processes.direct import DirectLauncher
from tests.processes.conformance import SH, Conformance, Start, spec
from tests.processes.seen import descriptors, eventually, is_alive, own_children, pids_in

pytestmark = pytest.mark.anyio
ROOT = Path(__file__).resolve().parents[2]


class Daemon:
    """Another daemon, in a process that may be killed."""

    def __init__(self, command: str, folder: Path, *, hold_s: float = 0.0, **more: Any):
        self.process = subprocess.Popen(
            [sys.executable, "-m", "tests.processes.daemon", str(hold_s), command],
            env={**os.environ, "PYTHONPATH": str(ROOT)},
            cwd=folder,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
            **more,
        )
        self.first = self.hear()

    def hear(self) -> dict[str, Any]:
        assert self.process.stdout
        line = self.process.stdout.readline()
        return dict(json.loads(line)) if line else {}

    def ask(self, word: str) -> dict[str, Any]:
        assert self.process.stdin
        self.process.stdin.write(word + "\n")
        self.process.stdin.flush()
        return self.hear()

    def kill(self) -> None:
        self.process.kill()
        self.process.communicate()


@contextmanager
def daemon(command: str, folder: Path, **more: Any) -> Iterator[Daemon]:
    one = Daemon(command, folder, **more)
    try:
        yield one
    finally:
        if one.process.poll() is None:
            one.process.communicate("close\n", timeout=15)


ESCAPED = "setsid sleep 1000 & echo $! > escaped; (sleep 1000 & echo $! > child); echo $$ > leader; exec sleep 1000"


class TestDirect(Conformance):
    @pytest.fixture
    def launcher(self) -> DirectLauncher:
        return DirectLauncher()

    async def test_a_killed_keeper_takes_the_leader_along_and_the_mark_finds_the_rest(
        self, start: Start, tmp_path: Path
    ) -> None:
        run = await start(*SH, ESCAPED, cwd=str(tmp_path))
        await eventually(lambda: len(pids_in(tmp_path)) == 3)
        pids = pids_in(tmp_path)
        os.kill(parent_of(run.pid), signal.SIGKILL)
        end = await run.wait()
        assert (end.code, end.signal) == (None, signal.SIGKILL)
        await eventually(lambda: not is_alive(pids["leader"]))
        assert await run.kill_tree() == 2
        assert not any(map(is_alive, pids.values()))

    async def test_a_keeper_that_hangs_does_not_keep_the_tree_alive(
        self, start: Start, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setattr("kai.processes.kept._ANSWER_S", 0.1)
        run = await start(*SH, ESCAPED, cwd=str(tmp_path))
        await eventually(lambda: len(pids_in(tmp_path)) == 3)
        os.kill(parent_of(run.pid), signal.SIGSTOP)
        assert (await run.stats()).processes == 0, "it cannot tell, and nobody waits for ever"
        await run.kill_tree()
        assert not any(map(is_alive, pids_in(tmp_path).values()))

    @pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT, signal.SIGHUP, signal.SIGQUIT])
    async def test_a_keeper_that_is_told_to_end_ends_the_tree_first(
        self, start: Start, tmp_path: Path, number: int
    ) -> None:
        run = await start(*SH, ESCAPED, cwd=str(tmp_path))
        await eventually(lambda: len(pids_in(tmp_path)) == 3)
        os.kill(parent_of(run.pid), number)
        assert (await run.wait()).signal == signal.SIGKILL
        assert await run.kill_tree() == 3
        assert not any(map(is_alive, pids_in(tmp_path).values()))

    async def test_a_keeper_is_deaf_to_every_other_signal(self, start: Start) -> None:
        run = await start("/bin/cat")
        for number in signal.valid_signals() - {
            *(signal.SIGKILL, signal.SIGSTOP, signal.SIGTERM, signal.SIGINT, signal.SIGHUP, signal.SIGQUIT),
            *(signal.SIGSEGV, signal.SIGBUS, signal.SIGFPE, signal.SIGILL, signal.SIGABRT),
        }:
            os.kill(parent_of(run.pid), number)
        await run.write(b"still here")
        assert await run.read() == b"still here"
        assert (await run.stats()).processes == 1

    async def test_keyboard_interrupts_of_the_terminal_do_not_reach_the_run(self, start: Start) -> None:
        run = await start("/bin/cat")
        assert os.getsid(parent_of(run.pid)) not in (os.getsid(0), run.pid)


async def test_a_killed_daemon_takes_its_runs_along_within_a_second(tmp_path: Path) -> None:
    """Kind of F26: agents do not go on without the daemon that would have answered for them."""
    one = await anyio.to_thread.run_sync(Daemon, ESCAPED, tmp_path)
    await eventually(lambda: len(pids_in(tmp_path)) == 3)
    one.kill()
    seconds = await eventually(lambda: not any(map(is_alive, pids_in(tmp_path).values())))
    assert seconds < 1.0
    assert one.first["pid"] == pids_in(tmp_path)["leader"]


async def test_a_held_run_goes_on_for_as_long_as_it_may(tmp_path: Path) -> None:
    one = await anyio.to_thread.run_sync(lambda: Daemon(ESCAPED, tmp_path, hold_s=0.7))
    await eventually(lambda: len(pids_in(tmp_path)) == 3)
    one.kill()
    killed_at = time.monotonic()
    await eventually(lambda: not any(map(is_alive, pids_in(tmp_path).values())))
    assert 0.6 < time.monotonic() - killed_at < 5.0


async def test_a_keeper_that_cannot_start_is_an_error_with_its_last_words(tmp_path: Path) -> None:
    python = tmp_path / "python"
    python.write_text("#!/bin/sh\necho 'no module named os' >&2\nexit 1\n")
    python.chmod(0o700)
    before = descriptors(), own_children()
    with pytest.raises(LaunchError, match="no module named os"):
        await DirectLauncher(python=str(python)).spawn(spec("/bin/true"))
    with pytest.raises(LaunchError, match="no room for another process"):
        await DirectLauncher(python="/nowhere").spawn(spec("/bin/true"))
    assert (descriptors(), own_children()) == before


async def test_too_many_open_files_are_an_error_and_leave_nothing() -> None:
    """Kind of F20: at whatever descriptor the room ends, what was opened before it is closed."""
    await anyio.to_thread.run_sync(lambda: None)
    before = descriptors(), own_children()
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    reasons = set()
    for room in range(14):
        resource.setrlimit(resource.RLIMIT_NOFILE, (len(before[0]) + 3 + room, hard))
        try:
            run = await DirectLauncher().spawn(spec("/bin/true"))
            await run.aclose()
        except LaunchError as error:
            reasons.add(error.reason)
        finally:
            resource.setrlimit(resource.RLIMIT_NOFILE, (soft, hard))
        assert (descriptors(), own_children()) == before
    assert any("Too many open files" in reason for reason in reasons)


async def test_another_user_is_refused() -> None:
    for user in ("daemon" if os.geteuid() else "nobody", "no-such-user"):
        with pytest.raises(LaunchError, match=f"as {user}"):
            await DirectLauncher().spawn(spec("/bin/true", user=user))
    with pytest.raises(LaunchError, match="no program"):
        await DirectLauncher().spawn(spec())


async def test_a_claim_is_refused_with_a_sentence() -> None:
    with pytest.raises(LaunchError, match="keeps no run for a later daemon"):
        await DirectLauncher().claim(RunId("r-x"), [])
    assert DirectLauncher().name == "direct"


def test_an_out_of_memory_kill_is_told_apart(tmp_path: Path) -> None:
    """Kind of F22: whoever decides on a retry has to know that memory was the reason."""
    with memory_group(64 * 1024 * 1024) as join:
        hog = f"exec {sys.executable} -I -S -c 'x = bytearray(200 << 20)'"
        with daemon(hog, tmp_path, preexec_fn=join) as one:
            assert one.ask("wait") == {"code": None, "signal": signal.SIGKILL, "out_of_memory": True}
        with daemon("kill -9 $$", tmp_path, preexec_fn=join) as one:
            assert one.ask("wait") == {"code": None, "signal": signal.SIGKILL, "out_of_memory": False}


@contextmanager
def memory_group(limit_bytes: int) -> Iterator[Any]:
    """A control group of our own; gives what a child calls to join it. Skips where none can be made."""
    groups = dict(line.split(":", 2)[1:] for line in Path("/proc/self/cgroup").read_text().splitlines())
    if "memory" in groups:
        folder, limit = Path(f"/sys/fs/cgroup/memory{groups['memory']}"), "memory.limit_in_bytes"
    else:
        folder, limit = Path(f"/sys/fs/cgroup{groups.get('', '/')}"), "memory.max"
    group = folder / f"kai-test-{os.getpid()}"
    try:
        group.mkdir()
        (group / limit).write_text(str(limit_bytes))
    except OSError:
        if group.is_dir():
            group.rmdir()
        pytest.skip("no memory group can be made here")
    try:
        yield lambda: (group / "cgroup.procs").write_text("0")
    finally:
        for _ in range(500):
            try:
                group.rmdir()
                break
            except OSError:
                time.sleep(0.01)


def parent_of(pid: int) -> int:
    return int(Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[1])
