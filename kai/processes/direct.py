"""Runs as the daemon's own user: each below a small process of its own that keeps its tree (`kai.launcher.keeper`)."""

import os
import pwd
import signal
import socket
import subprocess
import sys

import anyio
from anyio.to_thread import run_sync

from kai.launcher import messages
from kai.log import log
from kai.model.errors import FailureKind, LaunchError, SessionBrokenError
from kai.model.ids import RunId
from kai.processes.control import Control
from kai.processes.launcher import Exit, LaunchSpec, Stats, TreeAliveError
from kai.processes.marks import kill_marked
from kai.processes.pipes import ReadEnd, WriteEnd
from kai.resources import module_file

_START_S = 15.0  # a loaded machine may take seconds to start a Python
_ANSWER_S = 8.0  # longer than a keeper tries to end a tree
_HANGS_S = 0.2  # how long a keeper that did not answer may still take to end


class Keeper:
    """The keeper's process, a child of ours: its end is seen on a descriptor, so no child watcher is in the way."""

    def __init__(self, python: str, pipes: list[int], control: int) -> None:
        """Start it with three `pipes` for the agent and its end of the `control` channel. Blocks. Raises `OSError`."""
        # Not tied to us by a parent-death signal: that follows the thread which forks, and threads come and go.
        self._process = subprocess.Popen(
            [python, "-I", "-S", str(module_file("launcher/shim.py")), str(control)],
            stdin=pipes[0],
            stdout=pipes[1],
            stderr=pipes[2],
            pass_fds=[control],
            cwd="/",
            env={name: value for name, value in os.environ.items() if name == "LD_LIBRARY_PATH"},
            start_new_session=True,
        )
        try:
            self._end = os.pidfd_open(self._process.pid)
        except OSError:
            self._process.kill()
            self._process.wait()
            raise

    async def end(self, grace_s: float) -> None:
        """Return when it has ended and been collected; after `grace_s` it is killed, and with it the leader."""
        if self._process.returncode is not None:
            return
        with anyio.move_on_after(grace_s) as grace:
            await anyio.wait_readable(self._end)
        if grace.cancelled_caught:
            self._process.kill()
            await anyio.wait_readable(self._end)
        self._process.wait()
        os.close(self._end)


