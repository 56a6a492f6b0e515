"""The daemon: the only place that knows every part. Nested `async with`, one task group."""

import os
import shutil
import signal
from collections.abc import AsyncIterator, Awaitable, Callable, Collection, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path

import anyio
from anyio import to_thread
from anyio.abc import TaskGroup, TaskStatus

from kai import __version__, systemd
from kai.api.attachments import AttachmentFolder
from kai.api.callers import Callers
from kai.api.endpoint import Parts as ApiParts
from kai.api.limits import ApiLimits
from kai.api.server import AGENTS, PEOPLE, serve, shut
from kai.api.shut import ShutDoor
from kai.clock import SystemClock
from kai.log import log, set_up
from kai.memory.retrieval import StoreRetriever
from kai.memory.vectors import Vectors, open_vectors
from kai.model.errors import KaiError, StoreError, errors_in
from kai.model.ids import PrincipalId, RunId, fresh
from kai.model.people import Person
from kai.people.folders import PersonFolders
from kai.processes.choose import launcher
from kai.processes.errands import Errands
from kai.processes.launcher import Launcher
from kai.processes.marks import kill_marked, run_above
from kai.processes.spawner import kept_pipes
from kai.settings.where import INSTALLED, Folders, prepare
from kai.store import definitions, people, sessions, turns
from kai.store.binding import Connection
from kai.store.database import Store, open_store
from kai.store.tasks import open_channels
from kai.tools.door import AgentDoor
from kai.turns.backends import Backends, os_user
from kai.turns.config import Config, read, refused
from kai.turns.facts import machine_zone
from kai.turns.front_door import FrontDoor
from kai.turns.lanes import Lanes
from kai.turns.live import LiveTurns
from kai.turns.parts import Parts
from kai.turns.pool import Live, Pool
from kai.turns.retention import Retention
from kai.turns.route import Next
from kai.turns.runner import Runner
from kai.turns.runs import Runs
from kai.turns.stopping import Stopping
from kai.turns.survivors import survivors
from kai.turns.uploads import seed

DRAIN_S = 20.0  # what runs at a stop may still come to its end
CLOSE_S = 15.0  # for the sessions to end after that
SWEEP_EVERY_S = 5.0
DROP_EVERY_S = 3600.0
LOOK_AGAIN_S = 5.0  # at a configuration that was refused
TELL_EVERY_S = 5.0
DROP_LATEST_S = 6 * DROP_EVERY_S  # though something runs all the time
DATABASE = "kai.db"
RUNS = "runs"


@dataclass(frozen=True, slots=True)
class Daemon:
    """A daemon that answers on `socket`."""

    socket: Path
    door: FrontDoor
    parts: Parts
    runner: Runner
    lanes: Lanes[Next]

    @property
    def is_idle(self) -> bool:
        """Nothing runs and nobody listens."""
        return not self.runner.every() and not self.door.listeners


@asynccontextmanager
async def daemon(folders: Folders) -> AsyncIterator[Daemon]:
    """A whole daemon on `folders`, ready when entered, drained when left.

    Raises `ConfigError`, `FolderError` or `StoreError` when it cannot start; then nothing was changed.
    """
    config = Config(folders, await to_thread.run_sync(read, folders))
    await to_thread.run_sync(prepare, folders)
    clock = SystemClock()
    async with (
        open_store(folders.state / DATABASE, clock=clock) as store,
        open_vectors(store, config.settings.memory) as vectors,
        anyio.create_task_group() as tasks,
    ):
        chosen, kept = config.settings.launcher, kept_pipes(systemd.take_kept())
        starts = await to_thread.run_sync(launcher, chosen.kind, chosen.socket)
        going_on = await survivors(store, starts, kept, folders.runtime / RUNS)
        at_work = {one.run for one in going_on.values()}
        for left in await store.read(sessions.open_runs):  # their keeper may have died along with the daemon
            if left not in at_work:
                await to_thread.run_sync(kill_marked, left)
        cut = await store.write(turns.recover, clock.now(), at_work)
        for turn in cut:
            log.warning("turn.interrupted", turn=turn.turn, channel=turn.channel)
        await to_thread.run_sync(_clear, folders.runtime / RUNS, at_work)
        zone = await to_thread.run_sync(machine_zone)
        parts = _parts(folders, config, store, tasks, clock, zone, starts, vectors)
        others = await _people(parts)
        runner = Runner(parts)
        lanes = Lanes(tasks, runner.next, runner.run)
        runner.steering.wake = lanes.wake
        door = FrontDoor(parts, runner, lanes)
        parts.delegating.wake, parts.delegating.stop = lanes.wake, Stopping(parts, runner).stop
        await store.write_soft(definitions.note, list(config.agents.values()), clock.now())
        await parts.delegating.go_on(parts)
        parts.open_tasks.update(await store.read(open_channels))
        async with serve(_api_parts(parts, door, folders), folders):
            runner.survivors = going_on
            for channel in (*(one.channel for one in going_on.values()), *await store.read(turns.queued_channels)):
                lanes.wake(channel)
            tasks.start_soon(_sweep, parts, runner, door.retention)
            tasks.start_soon(starts.watch)
            tasks.start_soon(_seed, parts, others)
            log.info(
                "daemon.ready", version=__version__, pid=os.getpid(), state=str(folders.state), launcher=starts.name
            )
            try:
                yield Daemon(folders.runtime / PEOPLE, door, parts, runner, lanes)
            finally:
                with anyio.CancelScope(shield=True):
                    await _end(parts, runner, lanes)
        tasks.cancel_scope.cancel()
    log.info("daemon.ended", pid=os.getpid())


