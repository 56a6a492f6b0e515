"""The daemon: the only place that knows every part. Nested `async with`, one task group."""

import os
import signal
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from pathlib import Path
from typing import TYPE_CHECKING

import anyio
from anyio import to_thread
from anyio.abc import TaskGroup, TaskStatus

from kai import __version__, systemd
from kai.api.faces import Threshold
from kai.api.server import AGENTS, PEOPLE, serve, shut
from kai.clock import SystemClock
from kai.first_use import importing
from kai.log import log, set_up
from kai.model.errors import StoreError, errors_in
from kai.processes.choose import launcher
from kai.processes.marks import run_above
from kai.settings.problems import ConfigError
from kai.settings.where import Folders, prepare
from kai.store import status
from kai.store.database import open_store
from kai.turns.config import Config, Loaded, read, refused
from kai.turns.ground import Ground

if TYPE_CHECKING:
    from kai.api.endpoint import Parts as ApiParts
    from kai.api.shut import ShutDoor
    from kai.turns.work import Work

DRAIN_S = 20.0  # what runs at a stop may still come to its end
CLOSE_S = 15.0  # for the sessions to end after that
SWEEP_EVERY_S = 5.0
DROP_EVERY_S = 3600.0
LOOK_AGAIN_S = 5.0  # at a configuration that was refused
TELL_EVERY_S = 5.0
DROP_LATEST_S = 6 * DROP_EVERY_S  # though something runs all the time
DATABASE = "kai.db"
RUNS = "runs"


class Daemon:
    """A daemon that answers on `socket`. What works on turns is begun by the first question, or by what was left to do.

    `tasks` hosts the work, and outlives it; `kept` is what a former daemon let systemd keep, by name.
    """

    def __init__(self, ground: Ground, tasks: TaskGroup, kept: Mapping[str, int]) -> None:
        self.ground = ground
        self.socket = ground.folders.runtime / PEOPLE
        launcher_ = ground.launcher
        self.threshold = Threshold(self.behind, lambda pid: launcher_.run_of(pid) or run_above(pid), launcher_.run_of)
        self._tasks = tasks
        self._kept = kept
        self._work: Work | None = None
        self._parts: ApiParts | None = None
        self._one = anyio.Lock()
        self._over = anyio.Event()

    async def work(self) -> "Work":
        """What works on turns."""
        async with self._one:
            if self._work is None:
                with anyio.CancelScope(shield=True):  # whoever asked first may go away: others wait for it
                    self._work = await self._tasks.start(self._host)
            assert self._work is not None
            return self._work

    async def _host(self, *, task_status: TaskStatus["Work"]) -> None:
        at_work = await to_thread.run_sync(_at_work)
        async with at_work(self.ground, self._kept) as work:
            task_status.started(work)
            await self._over.wait()

    async def behind(self) -> "ApiParts":
        """What stands behind the faces, the work included."""
        work = await self.work()
        async with self._one:  # the first requests may come at once
            if self._parts is None:
                parts_of = await to_thread.run_sync(_parts_of)
                self._parts = await to_thread.run_sync(parts_of, self.ground, work, self.threshold)
            return self._parts

    @property
    def at_work(self) -> "Work | None":
        """The work, once it was begun."""
        return self._work

    @property
    def counts(self) -> tuple[int, int]:
        """How many turns run, and how many agents live."""
        return (len(self._work.runner.every()), len(self._work.parts.pool.every())) if self._work else (0, 0)

    @property
    def is_idle(self) -> bool:
        """Nothing runs and nobody listens."""
        return self._work is None or not (self._work.runner.every() or self._work.door.listeners)

    async def drop_old(self) -> None:
        """Erase what was kept long enough."""
        from kai.turns.retention import drop_old  # noqa: PLC0415 - first use

        if self._work is None:
            await drop_old(self.ground, (), lambda _: None)
        else:
            parts = self._work.parts
            await drop_old(self.ground, [one.run for one in parts.pool.every()], parts.live.forget)

    async def drain(self) -> None:
        """Begin nothing new and wait for what runs, so that a second signal can still cut it short."""
        if self._work is not None:
            self._work.lanes.open = False
            self._work.runner.leave_held()
            with anyio.move_on_after(DRAIN_S):
                for running in self._work.runner.every():
                    await running.ended.wait()

    async def cut(self) -> None:
        """End what runs, with its cause."""
        if self._work is not None:
            await self._work.runner.cut("kai was stopped while this was running.")

    async def end(self) -> None:
        """Let what runs come to its end, cut the rest with its cause, end every session."""
        await self.drain()
        with anyio.move_on_after(CLOSE_S):
            await self.cut()
        if self._work is not None:
            with anyio.move_on_after(CLOSE_S):
                await self._work.parts.pool.close_all("kai was stopped")
        self._over.set()


