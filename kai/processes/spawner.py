"""Runs as other users by the privileged spawner (`kai.launcher.spawner`): a connection of its own for each run."""

import socket
from collections.abc import Mapping, Sequence
from functools import partial
from pathlib import Path

import anyio
from anyio.to_thread import run_sync

from kai import systemd
from kai.launcher import messages, passing
from kai.log import log
from kai.model.errors import LaunchError
from kai.model.ids import RunId
from kai.processes.belonging import run_below, run_in_group
from kai.processes.control import Control
from kai.processes.guard import objection
from kai.processes.kept import KeptRun, Pipes
from kai.processes.launcher import LaunchSpec

SOCKET = Path("/run/kai-spawner/spawner.sock")
_ANSWER_S = 10.0  # a spawner that systemd has just to start needs a moment
_PATIENCE_S = 5.0  # how long a start waits for a spawner that is being started again
_KEPT = "run-"
HOLD_S = 20.0  # longer than a daemon takes to start again
_BACKOFF_S = (0.1, 0.2, 0.5, 1.0, 2.0, 5.0)


def names_of(run: RunId) -> list[str]:
    """Under which names the pipes of a run are kept: stdin, stdout, stderr."""
    return [f"{_KEPT}{run}.{number}" for number in range(3)]


def kept_pipes(kept: Mapping[str, int]) -> dict[RunId, list[int]]:
    """The pipes of runs among what a former daemon left; those of a run that lacks one are left out."""
    runs = {RunId(name.removeprefix(_KEPT).rpartition(".")[0]) for name in kept if name.startswith(_KEPT)}
    return {run: [kept[name] for name in names_of(run)] for run in runs if set(names_of(run)) <= kept.keys()}


def let_go(names: Sequence[str]) -> None:
    """Nobody keeps a copy any more."""
    for name in names:
        systemd.let_go(name)


class _Elsewhere:
    """The keeper is the spawner's child: when it is lost, so is the run, and the spawner clears up what is left."""

    async def end(self, grace_s: float) -> None:
        pass

    def kill_left(self, run: RunId) -> int:
        return 0


class SpawnerLauncher:
    """Starts runs by the spawner on `path`. Whoever uses it without `watch` calls `aclose` at the end."""

    def __init__(self, path: Path = SOCKET) -> None:
        self._path = path
        self._watch: Control | None = None
        self._known = messages.Watched(0)
        self._looking = anyio.Lock()
        self._runs: list[KeptRun] = []
        self._lost = ""

    @property
    def name(self) -> str:
        return "spawner"

    @property
    def hold_s(self) -> float:
        return HOLD_S if systemd.is_listening() else 0.0

    @property
    def problem(self) -> str:
        return self._lost

    async def spawn(self, spec: LaunchSpec) -> KeptRun:
        """Start it. Raises `LaunchError`; then no process and no descriptor is left."""
        if not spec.argv:
            raise LaunchError("nothing", "no program is given")
        if problem := await run_sync(objection, spec.user, spec.argv[0]):
            raise LaunchError(spec.argv[0], problem)
        await self._find(spec.argv[0])
        try:
            pipes = Pipes()
        except OSError as error:
            raise LaunchError(spec.argv[0], f"the daemon has no room for another process ({error})") from error
        try:
            run = await self._open(spec.run, spec.argv[0], pipes.ours)
            try:
                await run.begin(spec, pipes.theirs)
            except BaseException:
                await run.aclose()
                raise
        finally:
            pipes.close_theirs()
        if spec.hold_s:
            self._keep(run, names_of(run.run), pipes.ours)
        return self._noted(run)

    async def claim(self, run: RunId, pipes: Sequence[int]) -> KeptRun:
        """Take over a run that a former daemon left behind."""
        claimed = await self._open(run, run, pipes)
        try:
            await claimed.claim()
        except BaseException:
            await claimed.aclose()
            raise
        claimed.let_go = partial(let_go, names_of(run))
        return self._noted(claimed)

    @staticmethod
    def _keep(run: KeptRun, names: Sequence[str], pipes: Sequence[int]) -> None:
        """What a later daemon needs to claim the run: copies of its pipes, where somebody keeps them."""
        for name, pipe in zip(names, pipes, strict=True):
            systemd.keep(name, pipe)
        run.let_go = partial(let_go, names)

    def _noted(self, run: KeptRun) -> KeptRun:
        self._runs = [*(one for one in self._runs if not one.is_closed), run]
        return run

    async def watch(self) -> None:
        """Stay connected; when the spawner is gone, say so once and try again, ever more slowly."""
        tries = 0
        try:
            while True:
                if await self.look():
                    tries = 0
                    assert self._watch is not None
                    await self._watch.until(lambda: False)
                await anyio.sleep(_BACKOFF_S[min(tries, len(_BACKOFF_S) - 1)])
                tries += 1
        finally:
            self.aclose()

    async def look(self) -> bool:
        """Whether the spawner answers; connects when it is not connected."""
        async with self._looking:
            if self._watch is not None and self._watch.take_in():
                return True
            self.aclose()
            problem = ""
            try:
                self._watch = Control(await run_sync(self.dial))
                self._watch.tell(messages.Watch())
                await self._watch.until(lambda: self._answer() is not None, _ANSWER_S)
                if self._answer() is None:
                    problem = "it does not answer; its log says why"
            except OSError as error:
                problem = f"{error.strerror}"
            if answer := self._answer():
                self._known, self._lost, was = answer, "", self._lost
                if was:
                    log.info("spawner.back", pid=answer.pid)
                return True
            self.aclose()
            if not self._lost:
                log.error("spawner.lost", socket=str(self._path), problem=problem)
            self._lost = f"the spawner on {self._path} cannot be reached ({problem})"
            return False

    @property
    def groups(self) -> str:
        """The folder of the runs' control groups, "" where there are none."""
        return self._known.groups

    def aclose(self) -> None:
        if self._watch is not None:
            self._watch.close()
            self._watch = None

    def run_of(self, pid: int) -> RunId | None:
        """By its control group; where there are none, by its ancestors."""
        if found := run_in_group(pid, self._known.groups):
            return found
        keepers = {run.keeper_pid: run.run for run in self._runs}
        return run_below(pid, keepers, self._known.pid) if self._known.pid else None

    def dial(self) -> socket.socket:
        """A new connection. Blocks. Raises `OSError`."""
        channel = socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        try:
            channel.connect(str(self._path))
        except OSError:
            channel.close()
            raise
        return channel

    def _answer(self) -> messages.Watched | None:
        return self._watch.last(messages.Watched) if self._watch else None

    async def _find(self, program: str) -> None:
        with anyio.move_on_after(_PATIENCE_S):
            for pause_s in _BACKOFF_S:
                if await self.look():
                    return
                await anyio.sleep(pause_s)
        remedy = "Start it: systemctl start kai-spawner.socket; 'kai doctor' says what else is wrong."
        raise LaunchError(program, self._lost, remedy=remedy)

    async def _open(self, run: RunId, program: str, pipes: Sequence[int]) -> KeptRun:
        """A run on a connection of its own. `pipes` are closed when there is none."""
        try:
            channel = await run_sync(self.dial)
        except OSError as error:
            passing.close_all(list(pipes))
            raise LaunchError(program, f"the spawner cannot be reached ({error.strerror})") from error
        return KeptRun(run, Control(channel), _Elsewhere(), pipes)
