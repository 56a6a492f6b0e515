"""What an agent reaches with its tools: S23, S29, S39."""

import time
from datetime import UTC, datetime, timedelta
from typing import Any

import httpx
import pytest
from anyio import to_thread

from kai.clock import SystemClock
from kai.context import gather
from kai.context.sections import agent as agent_section
from kai.model.context import ContextBlock
from kai.model.ids import ChannelId, PrincipalId, RunId, SessionId, TurnId, fresh
from kai.model.memory import NewRecord, Scope
from kai.model.messages import Author
from kai.model.people import ChannelKind, Person
from kai.processes.direct import DirectLauncher
from kai.processes.launcher import LaunchSpec
from kai.store import channels, messages, namespaces, opening, people, records, snapshots
from kai.store.binding import Connection
from kai.tools import door, history
from kai.tools.scope import RunScope
from kai.turns import opening as opening_of_turns
from kai.turns.runs import LiveRun, Runs
from tests.e2e.house import House
from tests.scenarios.harness import Stage, scenario, without
from tests.store.house import ANN, BOB
from tests.store.remembered import Memory
from tests.tools.at_work import at_work

PLAIN = "memory: {embedder: {provider: none}}\n"


def _unbounded(patch: pytest.MonkeyPatch) -> None:
    patch.setattr(namespaces, "within", lambda patterns, *_, **__: patterns)
    patch.setattr(namespaces, "narrowed", lambda wanted, _: wanted)


@scenario(
    "S23",
    _unbounded,
    without(door, "FROM_THE_RUN", frozenset[str]()),
    without(Runs, "of", lambda self, *_: next(iter(self._live.values()))),
)
async def claimed(stage: Stage) -> None:
    statements = _watched(stage)
    async with stage.kai(yaml=PLAIN) as kai:
        await kai.client.memory("save", {"text": "the spare key is under the mat"})
        theirs = await kai.daemon.parts.store.write(_bobs_secret)
        async with at_work(kai) as run:
            plain = await run.call("memory_search", query="key")
            claims = {"principal": theirs, "channel": theirs, "memory_mode": "enabled", "mode": "x", "person": "Bob"}
            assert await run.call("memory_search", query="key", **claims) == plain
            for namespace in (f"person/{theirs}/memory", "person/*/*"):
                other = await run.call("memory_search", query="secret key", namespace=namespace)
                assert (other["status"], other["hits"]) == ("denied", [])
            denied = [row for row in await kai.client.memory("audit", {"limit": "100"}) if row["status"] == "denied"]
            told = {row["reason"] for row in denied}
            assert told == {"not_granted", "claimed: channel, memory_mode, mode, person, principal"}
            statements.clear()
            transport = httpx.AsyncHTTPTransport(uds=str(kai.daemon.parts.socket))
            async with httpx.AsyncClient(transport=transport, base_url="http://kai") as http:
                bearer = {"authorization": "Bearer somebody-elses"}
                answer = await http.post("/v1/tools/memory_search", json={"query": "key"}, headers=bearer)
            assert answer.status_code == 403
            assert [one for one in statements if "mem_" in one] == []
            assert [one["text"] for one in plain["hits"]] == ["the spare key is under the mat"]


def _watched(stage: Stage) -> list[str]:
    """Every statement from now on."""
    statements: list[str] = []
    connect = opening.connect_to

    def connect_to(*args: Any) -> Connection:
        db = connect(*args)
        db.set_trace_callback(statements.append)
        return db

    stage.patch.setattr(opening, "connect_to", connect_to)
    return statements


def _bobs_secret(db: Connection) -> str:
    now, bob = datetime.now(UTC), Person(PrincipalId(fresh("p")), "Bob", "bob")
    people.add(db, bob, now)
    where = channels.private_of(db, bob.principal, now).channel
    records.save(db, Scope(bob.principal, where), NewRecord("a secret of Bob, and its key"), "o-1", now)
    return bob.principal


def _with_the_run(servers: Any) -> dict[str, str]:
    return {"{mcp_config}": str(servers[0].env), "{mcp_unasked}": "x"}


