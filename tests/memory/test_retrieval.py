"""Retrieval: what goes before a message, with its status told apart, its audit, and no invented hit."""

from collections.abc import AsyncIterator
from dataclasses import dataclass
from pathlib import Path
from types import SimpleNamespace

import pytest

from kai.memory.retrieval import DisabledRetriever, Retriever, StoreRetriever
from kai.model.agents import Policy
from kai.model.context import Retrieval, RetrievalStatus
from kai.model.ids import ChannelId, PrincipalId, SessionId
from kai.model.memory import Kind, NewRecord, Scope, Way
from kai.model.people import ChannelKind, Person
from kai.store import channels, people, records
from kai.store.database import Store, open_store
from tests.manual_clock import ManualClock

pytestmark = pytest.mark.anyio
ANN, BOB = PrincipalId("p-ann"), PrincipalId("p-bob")


@dataclass
class Memory:
    store: Store
    clock: ManualClock
    main: ChannelId
    room: ChannelId
    saved: int = 0

    def scope(self, channel: ChannelId | None = None, way: Way = Way.API) -> Scope:
        return Scope(ANN, channel or self.main, "house", way)

    async def save(self, text: str, kind: Kind = Kind.FACT, way: Way = Way.API, **more: object) -> str:
        self.saved += 1
        new = NewRecord(text, kind, **more)  # type: ignore[arg-type]
        receipt = await self.store.write(records.save, self.scope(way=way), new, f"o{self.saved}", self.clock.now())
        assert receipt.is_done, receipt
        return receipt.record

    async def retrieve(self, query: str, policy: Policy | None = None, **more: object) -> Retrieval:
        retriever = StoreRetriever(self.store, self.clock, **more)  # type: ignore[arg-type]
        return await retriever.retrieve(self.scope(way=Way.AUTO), query, policy or Policy())


@pytest.fixture
async def memory(tmp_path: Path, clock: ManualClock) -> AsyncIterator[Memory]:
    async with open_store(tmp_path / "kai.db", clock=clock) as store:
        for principal, name in ((ANN, "Ann"), (BOB, "Bob")):
            await store.write(people.add, Person(principal, name, name.lower()), clock.now())
        main = await store.write(channels.private_of, ANN, clock.now())
        room = await store.write(channels.create, ChannelKind.SHARED, "family", None, (ANN, BOB), clock.now())
        yield Memory(store, clock, main.channel, room.channel)


def texts(found: Retrieval) -> list[str]:
    return [hit.text for hit in found.hits]


async def test_without_memory_every_search_ends_as_disabled_and_finds_nothing() -> None:
    retriever: Retriever = DisabledRetriever()
    found = await retriever.retrieve(Scope(ANN, ChannelId("c"), "house"), "anything")
    assert found == Retrieval(RetrievalStatus.DISABLED)


async def test_preferences_come_first_then_what_fits_the_best_first(memory: Memory) -> None:
    await memory.save("the pump is in the cellar")
    await memory.save("the pump in the cellar is loud and old")
    await memory.save("tea is in the kitchen")
    await memory.save("short answers", Kind.PREFERENCE)
    found = await memory.retrieve("is the pump loud?")
    assert found.status is RetrievalStatus.OK
    assert texts(found)[:2] == ["short answers", "the pump in the cellar is loud and old"]
    assert "tea is in the kitchen" not in texts(found)
    assert found.hits[0].parts == "pinned"
    assert found.hits[1].parts.startswith("score=1.000 keyword=1.000 bm25=")


async def test_pinned_preferences_are_bounded_and_whole(memory: Memory) -> None:
    for number in range(3):
        await memory.save(f"{number} " + "x" * 250, Kind.PREFERENCE)
    found = await memory.retrieve("unrelated")
    assert [hit.text[0] for hit in found.hits] == ["2", "1"]  # the newest first, 600 characters together


async def test_no_more_than_top_k_come_and_the_rest_is_counted(memory: Memory) -> None:
    for number in range(12):
        await memory.save(f"pump number {number}")
    found = await memory.retrieve("pump", Policy(top_k=5))
    assert (len(found.hits), found.eligible) == (5, 12)


async def test_nothing_that_fits_is_empty_and_nothing_else_is(memory: Memory) -> None:
    await memory.save("the pump is in the cellar")
    assert (await memory.retrieve("submarine")).status is RetrievalStatus.EMPTY
    assert (await memory.retrieve(" ")).status is RetrievalStatus.DISABLED
    shared = await StoreRetriever(memory.store, memory.clock).retrieve(memory.scope(memory.room, Way.AUTO), "pump")
    assert (shared.status, shared.reason, shared.hits) == (RetrievalStatus.DENIED, "shared_channel", ())
    nobody = Scope(PrincipalId("p-x"), memory.main)
    assert (await StoreRetriever(memory.store, memory.clock).retrieve(nobody, "pump")).status is RetrievalStatus.DENIED


async def test_a_broken_store_is_unavailable_and_no_list(memory: Memory) -> None:
    await memory.save("the pump is in the cellar")
    await memory.store.write(lambda db: db.execute("ALTER TABLE mem_record RENAME TO away") and None)
    found = await memory.retrieve("pump")
    assert (found.status, found.hits) == (RetrievalStatus.UNAVAILABLE, ())


