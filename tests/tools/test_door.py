"""Every call is looked up anew, and sees what everybody present may see of the run's own conversation."""

from collections.abc import AsyncIterator
from dataclasses import dataclass
from pathlib import Path
from types import SimpleNamespace
from typing import cast

import pytest

from kai.catalog.tools import TOOLS
from kai.model.agents import AgentDefinition, Policy
from kai.model.errors import BadInputError, DeniedError, UnknownThingError
from kai.model.ids import ChannelId, PrincipalId, RunId, SessionId
from kai.model.messages import Author
from kai.model.people import ChannelKind, Person
from kai.model.turns import SessionRow
from kai.settings.values import Settings
from kai.store import channels, messages, people, sessions
from kai.store.binding import Connection
from kai.store.database import Store, open_store
from kai.tools.door import HANDLERS, AgentDoor
from kai.turns.parts import Parts
from kai.turns.runs import LiveRun, Runs
from tests.manual_clock import ManualClock

pytestmark = pytest.mark.anyio
AGENT = AgentDefinition("house", "", "", memory=Policy(write=("channel/this/*",), delete=("channel/this/*",)))
ANNA, BEN = (Person(PrincipalId(f"p-{name}"), name.title(), "root") for name in ("anna", "ben"))


@dataclass
class Scene:
    store: Store
    clock: ManualClock
    door: AgentDoor
    live: LiveRun
    channel: ChannelId

    async def said(self, *texts: str) -> None:
        for text in texts:
            await self.store.write(self._say, text)

    def _say(self, db: Connection, text: str) -> None:
        messages.keep(
            db,
            messages.draft(self.channel, Author.PERSON, ANNA.principal, "Anna", text, self.clock.now()),
        )

    async def join(self, person: Person) -> None:
        await self.store.write(channels.join, self.channel, person.principal, self.clock.now())

    async def leave(self, person: Person) -> None:
        await self.store.write(channels.leave, self.channel, person.principal, self.clock.now())

    async def texts(self, name: str, **arguments: object) -> list[str]:
        found = await self.door.call(self.live, name, arguments)
        return [one["text"] for one in found["messages"]]


@pytest.fixture
async def scene(tmp_path: Path, clock: ManualClock, anyio_backend: str) -> AsyncIterator[Scene]:
    async with open_store(tmp_path / "kai.db", clock=clock) as store:

        def begin(db: Connection) -> ChannelId:
            for person in (ANNA, BEN):
                people.add(db, person, clock.now())
            made = channels.create(db, ChannelKind.SHARED, "garden", None, (ANNA.principal,), clock.now()).channel
            row = SessionRow(
                SessionId("s-1"), made, ANNA.principal, "fake", "e", "/", "", 0, "live", clock.now(), clock.now()
            )
            sessions.open(db, row)
            return made

        channel = await store.write(begin)
        live = LiveRun(RunId("r-1"), SessionId("s-1"), channel, ANNA.principal, 0, b"", AGENT, is_shared=True)
        settings = SimpleNamespace(settings=Settings(), agents={"house": AGENT})
        parts = SimpleNamespace(store=store, clock=clock, live_runs=Runs(tmp_path / "runs"), config=settings)
        yield Scene(store, clock, AgentDoor(cast("Parts", parts)), live, channel)


def test_every_row_of_the_table_has_its_handler() -> None:
    assert HANDLERS.keys() == {tool.name for tool in TOOLS}


async def test_a_run_learns_what_it_is_taken_for_and_what_it_may_call(scene: Scene) -> None:
    told = await scene.door.whoami(scene.live)
    given = [tool.name for tool in TOOLS if tool.needs not in ("delegate", "task", "skill")]
    assert told == {"run": "r-1", "person": "Anna", "channel": "garden", "tools": given}
    assert [one["name"] for one in await scene.door.tools(scene.live)] == told["tools"]


