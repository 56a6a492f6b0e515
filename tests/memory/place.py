"""A store with Ann in it, an embedder that needs no model, and what a search finds there."""

import math
from array import array
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from datetime import UTC, datetime
from hashlib import sha256
from pathlib import Path

from kai.memory.embedding.embedder import EmbedderUnavailableError, Embedding, Identity, Kind, shortened
from kai.memory.keeper import VectorKeeper
from kai.memory.nearness import Nearness
from kai.memory.retrieval import StoreRetriever
from kai.model.agents import Policy
from kai.model.ids import PrincipalId, fresh
from kai.model.memory import MemoryReceipt, NewRecord, Scope
from kai.model.people import Channel, Person
from kai.store import channels, people, records, vectors
from kai.store.binding import Connection
from kai.store.database import Store, open_store
from tests.manual_clock import ManualClock

DIMENSION = 16
NOW = datetime(2026, 11, 30, 17, 41, tzinfo=UTC)
SAME = {"car": "vehicle", "auto": "vehicle", "automobile": "vehicle", "wheels": "vehicle"}  # words of one meaning


@dataclass
class WordEmbedder:
    """The sum of a random vector for every word; words of one meaning have the same. `broken`: why it fails."""

    identity: Identity = field(default_factory=lambda: Identity("words", DIMENSION))
    broken: str = ""
    asked: list[tuple[Kind, str]] = field(default_factory=list)

    async def embed(self, kind: Kind, text: str) -> Embedding:
        self.asked.append((kind, text))
        if self.broken:
            raise EmbedderUnavailableError(self.broken)
        return Embedding(self.vector(shortened(kind, text)))  # as a real one does

    def vector(self, text: str) -> bytes:
        total = [0.0] * self.identity.dimension
        for word in text.casefold().replace(".", "").replace("?", "").split() or ["-"]:
            seed = sha256((self.identity.model + SAME.get(word, word)).encode()).digest()
            total = [a + b - 127.5 for a, b in zip(total, seed, strict=False)]
        length = math.hypot(*total)
        return array("f", [n / length for n in total]).tobytes()


@dataclass
class Remembered:
    """Ann's memory in a store of its own."""

    store: Store
    channel: Channel
    embedder: WordEmbedder
    retriever: StoreRetriever
    keeper: VectorKeeper
    policy: Policy = field(default_factory=lambda: Policy(min_score=0.0))

    @property
    def scope(self) -> Scope:
        return Scope(PrincipalId("p-ann"), self.channel.channel)

    async def save(self, text: str) -> str:
        receipt: MemoryReceipt = await self.store.write(records.save, self.scope, NewRecord(text), fresh("o"), NOW)
        return receipt.record

    async def forget(self, record: str) -> None:
        await self.store.write(records.forget, self.scope, record, None, fresh("o"), NOW)

    async def correct(self, record: str, text: str) -> None:
        await self.store.write(records.correct, self.scope, record, text, None, fresh("o"), NOW)

    async def find(self, query: str) -> list[str]:
        """The texts that a search finds, best first."""
        found, _ = await self.retriever.search(self.scope, query, self.policy)
        return [one.record.text for one in found.scored]

    def use(self, embedder: WordEmbedder) -> None:
        """Another embedder, as after a change of the settings and a new start."""
        self.embedder = embedder
        self.retriever.vectors = Nearness(self.store, embedder)
        self.keeper = VectorKeeper(self.store, embedder)

    async def settle(self) -> int:
        """Whatever has no vector gets one, of an embedder that has proved who it is."""
        await self.store.write(known, self.embedder)
        return await self.keeper.catch_up()


def known(db: Connection, embedder: WordEmbedder) -> None:
    """What the check of an embedder's identity writes when a real one starts."""
    vectors.embedder(db, str(embedder.identity), embedder.vector("probe"))


def _settled(db: Connection) -> Channel:
    people.add(db, Person(PrincipalId("p-ann"), "Ann", "ann"), NOW)
    return channels.private_of(db, PrincipalId("p-ann"), NOW)


def _there(db: Connection) -> Channel:
    return channels.private_of(db, PrincipalId("p-ann"), NOW)


@asynccontextmanager
async def remembered(path: Path, *, again: bool = False) -> AsyncIterator[Remembered]:
    """`again`: Ann is there already."""
    clock = ManualClock(NOW)
    async with open_store(path / "kai.db", clock=clock) as store:
        channel = await store.write(_there if again else _settled)
        embedder = WordEmbedder()
        retriever = StoreRetriever(store, clock, Nearness(store, embedder))
        yield Remembered(store, channel, embedder, retriever, VectorKeeper(store, embedder))