def _parts(
    folders: Folders,
    config: Config,
    store: Store,
    tasks: TaskGroup,
    clock: SystemClock,
    zone: str,
    starts: Launcher,
    vectors: Vectors | None,
) -> Parts:
    async def session_ended(live: Live) -> None:
        await store.write_soft(_session_ended, live, clock.now())

    limits, errands = config.settings.sessions, Errands(starts)
    return Parts(
        store=store,
        clock=clock,
        config=config,
        backends=Backends(config, errands),
        folders=PersonFolders(folders.state),
        retriever=StoreRetriever(
            store, clock, vectors.stage if vectors else None, config.settings.memory.fallback == "none"
        ),
        vectors=vectors,
        launcher=starts,
        errands=errands,
        pool=Pool(tasks, clock, on_end=session_ended, max_live=limits.max_live, idle_s=limits.idle_s),
        live=LiveTurns(),
        runs=folders.runtime / RUNS,
        live_runs=Runs(folders.runtime / RUNS),
        socket=folders.runtime / AGENTS,
        zone=zone,
    )


def _api_parts(parts: Parts, door: FrontDoor, folders: Folders) -> ApiParts:
    surely_of = parts.launcher.run_of
    return ApiParts(
        door=door,
        callers=Callers(
            _Directory(parts.store), lambda: parts.config.settings.operators, changes=lambda: door.removals
        ),
        attachments=AttachmentFolder(folders.state / "attachments"),
        run_of=lambda pid: surely_of(pid) or run_above(pid),
        surely_of=surely_of,
        agents=AgentDoor(parts),
        max_body_bytes=lambda: parts.config.settings.api.max_body_bytes,
        max_attachment_bytes=lambda: parts.config.settings.attachments.max_bytes,
        limits=ApiLimits(),
        streams=set(),
    )


class _Directory:
    """The people as the door looks them up."""

    def __init__(self, store: Store) -> None:
        self._store = store

    async def by_os_user(self, os_user: str) -> Person | None:
        return await self._store.read(people.by_os_user, os_user)

    async def by_name(self, name: str) -> Person | None:
        return await self._store.read(people.by_name, name)


def _session_ended(db: Connection, live: Live, now: datetime) -> None:
    sessions.end(db, live.row.session, "ended")
    sessions.run_ended(db, live.run, now, reason=live.why_closed)


def _clear(runs: Path, at_work: Collection[RunId]) -> None:
    """Wire files of a former daemon: its runs ended with it, but those that go on."""
    runs.mkdir(mode=0o700, parents=True, exist_ok=True)
    for left in runs.iterdir():
        if left.name not in at_work:
            shutil.rmtree(left, ignore_errors=True)


async def _people(parts: Parts) -> list[Person]:
    """Everybody whom ``people.yaml`` names; who runs a daemon of their own is its first person."""
    everybody = await parts.store.write(_declare, parts)
    await _seed(parts, [person for person in everybody if person.os_user == os_user()])
    return [person for person in everybody if person.os_user != os_user()]  # these take a run each: not at the start


async def _seed(parts: Parts, people_: Sequence[Person]) -> None:
    for person in people_:
        try:
            await seed(parts, person.principal, person.os_user, person.legacy_chat_id)
        except (OSError, KaiError) as error:  # what one person's agent did to their folder must not keep the others out
            log.warning("person.not_seeded", principal=person.principal, problem=str(error))


def _declare(db: Connection, parts: Parts) -> tuple[Person, ...]:
    own, now = os_user(), parts.clock.now()
    for entry in parts.config.settings.persons:
        known = people.by_name(db, entry.name)
        fields = {
            # What 'kai person add --os-user' has set stays, unless the file says otherwise.
            "os_user": entry.os_user or ("" if known else own),
            "email": entry.email,
            "zone": entry.zone,
            "legacy_chat_id": entry.legacy_chat_id,
        }
        if known is None:
            people.add(db, Person(PrincipalId(fresh("p")), entry.name, **fields), now)
        else:
            people.change(db, known.principal, **{name: value for name, value in fields.items() if value})
        person = people.by_name(db, entry.name)
        assert person is not None
        for bridge, accounts in entry.accounts.items():
            for account in accounts:
                people.link(db, bridge, str(account), person.principal, now)
    is_of_service = parts.socket.parent == INSTALLED[2]  # its own user is nobody, and runs no agent
    if people.is_new(db) and not is_of_service:
        people.add(db, Person(PrincipalId(fresh("p")), own, own), now)
    return people.every(db)