async def test_what_was_said_is_found_and_read(scene: Scene) -> None:
    await scene.said("the pump", "a lamp", "the pumps again")
    assert set(await scene.texts("history_search", query="pump")) == {"the pump", "the pumps again"}
    assert await scene.texts("history_read", limit=2) == ["a lamp", "the pumps again"]
    assert await scene.texts("history_read", before=2) == ["the pump"]


async def test_someone_joining_is_silence(scene: Scene) -> None:
    """The attack: join a shared channel and let its agent tell what was said before."""
    await scene.said("the old secret")
    await scene.join(BEN)
    await scene.said("a new secret")
    assert await scene.texts("history_search", query="secret") == ["a new secret"]
    assert await scene.texts("history_read") == ["a new secret"]


async def test_someone_leaving_is_fine_and_what_was_said_meanwhile_is_not_for_their_return(scene: Scene) -> None:
    await scene.join(BEN)
    await scene.said("all of us")
    await scene.leave(BEN)
    await scene.said("only me")
    assert await scene.texts("history_read") == ["all of us", "only me"]
    await scene.join(BEN)
    assert await scene.texts("history_read") == ["all of us"]


async def test_another_conversation_is_neither_found_nor_named(scene: Scene) -> None:
    other = await scene.store.write(
        lambda db: channels.create(db, ChannelKind.PRIVATE, "diary", BEN.principal, (BEN.principal,), scene.clock.now())
    )
    mine = scene.channel
    scene.channel = other.channel
    await scene.said("a secret of Ben")
    scene.channel = mine
    for name in ("channel", "principal", "person", "audience", "mode", "scope"):
        found = await scene.texts("history_search", query="secret", **{name: other.channel})
        assert found == []
        assert "Ben" not in str(await scene.door.call(scene.live, "turn_show", {name: BEN.principal}))


@pytest.mark.parametrize("gone", ["person", "membership", "session", "retired"])
async def test_what_was_taken_away_is_gone_at_the_next_call(scene: Scene, gone: str) -> None:
    await scene.said("hello")
    assert await scene.texts("history_read") == ["hello"]
    now = scene.clock.now()
    match gone:
        case "person":
            await scene.store.write(people.remove, ANNA.principal, now)
        case "membership":
            await scene.leave(ANNA)
        case "session":
            await scene.store.write(sessions.end, SessionId("s-1"), "ended")
        case _:
            await scene.store.write(sessions.retire_all, scene.channel)
    with pytest.raises(DeniedError):
        await scene.texts("history_read")
    with pytest.raises(DeniedError):
        await scene.door.whoami(scene.live)


@pytest.mark.parametrize("name", ["", "nothing", "delegate", "../turn_show", "turn_show\0", "__init__"])
async def test_what_is_not_in_the_scope_is_not_there(scene: Scene, name: str) -> None:
    """The attack: a tool that starts or steers other sessions, called by its name (GHSA-943q-mwmv-hhvh)."""
    with pytest.raises(UnknownThingError):
        await scene.door.call(scene.live, name, {})


async def test_a_wrong_argument_is_refused_before_anything_is_read(scene: Scene) -> None:
    with pytest.raises(BadInputError):
        await scene.door.call(scene.live, "history_search", {"query": "x", "limit": 10**9})


async def test_an_answer_is_bounded_and_says_what_it_cut(scene: Scene) -> None:
    await scene.said(*["x" * 9_000] * 20)
    found = await scene.door.call(scene.live, "history_read", {"limit": 20})
    assert sum(len(one["text"]) for one in found["messages"]) <= 60_000
    assert all(one["is_cut"] for one in found["messages"])
    whole = await scene.door.call(scene.live, "history_read", {"limit": 1, "before": 3})
    assert len(whole["messages"][0]["text"]) == 9_000


async def test_between_two_turns_there_is_no_turn(scene: Scene) -> None:
    told = await scene.door.call(scene.live, "turn_show", {})
    assert (told["turn"], told["present"], told["kind"]) == (None, ["Anna"], "shared")