def _at_work() -> "Callable[[Ground, Mapping[str, int]], AbstractAsyncContextManager[Work]]":
    with importing():
        from kai.turns.work import at_work  # noqa: PLC0415 - first use, in a thread
    return at_work


def _parts_of() -> "Callable[[Ground, Work, Threshold], ApiParts]":
    with importing():
        from kai.api.behind import parts_of  # noqa: PLC0415 - first use, in a thread
    return parts_of


@asynccontextmanager
async def daemon(folders: Folders, loaded: Loaded | None = None) -> AsyncIterator[Daemon]:
    """A whole daemon on `folders`, ready when entered, drained when left. `loaded`: the configuration, if known.

    Raises `ConfigError`, `FolderError` or `StoreError` when it cannot start; then nothing was changed.
    """
    if loaded is None:
        loaded = await to_thread.run_sync(read, folders)
    config = Config(folders, loaded)
    await to_thread.run_sync(prepare, folders)
    clock = SystemClock()
    async with (
        open_store(folders.state / DATABASE, clock=clock) as store,
        anyio.create_task_group() as hosts,
        anyio.create_task_group() as tasks,
    ):
        chosen, kept = config.settings.launcher, systemd.take_kept()
        starts = await to_thread.run_sync(launcher, chosen.kind, chosen.socket)
        runs, agents = folders.runtime / RUNS, folders.runtime / AGENTS
        serving = Daemon(Ground(folders, config, store, clock, starts, tasks, runs, agents), hosts, kept)
        is_left = bool(kept) or await store.read(status.is_left) or await to_thread.run_sync(_is_any, runs)
        is_left |= await _declare(serving.ground)
        if is_left:
            await serving.work()
        async with serve(serving.threshold, folders):
            if is_left:
                await (await serving.work()).go_on()
            tasks.start_soon(_sweep, serving)
            tasks.start_soon(starts.watch)
            log.info(
                "daemon.ready", version=__version__, pid=os.getpid(), state=str(folders.state), launcher=starts.name
            )
            try:
                yield serving
            finally:
                with anyio.CancelScope(shield=True):
                    await serving.end()
        tasks.cancel_scope.cancel()
    log.info("daemon.ended", pid=os.getpid())


def _is_any(folder: Path) -> bool:
    """Whether there is anything in a folder. Blocks."""
    return folder.is_dir() and any(folder.iterdir())


async def _declare(ground: Ground) -> bool:
    """See to the people whom the configuration names, and to the first one; whether anything was to be done."""
    settings = ground.config.settings
    is_to_be_done = bool(settings.persons) or await ground.store.read(status.is_new)
    if is_to_be_done:
        from kai.turns.declared import declare  # noqa: PLC0415 - most starts find everybody there

        is_of_service = ground.folders.is_of_service  # its own user is nobody, and runs no agent
        await ground.store.write(declare, settings, ground.clock.now(), is_of_service=is_of_service)
    return is_to_be_done


async def _sweep(serving: Daemon) -> None:
    """Close what has been idle for too long; now and then, when nothing runs, erase what was kept long enough."""
    clock, dropped_at = serving.ground.clock, -DROP_LATEST_S
    while True:
        await anyio.sleep(SWEEP_EVERY_S)
        if serving.at_work is not None:
            await serving.at_work.parts.pool.close_idle()
        waited_s = clock.monotonic() - dropped_at
        if waited_s >= DROP_LATEST_S or (waited_s >= DROP_EVERY_S and not serving.counts[0]):
            dropped_at = clock.monotonic()
            try:
                await serving.drop_old()
            except (StoreError, OSError) as error:  # a full disk must not end the daemon
                log.warning("daemon.not_dropped", problem=str(error))


async def run(
    folders: Folders, *, idle_exit_s: float = 0.0, on_ready: Callable[[Daemon], Awaitable[None]] | None = None
) -> None:
    """Serve until SIGTERM or SIGINT; a second one stops at once. SIGHUP reads the configuration again.

    `idle_exit_s`: leave when nothing ran and nobody listened for so long; 0: stay. Under a service manager a refused
    configuration is no end: nothing is taken until it is mended, and whoever asks is told why.
    """
    signal.signal(signal.SIGHUP, signal.SIG_IGN)  # until there is a configuration to read again
    async with systemd.beating() as heart:
        loaded = await _sound(folders, heart) if systemd.is_listening() else None
        if systemd.is_listening() and loaded is None:
            return
        try:
            with anyio.CancelScope() as everything:
                async with daemon(folders, loaded) as serving:
                    await _serve(serving, heart, everything, idle_exit_s, on_ready)
        except Exception as error:
            heart.status(" ".join(f"Failed: {one.sentence} {one.hint}" for one in errors_in(error)[:1]) or repr(error))
            raise


