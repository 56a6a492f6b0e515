"""Runs as the daemon's own user: each below a small process of its own that keeps its tree (`kai.launcher.keeper`)."""

import getpass
import os
import signal
import socket
import subprocess
import sys

import anyio
from anyio.to_thread import run_sync

from kai.launcher.messages import MAX_BYTES, BadMessageError, Kill, Spawn, Stat
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


class DirectRun:
    """A run below a keeper that is this process's child."""

    def __init__(self, run: RunId, control: Control, keeper: "subprocess.Popen[bytes]", pipes: tuple[int, int, int]):
        self.run = run
        self.pid = 0
        self._control = control
        self._keeper = keeper
        self._keeper_end = os.pidfd_open(keeper.pid)
        self._stdin = WriteEnd(pipes[0])
        self._stdout = ReadEnd(pipes[1])
        self._stderr = ReadEnd(pipes[2])
        self._stats = Stats(0.0, 0, 0)
        self._closing = anyio.Lock()
        self._is_closed = False

    async def begin(self, spec: LaunchSpec) -> None:
        """Let the keeper start the agent. Raises `LaunchError`."""
        program = spec.argv[0]
        try:
            env, limits = dict(spec.env), dict(spec.limits)
            self._control.tell(Spawn(spec.run, list(spec.argv), env, spec.cwd, "", spec.hold_s, limits))
        except BadMessageError as error:
            raise LaunchError(program, f"its arguments and environment are too long ({error})") from error
        control = self._control
        await control.until(lambda: control.spawned is not None or control.refused is not None, _START_S)
        if control.refused:
            kind = FailureKind.MISSING if control.refused.kind == "missing" else FailureKind.LAUNCH
            raise LaunchError(program, control.refused.reason, kind)
        if not control.spawned:
            with anyio.move_on_after(1.0):
                said = (await self._stderr.read()).decode(errors="replace").strip().splitlines()
            raise LaunchError(program, f"the process that keeps it did not come up ({said[-1] if said else 'no word'})")
        self.pid = control.spawned.pid

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
        control = self._control
        await control.until(lambda: control.exited is not None)
        end = control.exited
        if end is None:  # the keeper is gone, and the kernel kills the leader with it
            return Exit(None, signal.SIGKILL)
        return Exit(end.code, end.signal, end.out_of_memory, end.max_rss_kb * 1024)

    async def signal(self, number: int) -> None:
        self._control.tell(Kill(self.run, number))

    async def kill_tree(self) -> int:
        control = self._control
        control.refused = None
        control.tell(Kill(self.run, signal.SIGKILL, tree=True))
        await control.until(lambda: control.gone is not None or control.refused is not None, _ANSWER_S)
        if control.gone:
            return control.gone.killed
        if control.refused:
            raise TreeAliveError(self.run, control.refused.reason)
        # Somebody killed or stopped the keeper. Its end is the leader's; what is left bears the run's mark.
        await self._end_keeper()
        return await run_sync(kill_marked, self.run)

    async def stats(self) -> Stats:
        control = self._control
        before = control.stats
        control.tell(Stat(self.run))
        await control.until(lambda: control.stats is not before, _ANSWER_S)
        if control.stats:
            self._stats = Stats(control.stats.cpu_s, control.stats.processes, control.stats.rss_kb * 1024)
        return self._stats

    async def aclose(self) -> None:
        with anyio.CancelScope(shield=True):
            async with self._closing:
                if not self._is_closed:
                    await self._close()
                    self._is_closed = True

    async def _close(self) -> None:
        try:
            await self.kill_tree()
        except TreeAliveError as error:
            log.error("run.tree_alive", run=self.run, reason=error.reason)
        finally:
            for pipe in (self._stdin, self._stdout, self._stderr, self._control):
                pipe.close()
            await self._end_keeper()

    async def _end_keeper(self) -> None:
        """Wait for the keeper's own end, which follows the end of its tree or of the control channel; then insist."""
        if self._keeper.returncode is not None:
            return
        ended = False
        with anyio.move_on_after(_ANSWER_S if not self._control.is_open else 0.1):
            await anyio.wait_readable(self._keeper_end)
            ended = True
        if not ended:
            log.warning("run.keeper_killed", run=self.run)
            self._keeper.kill()
            await anyio.wait_readable(self._keeper_end)
        self._keeper.wait()  # it has ended: this only collects it
        os.close(self._keeper_end)


class DirectLauncher:
    """Starts runs as the user that the daemon is. `python` starts the keepers."""

    def __init__(self, *, python: str = sys.executable) -> None:
        self._python = python

    @property
    def name(self) -> str:
        return "direct"

    async def spawn(self, spec: LaunchSpec) -> DirectRun:
        """Start it. Raises `LaunchError`; then no process and no descriptor is left."""
        program = spec.argv[0] if spec.argv else "nothing"
        if spec.user not in ("", getpass.getuser()):
            raise LaunchError(program, f"the direct launcher cannot start it as {spec.user}")
        run = await self._start_keeper(spec.run, program)
        try:
            await run.begin(spec)
        except BaseException:
            await run.aclose()
            raise
        return run

    async def claim(self, run: RunId) -> DirectRun:
        raise LaunchError(run, "the direct launcher holds no runs")

    async def _start_keeper(self, run: RunId, program: str) -> DirectRun:
        descriptors: list[int] = []
        try:
            ours, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        except OSError as error:
            raise LaunchError(program, f"the daemon cannot open more files ({error.strerror})") from error
        try:
            for _ in range(3):
                descriptors += os.pipe2(os.O_CLOEXEC)
            ours.setsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF, 2 * MAX_BYTES)
            stdin, to_stdin, from_stdout, stdout, from_stderr, stderr = descriptors
            # Not through a parent-death signal: that would follow the thread which forks, and threads come and go.
            keeper = await run_sync(self._popen, (stdin, stdout, stderr), theirs.fileno())
        except BaseException as error:
            for descriptor in descriptors:
                os.close(descriptor)
            ours.close()
            if isinstance(error, OSError):
                raise LaunchError(program, f"no process can be started for it ({error.strerror})") from error
            raise
        finally:
            theirs.close()
        for descriptor in (stdin, stdout, stderr):
            os.close(descriptor)
        return DirectRun(run, Control(ours), keeper, (to_stdin, from_stdout, from_stderr))

    def _popen(self, pipes: tuple[int, int, int], control: int) -> "subprocess.Popen[bytes]":
        return subprocess.Popen(
            [self._python, "-I", "-S", str(module_file("launcher/shim.py")), str(control)],
            stdin=pipes[0],
            stdout=pipes[1],
            stderr=pipes[2],
            pass_fds=[control],
            cwd="/",
            env={name: value for name, value in os.environ.items() if name == "LD_LIBRARY_PATH"},
            start_new_session=True,
        )
