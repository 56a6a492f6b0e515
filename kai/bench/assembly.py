"""Gathering and assembling the block of a fresh session, with a long past in the channel against a short one."""

import os
import time
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path

import anyio
from anyio import to_thread

from kai.bench.figures import Figure, paired, percentile
from kai.catalog.agents import load
from kai.clock import SystemClock
from kai.context.assemble import assemble
from kai.context.gather import Asked, Rules, Seated, Sources, gather
from kai.memory.retrieval import DisabledRetriever
from kai.model.context import AgentDefinition
from kai.model.ids import MessageId, PrincipalId, TurnId, fresh
from kai.model.messages import Author
from kai.model.people import Channel, Person
from kai.people.folders import PersonFolders
from kai.resources import folder
from kai.store import channels, messages, people
from kai.store.binding import Connection
from kai.store.database import Store, open_store

_SHORT = 1_000
_LONG, _QUICK_LONG = 1_000_000, 100_000
_AT_ONCE = 20_000  # messages in one transaction
_WARM_UP = 20
_BEGAN = datetime(2026, 1, 1, tzinfo=UTC)
_WORDS = [
    "the",
    "kettle",
    "is",
    "on",
    "and",
    "we",
    "were",
    "out",
    "of",
    "oats",
    "again",
    "so",
    "I",
    "went",
    "down",
    "to",
    "the",
    "shop",
    "before",
    "rain",
    "came",
    "over",
    "the",
    "hill",
    "while",
    "Ann",
    "read",
    "the",
    "meter",
    "in",
    "the",
    "cellar",
    "and",
    "wrote",
    "its",
    "number",
    "on",
    "the",
    "calendar",
    "beside",
    "the",
    "door",
    "where",
    "the",
    "keys",
    "should",
    "hang",
]


@dataclass(frozen=True, slots=True)
class Place:
    """A store with one person and so many messages in the channel. `built_s`: how long it took to make."""

    store: Store
    folders: PersonFolders
    person: Person
    channel: Channel
    agent: AgentDefinition
    built_s: float

    async def block(self) -> float:
        """Seconds that gathering and assembling the first block of a session takes."""
        home = self.folders.home(self.person.principal)
        asked = Asked(TurnId("t-bench"), self.channel, self.person, "And where are the keys now?")
        seated = Seated(fresh=True, workspace=home, home=home, agent=self.agent, owner_uid=os.geteuid())
        sources = Sources(self.store, self.folders, DisabledRetriever())
        began = time.perf_counter()
        assemble(await gather(sources, asked, seated, Rules(), now=datetime.now(UTC)))
        return time.perf_counter() - began


def measure(root: Path, *, quick: bool) -> Figure:
    """Both stores are real and made with kai's own functions; memory is off."""
    return anyio.run(_measure, root, quick)


async def _measure(root: Path, quick: bool) -> Figure:
    count = _QUICK_LONG if quick else _LONG
    pairs: list[tuple[float, float]] = []
    async with AsyncExitStack() as stack:
        short = await stack.enter_async_context(_place(root / "short", _SHORT))
        long = await stack.enter_async_context(_place(root / "long", count))
        for number in range(_WARM_UP + (100 if quick else 300)):
            if number % 2:
                ours = await long.block()
                pairs.append((ours * 1000, await short.block() * 1000))
            else:
                theirs = await short.block()
                pairs.append((await long.block() * 1000, theirs * 1000))
    del pairs[:_WARM_UP]
    return paired(
        "assembly_growth",
        pairs,
        to_reach=2.0,
        unit="ms",
        against=f"the same with {_SHORT:,} messages in the channel instead of {count:,}",
        more={
            "p99": percentile([ours for ours, _ in pairs], 99),
            "baseline_p99": percentile([theirs for _, theirs in pairs], 99),
            "build_s": round(long.built_s, 1),
            "database_bytes": (await anyio.Path(long.store.path).stat()).st_size,
        },
    )


@asynccontextmanager
async def _place(root: Path, count: int) -> AsyncIterator[Place]:
    await anyio.Path(root).mkdir(mode=0o700)
    began = time.perf_counter()
    person = Person(PrincipalId(fresh("p")), "Ann", "ann", zone="Europe/Berlin")
    folders = PersonFolders(root)
    await to_thread.run_sync(folders.seed, person.principal)
    async with open_store(root / "kai.db", clock=SystemClock()) as store:
        channel = await store.write(_begin, person)
        for first in range(0, count, _AT_ONCE):
            await store.write_soft(talk, person, channel, range(first, min(count, first + _AT_ONCE)))
        agent = await to_thread.run_sync(house_agent)
        yield Place(store, folders, person, channel, agent, time.perf_counter() - began)


def house_agent() -> AgentDefinition:
    """The agent definition that everybody has who chose none."""
    return load(folder("data") / "agents")["house"]


def _begin(db: Connection, person: Person) -> Channel:
    people.add(db, person, _BEGAN)
    return channels.private_of(db, person.principal, _BEGAN)


def talk(db: Connection, person: Person, channel: Channel, numbers: range) -> list[MessageId]:
    """Messages of a talk between the person and the agent, in turns; the ids of the person's."""
    own: list[MessageId] = []
    for number in numbers:
        author, name = (Author.AGENT, "kai") if number % 2 else (Author.PERSON, person.name)
        words = (_WORDS[number * step % len(_WORDS)] for step in range(1, 8 + number % 30))
        said = messages.draft(
            channel.channel, author, person.principal, name, " ".join(words), _BEGAN + timedelta(seconds=number)
        )
        kept = messages.keep(db, said)
        own += [] if number % 2 else [kept.message]
    return own