async def _serve(
    serving: Daemon,
    heart: systemd.Heart,
    everything: anyio.CancelScope,
    idle_exit_s: float,
    on_ready: Callable[[Daemon], Awaitable[None]] | None,
) -> None:
    set_up(serving.ground.config.settings.log.level)
    async with anyio.create_task_group() as tasks:
        leave = anyio.Event()
        await tasks.start(_signals, serving, leave, everything, heart)
        heart.ready()
        if on_ready is not None:
            await on_ready(serving)
        tasks.start_soon(_tell, serving, leave, heart)
        if idle_exit_s:
            tasks.start_soon(serving.behind)  # it was started by somebody who is about to ask
            tasks.start_soon(_leave_when_idle, serving, leave, idle_exit_s)
        await leave.wait()
        heart.stopping()
        await serving.drain()
        await serving.cut()
        tasks.cancel_scope.cancel()


async def _sound(folders: Folders, heart: systemd.Heart) -> Loaded | None:
    """The configuration, once it can be read; None at a signal to end. Until then the door is shut."""
    try:
        return await to_thread.run_sync(read, folders)
    except ConfigError:
        return await to_thread.run_sync(read, folders) if await _until_sound(folders, heart) else None


async def _until_sound(folders: Folders, heart: systemd.Heart) -> bool:
    """Return True when the configuration can be read, False at a signal to end. Until then the door is shut."""
    from kai.api.shut import ShutDoor  # noqa: PLC0415 - where a configuration is refused, only

    door = ShutDoor(lambda: to_thread.run_sync(refused, folders))
    await door.look()
    if not door.problems:
        return True
    log.error("daemon.shut", problems=len(door.problems), first=door.problems[0])
    async with shut(door, folders), anyio.create_task_group() as tasks:
        leave = anyio.Event()
        await tasks.start(_signals_when_shut, door, leave)
        heart.ready()
        while door.problems and not leave.is_set():
            heart.status(f"Takes no message until the configuration is mended: {door.problems[0]}")
            touched = door.touched
            with anyio.move_on_after(LOOK_AGAIN_S) as waiting:
                await touched.wait()
            if waiting.cancelled_caught:
                await door.look()
        tasks.cancel_scope.cancel()
    return not leave.is_set()


async def _signals_when_shut(door: "ShutDoor", leave: anyio.Event, *, task_status: TaskStatus[None]) -> None:
    with anyio.open_signal_receiver(signal.SIGTERM, signal.SIGINT, signal.SIGHUP) as signals:
        task_status.started()
        async for number in signals:
            if number != signal.SIGHUP:
                leave.set()
            await door.look()


async def _tell(serving: Daemon, leave: anyio.Event, heart: systemd.Heart) -> None:
    """The line of ``systemctl status``."""
    while True:
        running, live = serving.counts
        told = f"{running} turns run, {live} agents live."
        if leave.is_set():
            told = f"Stopping; {told}"
        elif problems := serving.ground.config.problems:
            told = f"The last good configuration holds, the new one is refused: {problems[0]} {told}"
        heart.status(told)
        await anyio.sleep(TELL_EVERY_S)


async def _signals(
    serving: Daemon,
    leave: anyio.Event,
    everything: anyio.CancelScope,
    heart: systemd.Heart,
    *,
    task_status: TaskStatus[None],
) -> None:
    with anyio.open_signal_receiver(signal.SIGTERM, signal.SIGINT, signal.SIGHUP) as signals:
        task_status.started()
        async for number in signals:
            if number == signal.SIGHUP:
                heart.reloading()
                await (await serving.work()).door.reload_all()
                heart.ready()
            elif leave.is_set():
                log.warning("daemon.cut", signal=int(number))
                await serving.cut()
                everything.cancel()
            else:
                log.info("daemon.draining", signal=int(number), running=serving.counts[0])
                leave.set()


async def _leave_when_idle(serving: Daemon, leave: anyio.Event, idle_exit_s: float) -> None:
    clock = serving.ground.clock
    busy_at = clock.monotonic()
    while clock.monotonic() - busy_at < idle_exit_s:
        await anyio.sleep(min(1.0, idle_exit_s / 4))
        if not serving.is_idle or (serving.at_work and await serving.at_work.parts.pool.is_at_work()):
            busy_at = clock.monotonic()
    log.info("daemon.idle", seconds=idle_exit_s)
    leave.set()


@asynccontextmanager
async def private(folders: Folders) -> AsyncIterator[Path]:
    """A daemon inside this process, for one command or one chat; gives the path of its socket."""
    async with daemon(folders) as serving:
        yield serving.socket