class DirectRun:
    """A run below a keeper."""

    def __init__(self, run: RunId, control: Control, keeper: Keeper, pipes: list[int]) -> None:
        self.run = run
        self.pid = 0
        self._control = control
        self._keeper = keeper
        self._stdin, self._stdout, self._stderr = WriteEnd(pipes[0]), ReadEnd(pipes[1]), ReadEnd(pipes[2])
        self._closing, self._ending = anyio.Lock(), anyio.Lock()
        self._is_closed = False

    async def begin(self, spec: LaunchSpec) -> None:
        """Let the keeper start the agent. Raises `LaunchError`."""
        program, control = spec.argv[0], self._control
        try:
            control.tell(
                messages.Spawn(spec.run, [*spec.argv], spec.env, spec.cwd, hold_s=spec.hold_s, limits=spec.limits)
            )
        except messages.BadMessageError as error:
            raise LaunchError(program, f"its arguments and environment are too long ({error})") from error
        await control.until(lambda: bool(control.last(messages.Spawned) or control.last(messages.Refused)), _START_S)
        if refused := control.last(messages.Refused):
            kind = FailureKind.MISSING if refused.kind == "missing" else FailureKind.LAUNCH
            raise LaunchError(program, refused.reason, kind)
        spawned = control.last(messages.Spawned)
        if not spawned:
            said = b""
            with anyio.move_on_after(1.0):
                said = await self.read_err()  # until the agent has it, stderr is the keeper's own
            words = said.decode(errors="replace").strip().rpartition("\n")[2]
            raise LaunchError(program, f"the process that keeps it did not come up ({words or 'without a word'})")
        self.pid = spawned.pid

    async def read(self) -> bytes:
        return await self._stdout.read()

    async def read_err(self) -> bytes:
        return await self._stderr.read()

    async def write(self, data: bytes) -> None:
        if not await self._stdin.write(data):
            raise SessionBrokenError(self.run, "it does not read its input any more")

    async def close_stdin(self) -> None:
        self._stdin.close()

    async def wait(self) -> Exit:
        await self._control.until(lambda: self._control.last(messages.Exited) is not None)
        end = self._control.last(messages.Exited)
        if end is None:  # the keeper is gone, and the kernel killed the leader with it
            return Exit(None, signal.SIGKILL)
        return Exit(end.code, end.signal, end.out_of_memory, end.max_rss_kb * 1024)

    async def signal(self, number: int) -> None:
        self._control.tell(messages.Kill(self.run, number))

    async def kill_tree(self) -> int:
        control = self._control
        control.forget(messages.Refused)
        control.tell(messages.Kill(self.run, signal.SIGKILL, tree=True))
        await control.until(lambda: bool(control.last(messages.Gone) or control.last(messages.Refused)), _ANSWER_S)
        if gone := control.last(messages.Gone):
            return gone.killed
        if refused := control.last(messages.Refused):
            raise TreeAliveError(self.run, refused.reason)
        # Somebody killed or stopped the keeper. Its end is the leader's; what is left bears the run's mark.
        log.warning("run.keeper_lost", run=self.run)
        await self._end_keeper(_HANGS_S)
        return await run_sync(kill_marked, self.run)

    async def stats(self) -> Stats:
        control = self._control
        before = control.last(messages.Stats)
        control.tell(messages.Stat(self.run))
        await control.until(lambda: control.last(messages.Stats) is not before, _ANSWER_S)
        told = control.last(messages.Stats) or messages.Stats(self.run, 0.0, 0, 0)
        return Stats(told.cpu_s, told.processes, told.rss_kb * 1024, frozenset(told.apart))

    async def aclose(self) -> None:
        with anyio.CancelScope(shield=True):
            async with self._closing:
                if self._is_closed:
                    return
                try:
                    await self.kill_tree()
                except TreeAliveError as error:
                    log.error("run.tree_alive", run=self.run, reason=error.reason)
                finally:
                    for end in (self._stdin, self._stdout, self._stderr, self._control):
                        end.close()
                    await self._end_keeper(_ANSWER_S)
                    self._is_closed = True

    async def _end_keeper(self, grace_s: float) -> None:
        async with self._ending:
            await self._keeper.end(grace_s)


class DirectLauncher:
    """Starts runs as the user that the daemon is. `python` starts the keepers."""

    def __init__(self, *, python: str = sys.executable) -> None:
        self._python = python

    @property
    def name(self) -> str:
        return "direct"

    async def spawn(self, spec: LaunchSpec) -> DirectRun:
        """Start it. Raises `LaunchError`; then no process and no descriptor is left."""
        if not spec.argv:
            raise LaunchError("nothing", "no program is given")
        if not _is_own_user(spec.user):
            raise LaunchError(spec.argv[0], f"the direct launcher cannot start programs as {spec.user}")
        run = await self._start_keeper(spec)
        try:
            await run.begin(spec)
        except BaseException:
            await run.aclose()
            raise
        return run

    async def claim(self, run: RunId) -> DirectRun:
        """Always refused: a run's pipes end with the daemon that made them. `hold_s` only lets the agent finish."""
        raise LaunchError(run, "the direct launcher keeps no run for a later daemon")

    async def _start_keeper(self, spec: LaunchSpec) -> DirectRun:
        pipes: list[int] = []  # (read end, write end) of stdin, stdout, stderr
        ours, theirs = None, None
        try:
            ours, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
            for _ in range(3):
                pipes += os.pipe2(os.O_CLOEXEC)
            keeper = await run_sync(Keeper, self._python, [pipes[0], pipes[3], pipes[5]], theirs.fileno())
            run = DirectRun(spec.run, Control(ours), keeper, [pipes[1], pipes[2], pipes[4]])
            pipes, ours = [pipes[0], pipes[3], pipes[5]], None
        except (OSError, RuntimeError) as error:  # RuntimeError: no thread can be started
            raise LaunchError(spec.argv[0], f"the daemon has no room for another process ({error})") from error
        finally:
            for descriptor in pipes:
                os.close(descriptor)
            for end in (ours, theirs):
                if end:
                    end.close()
        return run


def _is_own_user(name: str) -> bool:
    try:
        return name == "" or pwd.getpwnam(name).pw_uid == os.geteuid()
    except KeyError:
        return False