@scenario(
    "S29",
    without(opening_of_turns, "fills", _with_the_run),
    without(agent_section, "_reach_any", lambda _: f"It is {time.time_ns()} now."),
)
async def the_same_an_hour_later(stage: Stage) -> None:
    started: list[LaunchSpec] = []
    spawn = DirectLauncher.spawn

    async def noted(self: DirectLauncher, spec: LaunchSpec) -> Any:
        started.append(spec)
        return await spawn(self, spec)

    stage.patch.setattr(DirectLauncher, "spawn", noted)
    first = await _asked(stage, "one")
    now = SystemClock.now
    stage.patch.setattr(SystemClock, "now", lambda self: now(self) + timedelta(hours=1))
    assert await _asked(stage, "two") == first  # after a restart
    one, two = (spec for spec in started if "--protocol" in spec.argv and "--version" not in spec.argv)
    assert one.argv == two.argv
    assert one.env.keys() == two.env.keys()
    assert [spec.run in "".join(spec.argv) for spec in (one, two)] == [False, False]


async def _asked(stage: Stage, thread: str) -> tuple[list[str], list[str]]:
    """The stable sections of a first message in a conversation of its own, and the tools of its run."""
    house = House(stage.folder, yaml=PLAIN)
    manifest = house.folders.config / "backends/fake/backend.yaml"
    text = await to_thread.run_sync(manifest.read_text)
    text = text.replace("  effort:", '  mcp: ["--mcp", "{mcp_config}", "{mcp_unasked}"]\n  effort:')
    await to_thread.run_sync(manifest.write_text, text.replace("can: {", "can: {mcp: true, "))
    async with house.open() as kai, at_work(kai, thread=thread, external_id=thread) as run:
        block = await kai.daemon.parts.store.read(_sent, run.accepted.turn or "")
        stable = [one.text for one in block.sections if one.stable]
        return stable, [one["name"] for one in await run.door.tools(run.live)]


def _sent(db: Connection, turn: str) -> ContextBlock:
    return snapshots.snapshot(db, snapshots.dispatches(db, TurnId(turn))[-1].dispatch)


@scenario(
    "S39",
    without(channels, "heard", lambda _db, found, _present: tuple(found)),
)
async def as_the_oracle_says(stage: Stage) -> None:
    memory = await stage.household()
    db, house = memory.db, memory.house
    mine, theirs = house.main.channel, channels.private_of(db, BOB, house.now).channel
    other = channels.titled(db, ANN, "garden", house.now).channel
    room = channels.create(db, ChannelKind.SHARED, "Kitchen", None, (ANN,), house.now).channel
    _say(memory, room, ANN, "quince before Bob came")
    channels.join(db, room, BOB, house.now)
    for where, who in ((mine, ANN), (other, ANN), (theirs, BOB), (room, ANN), (room, BOB)):
        _say(memory, where, who, f"quince of {who} in {where}")
    channels.leave(db, room, BOB, house.now)
    _say(memory, room, ANN, "quince while Bob was away")
    channels.join(db, room, BOB, house.now)
    for where, who, reached in (
        (mine, ANN, {mine, other}),
        (other, ANN, {mine, other}),
        (theirs, BOB, {theirs}),
        (room, ANN, {room}),
    ):
        allowed = _oracle(db, where, reached)
        found, _ = history._found(db, _scope(db, where, who), "quince")
        assert {one.message for one in found} == allowed
        injected, _quote = gather._past(db, where, None, 50, None, True)
        assert {one.message for one in injected.messages} == _oracle(db, where, {where})
        assert allowed


def _say(memory: Memory, where: ChannelId, who: PrincipalId, text: str) -> None:
    messages.keep(memory.db, messages.draft(where, Author.PERSON, who, who, text, memory.house.now))


def _scope(db: Connection, where: ChannelId, who: PrincipalId) -> RunScope:
    run = LiveRun(RunId("r-1"), SessionId("s-1"), where, who, 0, b"")
    return RunScope(run, people.get(db, who), channels.get(db, where), None, "fake", ())


def _oracle(db: Connection, where: ChannelId, reached: set[ChannelId]) -> set[str]:
    """Who is there now was there then, by the intervals of membership."""
    present = {
        row[0] for row in db.execute("SELECT principal FROM membership WHERE channel = ? AND to_at IS NULL", (where,))
    }
    spans = db.execute("SELECT channel, principal, from_number, to_number FROM membership").fetchall()
    allowed = set()
    for channel, message, number in db.execute("SELECT channel, message, number FROM message"):
        there = {who for place, who, first, last in spans if place == channel and first < number <= (last or number)}
        if channel in reached and present <= there:
            allowed.add(message)
    return allowed
