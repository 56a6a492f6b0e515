"""The one class that owns a running agent: its pipes, its limits, its end; the same for every protocol.

Who does what: one task reads stdout and feeds the driver, one writes frames, one drains stderr, one watches for the end
of the process (which is not the end of stdout), one a turn watches its limits. All of them are children of
`open_session`; when it returns, no process of the run is left.
"""

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from dataclasses import replace
from hashlib import sha256

import anyio
from anyio.abc import TaskGroup

from kai.clock import Clock
from kai.log import log
from kai.model.backends import Limits
from kai.model.context import Prompt
from kai.model.errors import FailureKind, SessionBrokenError, SessionLostError
from kai.model.events import BackendEvent, Choice, Compacted, Failed, ToolCall, Unsolicited
from kai.model.ids import DispatchId
from kai.processes.launcher import Run, Stats
from kai.protocols.child import UNSAID_S, Child, StopReport
from kai.protocols.classify import of_kind
from kai.protocols.driver import Background, Driver, Lost, Outputs, Ready, Send, Skipped, Wake
from kai.protocols.frames import Frames
from kai.protocols.resets import told_reset
from kai.protocols.running import Running
from kai.protocols.stand import Answered, Stand
from kai.protocols.wirefile import WireFile, prompt_fields
from kai.wire.lines import LineFramer, Overlong
from kai.wire.record import Kind

QUICK_S = 0.25  # a turn that is over by then needs no watch on its CPU, and the look would slow it down
REST_S = UNSAID_S  # after a turn, before the look at what it started: all of /proc is gone through for it
_SPOILT = frozenset({FailureKind.LAUNCH, FailureKind.CRASH, FailureKind.PROTOCOL})
SETTLE_S = 0.3  # after a stopped turn: what still comes belongs to it, and must not meet the next one


