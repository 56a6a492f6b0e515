"""What a scenario stands on: a household in memory or a whole kai, and its guards, which a control takes away."""

from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import Any

import pytest
from anyio import to_thread

from kai.clock import SystemClock
from kai.memory.retrieval import StoreRetriever
from kai.model.agents import Policy
from kai.model.context import Retrieval
from kai.model.ids import PrincipalId, TurnId
from kai.model.memory import Scope, Way
from kai.model.people import Person
from kai.store import people
from kai.store.binding import Connection
from tests.e2e.house import House, Kai
from tests.store.house import START, empty_database, furnish
from tests.store.remembered import Memory

CAT = PrincipalId("p-cat")
Removal = Callable[[pytest.MonkeyPatch], None]


@dataclass
class Stage:
    """Where one scenario plays."""

    folder: Path
    patch: pytest.MonkeyPatch

    async def household(self) -> Memory:
        """Ann, Bob and Cat, in a database in memory."""
        db = await to_thread.run_sync(empty_database)
        db.execute("BEGIN")
        house = furnish(db)
        people.add(db, Person(CAT, "Cat", "cat"), START)
        return Memory(house)

    def kai(self, yaml: str = "", **more: Any) -> AbstractAsyncContextManager[Kai]:
        """A whole daemon with a fake agent; entered again, the same one after a restart."""
        return House(self.folder, yaml=yaml, **more).open()


Body = Callable[[Stage], Awaitable[None]]


@dataclass(frozen=True, slots=True)
class Scenario:
    """`removals` take one guard away each: then the body must fail."""

    id: str
    body: Body
    removals: tuple[Removal, ...]


SCENARIOS: dict[str, Scenario] = {}


def scenario(id_: str, *removals: Removal) -> Callable[[Body], Body]:
    """Registers a body under its id, with the guards whose absence it notices."""
    assert removals, "a scenario without a control proves nothing"

    def keep(body: Body) -> Body:
        SCENARIOS[id_] = Scenario(id_, body, removals)
        return body

    return keep


def without(target: Any, name: str, instead: Any) -> Removal:
    """A guard replaced by what does nothing."""
    return lambda patch: patch.setattr(target, name, instead)


async def block(kai: Kai, words: str, **more: Any) -> str:
    """What was dispatched before these words."""
    turn = await kai.ask(words, **more)
    assert turn["state"] == "done", turn["reason"]
    text: str = (await kai.client.context(TurnId(turn["turn"])))["text"]
    return text


class _One:
    """A store of one connection, for a retriever over a household."""

    def __init__(self, db: Connection) -> None:
        self._db = db

    async def read(self, work: Callable[..., Any], *args: Any) -> Any:
        return work(self._db, *args)


@dataclass
class _At(SystemClock):
    """The household's own time."""

    memory: Memory

    def now(self) -> datetime:
        return self.memory.house.now


async def recall(memory: Memory, query: str, scope: Scope | None = None, **more: Any) -> Retrieval:
    """What would go before a message."""
    retriever = StoreRetriever(_One(memory.db), _At(memory), **more)  # type: ignore[arg-type]
    return await retriever.retrieve(scope or memory.scope(way=Way.AUTO), query, Policy())


@asynccontextmanager
async def nothing() -> AsyncIterator[None]:
    yield