async def _sweep(parts: Parts, runner: Runner, retention: Retention) -> None:
    """Close what has been idle for too long; now and then, when nothing runs, erase what was kept long enough."""
    dropped_at = -DROP_LATEST_S
    while True:
        await anyio.sleep(SWEEP_EVERY_S)
        await parts.pool.close_idle()
        waited_s = parts.clock.monotonic() - dropped_at
        if waited_s >= DROP_LATEST_S or (waited_s >= DROP_EVERY_S and not runner.every()):
            dropped_at = parts.clock.monotonic()
            try:
                await retention.drop_old()
            except (StoreError, OSError) as error:  # a full disk must not end the daemon
                log.warning("daemon.not_dropped", problem=str(error))


async def _end(parts: Parts, runner: Runner, lanes: Lanes[Next]) -> None:
    """Let what runs come to its end, cut the rest with its cause, end every session."""
    await _drain(runner, lanes)
    with anyio.move_on_after(CLOSE_S):
        await runner.cut("kai was stopped while this was running.")
    with anyio.move_on_after(CLOSE_S):
        await parts.pool.close_all("kai was stopped")


async def run(
    folders: Folders, *, idle_exit_s: float = 0.0, on_ready: Callable[[Daemon], Awaitable[None]] | None = None
) -> None:
    """Serve until SIGTERM or SIGINT; a second one stops at once. SIGHUP reads the configuration again.

    `idle_exit_s`: leave when nothing ran and nobody listened for so long; 0: stay. Under a service manager a refused
    configuration is no end: nothing is taken until it is mended, and whoever asks is told why.
    """
    signal.signal(signal.SIGHUP, signal.SIG_IGN)  # until there is a configuration to read again
    async with systemd.beating() as heart:
        if systemd.is_listening() and not await _until_sound(folders, heart):
            return
        try:
            with anyio.CancelScope() as everything:
                async with daemon(folders) as serving:
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
    set_up(serving.parts.config.settings.log.level)
    async with anyio.create_task_group() as tasks:
        leave = anyio.Event()
        await tasks.start(_signals, serving, leave, everything, heart)
        heart.ready()
        if on_ready is not None:
            await on_ready(serving)
        tasks.start_soon(_tell, serving, leave, heart)
        if idle_exit_s:
            tasks.start_soon(_leave_when_idle, serving, leave, idle_exit_s)
        await leave.wait()
        heart.stopping()
        await _drain(serving.runner, serving.lanes)
        await serving.runner.cut("kai was stopped while this was running.")
        tasks.cancel_scope.cancel()


async def _until_sound(folders: Folders, heart: systemd.Heart) -> bool:
    """Return True when the configuration can be read, False at a signal to end. Until then the door is shut."""
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


async def _signals_when_shut(door: ShutDoor, leave: anyio.Event, *, task_status: TaskStatus[None]) -> None:
    with anyio.open_signal_receiver(signal.SIGTERM, signal.SIGINT, signal.SIGHUP) as signals:
        task_status.started()
        async for number in signals:
            if number != signal.SIGHUP:
                leave.set()
            await door.look()


async def _tell(serving: Daemon, leave: anyio.Event, heart: systemd.Heart) -> None:
    """The line of ``systemctl status``."""
    while True:
        running, live = len(serving.runner.every()), len(serving.parts.pool.every())
        told = f"{running} turns run, {live} agents live."
        if leave.is_set():
            told = f"Stopping; {told}"
        elif problems := serving.parts.config.problems:
            told = f"The last good configuration holds, the new one is refused: {problems[0]} {told}"
        heart.status(told)
        await anyio.sleep(TELL_EVERY_S)


async def _drain(runner: Runner, lanes: Lanes[Next]) -> None:
    """Begin nothing new and wait for what runs, so that a second signal can still cut it short."""
    lanes.open = False
    runner.leave_held()
    with anyio.move_on_after(DRAIN_S):
        for running in runner.every():
            await running.ended.wait()


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
                await serving.door.reload_all()
                heart.ready()
            elif leave.is_set():
                log.warning("daemon.cut", signal=int(number))
                await serving.runner.cut("kai was stopped while this was running.")
                everything.cancel()
            else:
                log.info("daemon.draining", signal=int(number), running=len(serving.runner.every()))
                leave.set()


async def _leave_when_idle(serving: Daemon, leave: anyio.Event, idle_exit_s: float) -> None:
    clock = serving.parts.clock
    busy_at = clock.monotonic()
    while clock.monotonic() - busy_at < idle_exit_s:
        await anyio.sleep(min(1.0, idle_exit_s / 4))
        if not serving.is_idle or await serving.parts.pool.is_at_work():
            busy_at = clock.monotonic()
    log.info("daemon.idle", seconds=idle_exit_s)
    leave.set()


@asynccontextmanager
async def private(folders: Folders) -> AsyncIterator[Path]:
    """A daemon inside this process, for one command or one chat; gives the path of its socket."""
    async with daemon(folders) as serving:
        yield serving.socket
