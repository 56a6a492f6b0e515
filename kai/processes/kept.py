"""A run and the keeper of its tree (`kai.launcher.keeper`), whoever started that: the part that all launchers share."""

import os
import signal
from collections.abc import Callable, Sequence
from typing import Protocol

import anyio
from anyio.to_thread import run_sync

from kai.launcher import messages, passing
from kai.log import log
from kai.model.errors import FailureKind, LaunchError, SessionBrokenError
from kai.model.ids import RunId
from kai.processes.control import Control
from kai.processes.launcher import Exit, LaunchSpec, Stats, TreeAliveError
from kai.processes.pipes import ReadEnd, WriteEnd

_START_S = 15.0  # a loaded machine may take seconds to start a Python
_ANSWER_S = 8.0  # longer than a keeper tries to end a tree
_HANGS_S = 0.2  # how long a keeper that did not answer may still take to end


class Keeper(Protocol):
    """The process on the other end of the control channel, as far as it is within reach."""

    async def end(self, grace_s: float) -> None:
        """Return when it has ended and been collected; after `grace_s` it is killed where that is permitted."""
        ...

    def kill_left(self, run: RunId) -> int:
        """Kill what a lost keeper left behind; how many. Blocks."""
        ...


class KeptRun:
    """A run below a keeper. `pipes`: the daemon's ends of its stdin, stdout and stderr, which it owns from here on."""

    def __init__(self, run: RunId, control: Control, keeper: Keeper, pipes: Sequence[int]) -> None:
        self.run = run
        self.pid = 0
        self.keeper_pid = 0
        self.let_go: Callable[[], None] = _nothing  # called before an end of a pipe is closed that has copies elsewhere
        self._control = control
        self._keeper = keeper
        self._stdin, self._stdout, self._stderr = WriteEnd(pipes[0]), ReadEnd(pipes[1]), ReadEnd(pipes[2])
        self._closing, self._ending = anyio.Lock(), anyio.Lock()
        self._is_closed = False
        self._asked = 0  # for how it is: two may ask at once, and the answer to the first is too old for the second

    async def begin(self, spec: LaunchSpec, passed: Sequence[int] = ()) -> None:
        """Let the keeper start the agent; its ends of the pipes are `passed` where it has not got them yet.

        Raises `LaunchError`.
        """
        program = spec.argv[0]
        asked = messages.Spawn(spec.run, [*spec.argv], spec.env, spec.cwd, spec.user, spec.hold_s, spec.limits)
        try:
            self._control.tell(asked, passed)
        except messages.BadMessageError as error:
            raise LaunchError(program, f"its arguments and environment are too long ({error})") from error
        await self.started(program)

    async def started(self, program: str) -> None:
        """Return when the keeper has said that the agent runs. Raises `LaunchError`."""
        control = self._control
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
        self.pid, self.keeper_pid = spawned.pid, spawned.keeper

    @property
    def is_closed(self) -> bool:
        return self._is_closed

    async def claim(self) -> None:
        """Ask the keeper of a run that a former daemon began to be ours. Raises `LaunchError`."""
        self._control.tell(messages.Claim(self.run))
        await self.started(self.run)

    async def read(self) -> bytes:
        return await self._stdout.read()

    async def read_err(self) -> bytes:
        return await self._stderr.read()

    def write_at_once(self, data: bytes) -> int:
        return self._stdin.write_at_once(data)

    async def write(self, data: bytes) -> None:
        if not await self._stdin.write(data):
            raise SessionBrokenError(self.run, "it does not read its input any more")

    async def close_stdin(self) -> None:
        self.let_go()
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
        return await run_sync(self._keeper.kill_left, self.run)

    async def stats(self) -> Stats:
        control = self._control
        self._asked += control.tell(messages.Stat(self.run))
        mine = self._asked
        await control.until(lambda: control.count(messages.Stats) >= mine, _ANSWER_S)
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
                    self.let_go()
                    for end in (self._stdin, self._stdout, self._stderr, self._control):
                        end.close()
                    await self._end_keeper(_ANSWER_S)
                    self._is_closed = True

    async def _end_keeper(self, grace_s: float) -> None:
        async with self._ending:
            await self._keeper.end(grace_s)


def _nothing() -> None:
    pass


class Pipes:
    """Three new pipes: `ours` (stdin to write, stdout and stderr to read) and `theirs`. Raises `OSError`."""

    def __init__(self) -> None:
        self.ours: list[int] = []
        self.theirs: list[int] = []
        try:
            for number in range(3):
                ends = os.pipe2(os.O_CLOEXEC)
                self.ours.append(ends[number == 0])
                self.theirs.append(ends[number != 0])
        except OSError:
            self.close_ours()
            self.close_theirs()
            raise

    def close_ours(self) -> None:
        passing.close_all(self.ours)
        self.ours.clear()

    def close_theirs(self) -> None:
        passing.close_all(self.theirs)
        self.theirs.clear()
