"""All that works on turns: made when the first of it is needed, for an idle daemon holds none of it."""

import shutil
from collections.abc import AsyncIterator, Collection, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path

from anyio import to_thread

from kai.log import log
from kai.memory.retrieval import StoreRetriever
from kai.memory.vectors import Vectors, open_vectors
from kai.model.errors import KaiError
from kai.model.ids import RunId, TurnId
from kai.model.people import Person
from kai.people.folders import PersonFolders
from kai.processes.errands import Errands
from kai.processes.marks import kill_marked
from kai.processes.spawner import kept_pipes
from kai.store import definitions, people, sessions, turns
from kai.store.binding import Connection
from kai.store.tasks import open_channels
from kai.turns.backends import Backends, os_user
from kai.turns.facts import machine_zone
from kai.turns.front_door import FrontDoor
from kai.turns.ground import Ground
from kai.turns.lanes import Lanes
from kai.turns.live import LiveTurns
from kai.turns.parts import Parts
from kai.turns.pool import Live, Pool
from kai.turns.route import Next
from kai.turns.runner import Runner
from kai.turns.runs import Runs
from kai.turns.stopping import Stopping
from kai.turns.survivors import Survivor, survivors
from kai.turns.uploads import seed


@dataclass(frozen=True, slots=True)
class Work:
    """The parts, who runs turns, in which order, and the door that leads to them."""

    parts: Parts
    runner: Runner
    lanes: Lanes[Next]
    door: FrontDoor

    async def go_on(self) -> None:
        """Take up the turns that wait, and those that agents are still at work on."""
        going_on = [one.channel for one in self.runner.survivors.values()]
        for channel in (*going_on, *await self.parts.store.read(turns.queued_channels)):
            self.lanes.wake(channel)


@asynccontextmanager
async def at_work(ground: Ground, kept: Mapping[str, int]) -> AsyncIterator[Work]:
    """Ready for turns inside the context. What a former daemon left is taken up or owned up to; `kept` is what it let
    systemd keep, by name.
    """
    going_on = await _left(ground, kept)
    async with open_vectors(ground.store, ground.config.settings.memory) as vectors:
        parts = _parts(ground, vectors, await to_thread.run_sync(machine_zone))
        everybody = await ground.store.read(people.every)
        await _seed(parts, [person for person in everybody if person.os_user == os_user()])
        # These take a run each: nobody waits for them.
        ground.tasks.start_soon(_seed, parts, [person for person in everybody if person.os_user != os_user()])
        runner = Runner(parts)
        lanes = Lanes(ground.tasks, runner.next, runner.run)
        runner.steering.wake = lanes.wake
        runner.survivors = going_on
        door = FrontDoor(parts, runner, lanes)
        parts.delegating.wake, parts.delegating.stop = lanes.wake, Stopping(parts, runner).stop
        await ground.store.write_soft(definitions.note, list(ground.config.agents.values()), ground.clock.now())
        await parts.delegating.go_on(parts)
        parts.open_tasks.update(await ground.store.read(open_channels))
        yield Work(parts, runner, lanes, door)


async def _left(ground: Ground, kept: Mapping[str, int]) -> dict[TurnId, Survivor]:
    """The turns of a former daemon that go on; every other one is ended, with all that its agents left."""
    going_on = await survivors(ground.store, ground.launcher, kept_pipes(kept), ground.runs)
    at_work = {one.run for one in going_on.values()}
    for left in await ground.store.read(sessions.open_runs):  # their keeper may have died along with the daemon
        if left not in at_work:
            await to_thread.run_sync(kill_marked, left)
    for turn in await ground.store.write(turns.recover, ground.clock.now(), at_work):
        log.warning("turn.interrupted", turn=turn.turn, channel=turn.channel)
    await to_thread.run_sync(_clear, ground.runs, at_work)
    return going_on


def _clear(runs: Path, at_work: Collection[RunId]) -> None:
    """Wire files of a former daemon: its runs ended with it, but those that go on."""
    runs.mkdir(mode=0o700, parents=True, exist_ok=True)
    for left in runs.iterdir():
        if left.name not in at_work:
            shutil.rmtree(left, ignore_errors=True)


def _parts(ground: Ground, vectors: Vectors | None, zone: str) -> Parts:
    async def session_ended(live: Live) -> None:
        await ground.store.write_soft(_session_ended, live, ground.clock.now())

    settings, errands = ground.config.settings, Errands(ground.launcher)
    limits, must_be_near = settings.sessions, settings.memory.fallback == "none"
    return Parts(
        store=ground.store,
        clock=ground.clock,
        config=ground.config,
        backends=Backends(ground.config, errands),
        folders=PersonFolders(ground.folders.state),
        retriever=StoreRetriever(ground.store, ground.clock, vectors.stage if vectors else None, must_be_near),
        vectors=vectors,
        launcher=ground.launcher,
        errands=errands,
        pool=Pool(ground.tasks, ground.clock, on_end=session_ended, max_live=limits.max_live, idle_s=limits.idle_s),
        live=LiveTurns(),
        runs=ground.runs,
        live_runs=Runs(ground.runs),
        socket=ground.socket,
        zone=zone,
    )


def _session_ended(db: Connection, live: Live, now: datetime) -> None:
    sessions.end(db, live.row.session, "ended")
    sessions.run_ended(db, live.run, now, reason=live.why_closed)


async def _seed(parts: Parts, people_: Sequence[Person]) -> None:
    for person in people_:
        try:
            await seed(parts, person.principal, person.os_user, person.legacy_chat_id)
        except (OSError, KaiError) as error:  # what one person's agent did to their folder must not keep the others out
            log.warning("person.not_seeded", principal=person.principal, problem=str(error))
