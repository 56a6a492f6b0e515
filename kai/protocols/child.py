"""The process side of a session: the end of a run step by step, its stderr, how it ended."""

import signal
from collections.abc import Callable
from dataclasses import dataclass

import anyio
import anyio.lowlevel

from kai.log import log
from kai.model.backends import Limits
from kai.model.events import Failed
from kai.processes.launcher import Exit, Run, TreeAliveError
from kai.protocols.classify import Evidence, classify

STDERR_BYTES = 64 * 1024
GRACE_S = 1.0  # between the process's end and its pipes' end, either way round
LAST_LOOKS = 10  # turns of the event loop: from a readable descriptor to whoever waits for what it says
UNSAID_S = 2.0  # how long a tool may run before the agent's word of it has been read, on a machine that is busy


@dataclass(frozen=True, slots=True)
class StopReport:
    """How a turn or a process was ended: `step` is "idle", "interrupt", "eof", "term" or "kill"."""

    step: str
    seconds: float
    session_kept: bool


class Child:
    """A run with what a session needs to know of it. `stdout_ended` is set by whoever reads stdout."""

    def __init__(self, run: Run, limits: Limits, helpers: tuple[str, ...] = ()) -> None:
        self.run = run
        self.exit: Exit | None = None
        self.stdout_ended = anyio.Event()
        self.has_used_tools = False
        self._limits = limits
        self._helpers = helpers
        self._own: set[str] = set()  # pids of what ran apart from it before its first tool: no work
        self._stderr = bytearray()

    @property
    def stderr_tail(self) -> str:
        return self._stderr.decode("utf-8", "replace")

    @property
    def exit_code(self) -> int | None:
        """Negative for a signal, None when it is not known."""
        end = self.exit or Exit(None)
        return -end.signal if end.signal is not None else end.code

    @property
    def out_of_memory(self) -> bool:
        return self.exit is not None and self.exit.out_of_memory

    def failure(self) -> Failed:
        """What its end means for a turn that it cut."""
        tail, memory = self.stderr_tail, self.out_of_memory
        return classify(Evidence(ended=True, exit_code=self.exit_code, stderr=tail, out_of_memory=memory))

    async def drain(self) -> None:
        """Read stderr always: an agent stops at 64 KiB of it that nobody reads."""
        while chunk := await self.run.read_err():
            self._stderr += chunk
            del self._stderr[:-STDERR_BYTES]

    async def look(self) -> float:
        """The CPU seconds of the tree so far. What runs apart while no tool was used yet is the agent's own.

        A tool runs before the agent says so: what has just begun may be one, and is left to the next look.
        """
        stats = await self.run.stats()
        apart = () if self.has_used_tools else (one.split(" ", 2) for one in stats.apart)
        self._own.update(pid for pid, age_s, _ in apart if float(age_s) > UNSAID_S)
        return stats.cpu_s

    async def has_left_over(self) -> bool:
        """Whether processes of its tools go on, beside those that are its own or called as its helpers are."""
        apart = (one.split(" ", 2) for one in (await self.run.stats()).apart)
        return any(pid not in self._own and name not in self._helpers for pid, _, name in apart)

    async def end(self) -> str:
        """Stdin closed, TERM, KILL of the tree, each with its limit. Gives the step that did it."""
        await self.run.close_stdin()
        if await self.has_ended(self._limits.eof_s):
            return "eof"
        await self.run.signal(signal.SIGTERM)
        if await self.has_ended(self._limits.term_s):
            return "term"
        await self.sweep()
        return "kill"

    async def has_ended(self, limit_s: float) -> bool:
        """Whether it ended in time: an end that was there when the time ran out counts, however late it is noticed."""
        over = anyio.Event()

        async def wait() -> None:
            await self.run.wait()
            over.set()

        async with anyio.create_task_group() as tasks:
            tasks.start_soon(wait)
            with anyio.move_on_after(limit_s):
                await over.wait()
            for _ in range(LAST_LOOKS):  # this process may have stood still, and the time with it
                if not over.is_set():
                    await anyio.lowlevel.checkpoint()
            tasks.cancel_scope.cancel()
        return over.is_set()

    async def until_gone(self, *, is_closing: Callable[[], bool]) -> None:
        """The end of the process and the end of stdout are two things; after either, the other gets a short grace.

        Then whatever holds the pipe, ignores its end or was left behind by the leader is killed. `is_closing` is looked
        at when stdout ends: then the ladder of `end` decides how long the process may take.
        """
        await self._first_end()
        await self.has_ended(GRACE_S + (self._limits.eof_s + self._limits.term_s if is_closing() else 0.0))
        with anyio.move_on_after(GRACE_S):
            await self.stdout_ended.wait()
        await self.sweep()
        with anyio.move_on_after(GRACE_S):
            self.exit = await self.run.wait()
            await self.stdout_ended.wait()
        self.exit = self.exit or Exit(None)

    async def sweep(self) -> None:
        """Kill what is left of the tree. A refused kill is told, never swallowed."""
        try:
            killed = await self.run.kill_tree()
        except TreeAliveError as error:
            log.error("run.tree_alive", run=self.run.run, reason=error.sentence)
        else:
            if killed:
                log.info("run.swept", run=self.run.run, killed=killed)

    async def _first_end(self) -> None:
        async with anyio.create_task_group() as race:

            async def process() -> None:
                await self.run.wait()
                race.cancel_scope.cancel()

            async def stdout() -> None:
                await self.stdout_ended.wait()
                race.cancel_scope.cancel()

            race.start_soon(process)
            race.start_soon(stdout)