class Session:
    """A running agent that takes one prompt at a time. Made by `open_session`."""

    def __init__(
        self,
        run: Run,
        driver: Driver,
        limits: Limits,
        clock: Clock,
        wire: WireFile,
        on_unsolicited: Callable[[str], None],
        helpers: tuple[str, ...],
    ) -> None:
        self.limits = limits
        self.ready = Ready("", resumed=False)
        self.idle_since: float | None = clock.monotonic()  # monotonic; None while a turn runs
        self._child = Child(run, limits, helpers)
        self._run = run
        self._driver = driver
        self._clock = clock
        self.wire = wire
        self._framer = LineFramer(limits.line_bytes)
        self._on_unsolicited = on_unsolicited
        self._tasks: TaskGroup
        self._running: Running | None = None
        self._reserved = False
        self._compacted = False  # outside a turn: told with the next one
        self._settled_at = 0.0
        self._digest: tuple[Prompt | None, str] = None, ""
        self._lost: Lost | None = None
        self._refused: Failed | None = None  # another model or effort: all is as it was
        self._background = False
        self._will_look = False
        self._skipped: set[str] = set()
        self._wakes: dict[str, Wake] = {}
        self._scopes: list[anyio.CancelScope] = []
        self._resumed: Running | None = None  # the turn that a former daemon began
        self._seen = 0  # so many of its events were there before
        self._frames = Frames(run, wire, limits.write_s, self._write_failed)
        self._stopping = anyio.Lock()
        self._is_closing = False
        self._started = anyio.Event()
        self._gone = anyio.Event()

    # What others may know

    @property
    def native_id(self) -> str:
        """The backend's id of the session as it is now: after a turn it may be another one."""
        return self._driver.native_id

    @property
    def busy(self) -> bool:
        return self._reserved

    @property
    def alive(self) -> bool:
        """It takes a prompt, now or after the running turn."""
        return not (self._is_closing or self._gone.is_set() or self._lost is not None)

    @property
    def stderr_tail(self) -> str:
        """The last 64 KiB of what the agent wrote to stderr."""
        return self._child.stderr_tail

    async def ended(self) -> None:
        """Returns when the process is gone, whoever ended it."""
        await self._gone.wait()

    async def stats(self) -> Stats:
        """CPU, processes and memory of the whole tree."""
        return await self._run.stats()

    async def works(self) -> bool:
        """Something goes on though no turn runs: a tool or a sub-agent in the background, a turn of the agent's own."""
        return self._background or await self._child.has_left_over()

    async def set_model(self, model: str, effort: str) -> None:
        """Go on with another model and effort ("" leaves one as it is), between two turns. Raises `SessionLostError`
        when the agent does not take them (`alive`: it goes on as it was), `SessionBrokenError` when that is not known.
        """
        if not self.alive:
            raise SessionBrokenError(self._run.run, self._why_gone())
        self._started, self._refused = anyio.Event(), None
        self.wire.call("set_model", model=model, effort=effort)
        self._take(self._driver.set_model(model, effort))
        try:
            with anyio.move_on_after(self.limits.start_s):
                await self._started.wait()
        finally:  # also of a caller who gives up in the middle
            unheard = None if self._started.is_set() else Lost("It did not say what it works with.", FailureKind.SILENT)
            self._started.set()
            if lost := self._lost or unheard:
                self._take([lost])
        if lost and lost.kind not in (FailureKind.MODEL, FailureKind.UNSUPPORTED):
            raise SessionBrokenError(self._run.run, lost.reason.rstrip("."))
        if refused := lost or (Lost.of(self._refused) if self._refused else None):
            raise SessionLostError(refused.reason, refused.kind, refused.detail)

    # Turns

    def digest(self, prompt: Prompt) -> str:
        """The sha256 of the frame that `prompt` will send."""
        if self._digest[0] is not prompt:
            self._digest = prompt, sha256(self._driver.frame(prompt)).hexdigest()
        return self._digest[1]

    @asynccontextmanager
    async def prompt(
        self, prompt: Prompt, *, on_sent: Callable[[str], Awaitable[None]] | None = None
    ) -> AsyncIterator[AsyncIterator[BackendEvent]]:
        """Send `prompt`; iterate over the events of its turn: `Started` first, `Finished` or `Failed` last.

        `on_sent` gets the sha256 of the frame and is awaited before its first byte is written. Leaving early stops the
        turn and waits for that. Raises `SessionBrokenError` when the session takes no prompt (any more).
        """
        if self._reserved:
            raise SessionBrokenError(self._run.run, "it has a turn already")
        self._reserved = True
        try:
            async with self._turn(await self._begin(prompt, on_sent)) as events:
                yield events
        finally:
            self._reserved = False

    @asynccontextmanager
    async def go_on(self) -> AsyncIterator[tuple[AsyncIterator[BackendEvent], int]]:
        """The turn that a former daemon began: its events from the start, and how many of them that daemon saw."""
        running = self._resumed
        if running is None:
            raise SessionBrokenError(self._run.run, "it has no turn to go on with")
        self._resumed, self._reserved = None, True
        try:
            async with self._turn(running) as events:
                yield events, self._seen
        finally:
            self._reserved = False

    @asynccontextmanager
    async def _turn(self, running: Running) -> AsyncIterator[AsyncIterator[BackendEvent]]:
        try:
            yield running.events
        finally:
            if not running.done.is_set():
                with anyio.CancelScope(shield=True):
                    await self._stop(running)

    def steer(self, prompt: Prompt, dispatch: DispatchId) -> bool:
        """Put `prompt` into the running turn of `dispatch`; what becomes of it comes as `Steered`. False: too late."""
        running = self._running
        if running is None or running.dispatch != dispatch or running.stopping:
            return False
        self.wire.call("steer", **prompt_fields(prompt))
        self._take(self._driver.steer(prompt))
        return True

    async def answer(self, ask: str, choice: Choice | None, text: str = "") -> bool:
        """Answer a question of the running turn; None denies. False: it is not open (any more), nothing was done."""
        running = self._running
        if running is None or not running.turn.answered(ask):
            return False
        running.lives(self._clock.monotonic())
        chosen = [choice.key, choice.label, choice.kind.value] if choice else None
        self.wire.call("answer", ask=ask, choice=chosen, text=text)
        self._take(self._driver.answer(ask, choice, text))
        return True

    async def interrupt(self, dispatch: DispatchId | None = None) -> StopReport:
        """Stop the running turn (only that of `dispatch`, when named) and say which step it took."""
        running = self._running
        if running is None or (dispatch is not None and dispatch != running.dispatch):
            return StopReport("idle", 0.0, session_kept=self.alive)
        return await self._stop(running)

    async def close(self) -> StopReport:
        """End the process: interrupt, stdin closed, TERM, KILL, each with its limit. Nothing of the run is left."""
        self._is_closing = True
        with anyio.CancelScope(shield=True):
            began = self._clock.monotonic()
            report = StopReport("idle", 0.0, session_kept=False)
            if self._running is not None:
                report = await self._stop(self._running)
            if report.step in ("idle", "interrupt"):
                async with self._stopping:
                    step = await self._end_process()
                report = StopReport(step, self._clock.monotonic() - began, session_kept=False)
            await self._gone.wait()
        return report

    # Inside a turn

    async def _begin(self, prompt: Prompt, on_sent: Callable[[str], Awaitable[None]] | None) -> Running:
        if self._settled_at > self._clock.monotonic():
            await anyio.sleep(self._settled_at - self._clock.monotonic())
        if not self.alive:
            raise SessionBrokenError(self._run.run, self._why_gone())
        if on_sent is not None:
            await on_sent(self.digest(prompt))
        running = Running(prompt.dispatch, self.native_id, self.limits, self._clock.monotonic())
        self._running, self.idle_since = running, None
        if self._gone.is_set():
            # It died just now. The turn is owned up to all the same: its dispatch counts as sent.
            self._emit(self._child.failure())
            return running
        self.wire.call("prompt", **prompt_fields(prompt))
        self._take(self._driver.prompt(prompt))
        if self._compacted:
            self._compacted = False
            self._emit(Compacted())
        quick_s = min(QUICK_S, running.pause_s(self._clock.monotonic()))
        running.guard = asyncio.get_running_loop().call_later(quick_s, self._go, self._guard, running)
        return running

    def _emit(self, event: BackendEvent) -> None:
        running = self._running
        if running is None:
            self._compacted |= isinstance(event, Compacted)
            if isinstance(event, Failed):
                self._refused = event
                self._started.set()
            return
        if isinstance(event, Failed) and event.kind is FailureKind.QUOTA and event.resets_at is None:
            event = replace(event, resets_at=told_reset(event.detail, self._clock.now()))
        self._child.has_used_tools |= isinstance(event, ToolCall)
        running.put(event, process_gone=self._child.exit is not None)
        if running.done.is_set():
            if running.guard is not None:
                running.guard.cancel()
            if not (self._will_look or self._child.has_used_tools):
                self._will_look = True
                self._go(self._look)
            self._running, self.idle_since = None, self._clock.monotonic()
            if running.stopping:
                self._settled_at = self._clock.monotonic() + SETTLE_S
        elif running.turn.over is not None and running.verdict is None:
            self._go(self._abort, running, running.turn.over)

    async def _look(self) -> None:
        await anyio.sleep(REST_S)
        self._will_look = False
        await self._child.look()

    async def _guard(self, running: Running) -> None:
        """Watch the limits of one turn, whatever the reader is doing."""
        cpu_s = await self._child.look()
        while True:
            pause_s = running.pause_s(self._clock.monotonic())
            with anyio.move_on_after(pause_s):
                await running.done.wait()
                return
            before_s, cpu_s = cpu_s, await self._child.look()
            running.note_cpu(cpu_s - before_s, pause_s, self._clock.monotonic())
            if failed := running.overdue(self._clock.monotonic()):
                await self._abort(running, failed)
                return

    async def _abort(self, running: Running, failed: Failed) -> None:
        """End a turn for a reason of kai's own; its text so far stays."""
        if running.verdict is None and not running.done.is_set():
            running.verdict = failed
            log.warning("turn.aborted", run=self._run.run, kind=failed.kind.value)
            await self._stop(running)

    # Stopping

    async def _stop(self, running: Running) -> StopReport:
        began = self._clock.monotonic()
        async with self._stopping:
            if running.done.is_set():
                return StopReport("interrupt", self._clock.monotonic() - began, session_kept=self.alive)
            running.stopping = True
            step = await self._interrupt(running) or await self._end_process()
            if step != "interrupt":
                await self._gone.wait()
            await running.done.wait()
        report = StopReport(step, self._clock.monotonic() - began, session_kept=self.alive)
        log.info("turn.stopped", run=self._run.run, step=report.step, seconds=round(report.seconds, 3))
        return report

    async def _interrupt(self, running: Running) -> str:
        """Ask through the protocol. "" when the turn did not end in time."""
        self.wire.call("interrupt")
        self._take(self._driver.interrupt())
        with anyio.move_on_after(self.limits.stop_s):
            await running.done.wait()
        if running.done.is_set():
            return "interrupt"
        # From here on this process is given up, whatever it does.
        self._is_closing = True
        return ""

    async def _end_process(self) -> str:
        self._is_closing = True
        return await self._child.end()

    # The tasks

    async def get_ready(self, tasks: TaskGroup, resume: str) -> None:
        """Start the tasks and the driver; return when a prompt is taken. Raises `SessionLostError`."""
        self._tasks = tasks
        self._begin_tasks()
        self.wire.call("start", resume=resume)
        self._take(self._driver.start(resume))
        with anyio.move_on_after(self.limits.start_s):
            await self._started.wait()
        if self._lost is not None:
            # A transcript that was cut in the middle of a write ends some CLIs at their start: a fresh one may do.
            kind = FailureKind.RESUME if resume and self._lost.kind in _SPOILT else self._lost.kind
            raise SessionLostError(self._lost.reason, kind, self._lost.detail)
        if not self._started.is_set():
            reason = f"The agent was not ready in {self.limits.start_s:g} s."
            raise SessionLostError(reason, FailureKind.SILENT, self.stderr_tail)
        self._go(self._child.look)

    def _begin_tasks(self) -> None:
        for task in (self._read, self._frames.write, self._child.drain, self._watch):
            self._go(task)

    def take_over(self, tasks: TaskGroup, stand: Stand) -> None:
        """Go on where a former daemon left: the driver has been brought to that `stand` already."""
        self._tasks, self._framer = tasks, stand.framer
        self.ready, self._background = stand.ready or self.ready, stand.works
        self._started.set()
        if stand.dispatch is not None:
            now = self._clock.monotonic()
            running = Running(stand.dispatch, self.native_id, self.limits, now)
            self._resumed = self._running = running
            running.stopping, self.idle_since = stand.is_stopping, None
            running.hears(now)
            for one in stand.turn:
                if isinstance(one, Answered):
                    running.turn.answered(one.ask)
                else:
                    self._emit(one)
            self._seen = len(running.events)
            if not running.done.is_set():
                self._go(self._guard, running)
        self._take([*stand.wakes.values(), *map(Send, stand.unsent)])
        self._begin_tasks()

    def _go(self, task: Callable[..., Awaitable[object]], *args: object) -> None:
        """Start a task that goes on while the body of `open_session` is cancelled: it is what ends the process."""

        async def shielded() -> None:
            with anyio.CancelScope(shield=True) as scope:
                self._scopes.append(scope)
                await task(*args)
            self._scopes.remove(scope)

        self._tasks.start_soon(shielded)

    def end_tasks(self) -> None:
        """The process is gone: nothing is left to do."""
        for scope in self._scopes:
            scope.cancel()

    def close_frames(self) -> None:
        """After the tasks: a writer that still waits would take its closed stream for a fault."""
        self._frames.close()

    async def _read(self) -> None:
        framer = self._framer
        while chunk := await self._run.read():
            self.wire.add(Kind.READ, chunk)
            if self._running is not None:
                self._running.lives(self._clock.monotonic())
            for line in framer.feed(chunk):
                if isinstance(line, Overlong):
                    log.warning("run.line_dropped", run=self._run.run, bytes=line.size_bytes)
                else:
                    self._feed(line)
        self.wire.call("rest")
        self._feed(framer.finish() or b"")
        self._child.stdout_ended.set()

    def _feed(self, line: bytes) -> None:
        if self._running is not None and line:
            self._running.hears(self._clock.monotonic())
        self._take(self._driver.feed(line))

    def _write_failed(self, error: Exception) -> None:
        """Half a frame may be in the pipe: nothing more can be said to this process."""
        self._is_closing = True
        log.warning("run.write_failed", run=self._run.run, reason=type(error).__name__)
        if (running := self._running) is not None and isinstance(error, TimeoutError) and running.verdict is None:
            sentence = f"The agent did not take the message within {self.limits.write_s:g} s."
            running.verdict = Failed(FailureKind.SILENT, sentence, session_lost=True)
        self._go(self._give_up)

    async def _give_up(self) -> None:
        async with self._stopping:
            await self._end_process()

    async def _watch(self) -> None:
        await self._child.until_gone(is_closing=lambda: self._is_closing)
        code, tail = self._child.exit_code, self.stderr_tail
        if self._child.out_of_memory:
            self._emit(self._child.failure())  # no driver can know that
        self.wire.call("eof", exit_code=code, stderr_tail=tail)
        self._take(self._driver.eof(code, tail))
        if self._running is not None:
            self._emit(self._child.failure())
        self._lost = self._lost or Lost(self._why_gone(), FailureKind.CRASH)
        self._started.set()
        self._gone.set()
        log.info("run.ended", run=self._run.run, code=code)

    def _why_gone(self) -> str:
        return self._lost.reason if self._lost is not None else of_kind(FailureKind.CRASH).sentence

    # What the driver gives

    def _take(self, outputs: Outputs) -> None:
        for output in outputs:
            match output:
                case Send(frame):
                    self._frames.send(frame)
                case Wake(after_s, name):
                    self._wakes[name] = output
                    asyncio.get_running_loop().call_later(after_s, self._wake, output)
                case Ready():
                    self.ready = output
                    self._started.set()
                case Lost():
                    self._lost = output
                    if self._started.is_set():
                        self._go(self._give_up)
                    self._started.set()
                case Skipped(what):
                    self._note_skipped(what)
                case Background(works):
                    self._background = works
                case Unsolicited(text):
                    self._on_unsolicited(text)
                case _:
                    self._emit(output)

    def _wake(self, wake: Wake) -> None:
        if self._wakes.get(wake.name) is wake and not self._gone.is_set():
            self.wire.call("wake", wake=wake.name)
            self._take(self._driver.wake(wake.name))

    def _note_skipped(self, what: str) -> None:
        """Once for each: some agents send the same unknown line hundreds of times a day."""
        if what not in self._skipped and len(self._skipped) < 100:
            self._skipped.add(what)
            log.info("run.skipped", run=self._run.run, what=what)