async def test_every_namespace_that_was_asked_has_its_row_hits_or_not(memory: Memory) -> None:
    await memory.save("the pump is in the cellar")
    policy = Policy(inject=("person/self/memory", "person/self/howto", "global/*"))
    found = await memory.retrieve("pump", policy)
    rows = [(one.namespace, one.status, one.eligible, one.hits) for one in found.searched]
    assert rows == [
        ("person/p-ann/memory", "ok", 1, 1),
        ("person/p-ann/howto", "empty", 0, 0),
        ("global/*", "empty", 0, 0),
    ]


async def test_inject_and_tool_never_fall_back_on_each_other(memory: Memory) -> None:
    await memory.save("the pump is in the cellar")
    assert (await memory.retrieve("pump", Policy(inject=()))).status is RetrievalStatus.EMPTY
    retriever = StoreRetriever(memory.store, memory.clock)
    found, _ = await retriever.search(memory.scope(), "pump", Policy(tool=()))
    assert found.scored == ()


async def test_named_namespaces_narrow_and_what_is_not_granted_is_dropped_said_and_audited(memory: Memory) -> None:
    await memory.save("the pump is in the cellar")
    retriever = StoreRetriever(memory.store, memory.clock)
    wanted = ("person/self/memory", "person/p-bob/memory", "person/*/memory", "nowhere")
    found, dropped = await retriever.search(memory.scope(), "pump", Policy(), wanted)
    assert dropped == wanted[1:]
    assert [one.record.text for one in found.scored] == ["the pump is in the cellar"]
    assert [(one.namespace, one.status) for one in found.searched][1:] == [(name, "denied") for name in wanted[1:]]
    none, _ = await retriever.search(memory.scope(), "pump", Policy(), ("person/p-bob/memory",))
    assert (none.status, none.reason, none.scored) == (RetrievalStatus.DENIED, "not_granted", ())


async def test_what_may_not_be_seen_takes_no_place_from_what_may(memory: Memory) -> None:
    """The two hundred nearest are not eligible; the one behind them is found all the same."""
    for number in range(260):
        await memory.save(f"pump pump pump {number}", Kind.HOWTO)
    await memory.save("a longer text in which somebody mentions that there is a pump somewhere")
    found = await memory.retrieve("pump", Policy(inject=("person/self/memory",), min_score=0.0))
    assert texts(found) == ["a longer text in which somebody mentions that there is a pump somewhere"]


async def test_what_the_person_did_not_say_themselves_stands_behind(memory: Memory) -> None:
    await memory.save("the pump is red", way=Way.ADMIN)
    hits = (await memory.retrieve("pump")).hits
    assert [hit.said_by for hit in hits] == ["Ann"]


async def test_a_session_is_not_asked_about_what_it_does_not_know(memory: Memory) -> None:
    await memory.save("the pump is in the cellar")
    retriever = StoreRetriever(memory.store, memory.clock)
    found = await retriever.retrieve(memory.scope(way=Way.AUTO), "pump", Policy(), SessionId("s-none"))
    assert len(found.hits) == 1
    assert not found.corrections
    assert not found.shown


async def test_within_a_transaction_it_finds_the_same_unless_the_question_must_be_embedded(
    memory: Memory, monkeypatch: pytest.MonkeyPatch
) -> None:
    await memory.save("The pump is loud at night")
    retriever = StoreRetriever(memory.store, memory.clock)
    asked = memory.scope(way=Way.AUTO), "is the pump loud?", Policy(), None
    assert await memory.store.read(retriever.at_once, *asked) == await retriever.retrieve(*asked)
    shared = memory.scope(memory.room, Way.AUTO), "pump", Policy(), None
    assert await memory.store.read(retriever.at_once, *shared) == await retriever.retrieve(*shared)
    retriever.vectors = object()  # type: ignore[assignment] # it is not asked
    assert await memory.store.read(retriever.at_once, *asked) is not None
    space = SimpleNamespace(embedder=1)
    monkeypatch.setattr("kai.memory.retrieval.vectors.spaces", lambda db, shelves: (space,))
    retriever.vectors = SimpleNamespace(at_hand=lambda db, spaces, query: None)
    assert await memory.store.read(retriever.at_once, *asked) is None


async def test_where_nothing_is_remembered_nothing_is_looked_for(
    memory: Memory, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Nobody's words are cut, nothing is embedded, no index is read: memory costs such a turn a look at one table."""
    for name in ("shelves.matches", "eligible.current", "eligible.pinned", "beside.neighbours"):
        monkeypatch.setattr(f"kai.memory.retrieval.{name}", None)
    retriever = StoreRetriever(memory.store, memory.clock, SimpleNamespace())
    asked = memory.scope(way=Way.AUTO), "is the pump loud?", Policy(), None
    found = await memory.store.read(retriever.at_once, *asked)
    assert found is not None
    assert (found.status, found.hits) == (RetrievalStatus.EMPTY, ())
    assert [one.namespace for one in found.searched] == ["person/p-ann/*", "global/*"]
    await retriever.foresee(memory.scope(way=Way.AUTO), "is the pump loud?")
