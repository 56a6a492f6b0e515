"""Runs as the daemon's own user: each below a small process of its own that keeps its tree (`kai.launcher.keeper`)."""

import os
import pwd
import socket
import subprocess
import sys
from collections.abc import Callable, Sequence
from contextlib import ExitStack

import anyio
from anyio.to_thread import run_sync

from kai.launcher.passing import close_all
from kai.model.errors import LaunchError
from kai.model.ids import RunId
from kai.processes.belonging import run_below
from kai.processes.control import Control
from kai.processes.kept import KeptRun, Pipes
from kai.processes.launcher import LaunchSpec
from kai.processes.marks import kill_marked
from kai.resources import module_file

Start = Callable[[Sequence[int], int], "KeeperProcess"]


class KeeperProcess:
    """The keeper's process, a child of ours: its end is seen on a descriptor, so no child watcher is in the way."""

    def __init__(self, argv: Sequence[str], stdio: Sequence[int], control: int) -> None:
        """Start it with three descriptors and its end of the `control` channel. Blocks. Raises `OSError`."""
        # Not tied to us by a parent-death signal: that follows the thread which forks, and threads come and go.
        self._process = subprocess.Popen(
            argv,
            stdin=stdio[0],
            stdout=stdio[1],
            stderr=stdio[2],
            pass_fds=[control],
            cwd="/",
            env={name: value for name, value in os.environ.items() if name == "LD_LIBRARY_PATH"},
            start_new_session=True,
        )
        self.pid = self._process.pid
        try:
            self._end = os.pidfd_open(self.pid)
        except OSError:
            self._process.kill()
            self._process.wait()
            raise

    @property
    def is_collected(self) -> bool:
        """Until then its pid is surely its own."""
        return self._process.returncode is not None

    async def end(self, grace_s: float) -> None:
        """Return when it has ended and been collected; after `grace_s` it is killed, and with it the leader."""
        if self.is_collected:
            return
        with anyio.move_on_after(grace_s) as grace:
            await anyio.wait_readable(self._end)
        if grace.cancelled_caught:
            try:
                self._process.kill()
            except PermissionError:  # sudo's process is root's: nobody but root can do more
                return
            await anyio.wait_readable(self._end)
        self._process.wait()
        os.close(self._end)

    def kill_left(self, run: RunId) -> int:
        """As `kai.processes.kept.Keeper`: what is left bears the run's mark."""
        return kill_marked(run)


class DirectLauncher:
    """Starts runs as the user that the daemon is. `python` starts the keepers."""

    problem, hold_s = "", 0.0

    def __init__(self, *, python: str = sys.executable) -> None:
        self._python = python
        self._keepers = Keepers()

    @property
    def name(self) -> str:
        return "direct"

    async def spawn(self, spec: LaunchSpec) -> KeptRun:
        """Start it. Raises `LaunchError`; then no process and no descriptor is left."""
        if not spec.argv:
            raise LaunchError("nothing", "no program is given")
        if not _is_own_user(spec.user):
            raise LaunchError(spec.argv[0], f"the direct launcher cannot start programs as {spec.user}")

        def start(pipes: Sequence[int], control: int) -> KeeperProcess:
            return KeeperProcess([*keeper_argv(self._python), str(control)], pipes, control)

        return await spawn_below(start, spec, self._keepers, passes=False)

    async def claim(self, run: RunId, pipes: Sequence[int]) -> KeptRun:
        """Always refused: a run's keeper is a child of its daemon. `hold_s` only lets the agent finish."""
        close_all(list(pipes))
        raise LaunchError(run, "the direct launcher keeps no run for a later daemon")

    async def watch(self) -> None:
        """Nothing of it can be lost."""

    def run_of(self, pid: int) -> RunId | None:
        """As `Keepers.run_of`."""
        return self._keepers.run_of(pid)


def keeper_argv(python: str) -> list[str]:
    """How a keeper is started; the number of its control descriptor comes last."""
    return [python, "-I", "-S", str(module_file("launcher/shim.py"))]


class Keepers:
    """The keepers that are children of this process, each known before its agent is."""

    def __init__(self) -> None:
        self._every: list[tuple[KeeperProcess, RunId]] = []

    def add(self, keeper: KeeperProcess, run: RunId) -> None:
        self._every = [*(each for each in self._every if not each[0].is_collected), (keeper, run)]

    def run_of(self, pid: int) -> RunId | None:
        """By its ancestors: a mark anybody could copy. Blocks."""
        return run_below(pid, {keeper.pid: run for keeper, run in self._every if not keeper.is_collected})


async def spawn_below(start: Start, spec: LaunchSpec, keepers: Keepers, *, passes: bool) -> KeptRun:
    """A run below a keeper that is a child of this process. `start` makes it (blocks), of three pipes and a control.

    `passes`: the pipes are handed over by the control, as the child's own are something else. Raises `LaunchError`.
    """
    try:
        with ExitStack() as held:
            pipes = Pipes()
            held.callback(pipes.close_ours)
            held.callback(pipes.close_theirs)
            ours, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
            with theirs:
                held.callback(ours.close)
                keeper = await run_sync(start, pipes.theirs, theirs.fileno())
            keepers.add(keeper, spec.run)
            run = KeptRun(spec.run, Control(ours), keeper, tuple(pipes.ours))
            held.pop_all()
    except (OSError, RuntimeError) as error:  # RuntimeError: no thread can be started
        raise LaunchError(spec.argv[0], f"the daemon has no room for another process ({error})") from error
    try:
        if not passes:
            pipes.close_theirs()
        await run.begin(spec, pipes.theirs)
    except BaseException:
        await run.aclose()
        raise
    finally:
        pipes.close_theirs()
    return run


def _is_own_user(name: str) -> bool:
    try:
        return name == "" or pwd.getpwnam(name).pw_uid == os.geteuid()
    except KeyError:
        return False
