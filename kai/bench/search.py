"""What a search of memory costs, without the embedding, against a flat scan of the same vectors in numpy.

The scan: a float32 matrix, C-contiguous, times the vector, one thread, warm, and the ten best of it; taken in turns
with the search.
"""

import os
import random
import time
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import TYPE_CHECKING

import anyio

from kai.bench.assembly import talk
from kai.bench.figures import Figure, paired, percentile
from kai.clock import SystemClock
from kai.memory.embedding.embedder import TOKEN_DIMENSION, Embedding, Identity, Kind
from kai.memory.nearness import Nearness
from kai.memory.retrieval import StoreRetriever
from kai.model.context import RetrievalStatus
from kai.model.ids import PrincipalId, fresh
from kai.model.memory import Kind as Sort
from kai.model.memory import Origin, Policy, Scope, Status
from kai.model.people import Channel, Person
from kai.store import channels, people, shelves, vectors
from kai.store.binding import Connection
from kai.store.columns import insert
from kai.store.database import Store, open_store

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

SIZES = (1_000, 10_000, 100_000)
_DIMENSION = 384
_CLUSTERS = 500
_TOKENS = 38  # of a record: as many as a line of talk has
_AT_ONCE = 1_000
_MESSAGES_AT_ONCE = 20_000
_WARM_UP = 20
_NOW = datetime(2026, 1, 1, tzinfo=UTC)
_SYLLABLES = [a + b for a in "bdfgklmnprstvz" for b in "aeiou"]


@dataclass
class Drawn:
    """Texts as Zipf would have them, and vectors in clusters, as those of texts lie; an embedder that knows them."""

    seed: int = 1
    identity: Identity = field(default_factory=lambda: Identity("bench", _DIMENSION))
    questions: dict[str, bytes] = field(default_factory=dict)

    def __post_init__(self) -> None:
        import numpy as np  # noqa: PLC0415 after the number of threads was set

        self.words = random.Random(self.seed)
        self.numbers = np.random.default_rng(self.seed)
        self.centres = self.numbers.normal(size=(_CLUSTERS, _DIMENSION)).astype(np.float32)
        self.tokens = self.numbers.integers(-90, 90, (_TOKENS * TOKEN_DIMENSION * 64,), np.int8).tobytes()

    def text(self, words: int) -> str:
        drawn = (min(int(self.words.paretovariate(0.9)), 20_000) for _ in range(words))
        size = len(_SYLLABLES)
        return " ".join(_SYLLABLES[n % size] + _SYLLABLES[n // size % size] + _SYLLABLES[n * 7 % size] for n in drawn)

    def vectors(self, count: int) -> "NDArray[np.float32]":
        import numpy as np  # noqa: PLC0415

        own = self.centres[self.numbers.integers(0, _CLUSTERS, count)]
        made = own + self.numbers.normal(size=(count, _DIMENSION)).astype(np.float32) * 0.6
        lengths = np.linalg.norm(made, axis=1, keepdims=True)
        return np.asarray(made / lengths, np.float32)

    async def embed(self, kind: Kind, text: str) -> Embedding:
        return Embedding(self.questions[text], self.tokens[: 12 * TOKEN_DIMENSION], 0.3)


@dataclass(frozen=True, slots=True)
class Searched:
    """A store with the records of one person, and the matrix of their vectors."""

    store: Store
    scope: Scope
    retriever: StoreRetriever
    stage: Nearness
    drawn: Drawn
    matrix: "NDArray[np.float32]"
    rows: "NDArray[np.int64]"

    async def pair(self) -> tuple[float, float, float]:
        """Seconds of a search and of a scan for a new question, and the share of the true ten nearest candidates."""
        import numpy as np  # noqa: PLC0415

        question, vector = self.drawn.text(8), self.drawn.vectors(1)[0]
        self.drawn.questions[question] = vector.tobytes()
        began = time.perf_counter()
        found = await self.retriever.retrieve(self.scope, question, Policy())
        ours = time.perf_counter() - began
        assert found.status in (RetrievalStatus.OK, RetrievalStatus.EMPTY), found
        began = time.perf_counter()
        cosines = self.matrix @ vector
        best = np.argpartition(-cosines, 10)[:10]
        theirs = time.perf_counter() - began
        shelves_ = (f"person/{self.scope.principal}",)
        asked = await self.stage.asked(shelves_, question)
        assert asked is not None
        near = await self.store.read(lambda db: asked.near(db, vectors.spaces(db, shelves_), 10))
        return ours, theirs, len(set(near) & set(self.rows[best].tolist())) / 10


def measure(root: Path, size: int, *, pairs: int) -> Figure:
    """The figure for one number of records."""
    os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")  # before numpy is imported for the first time
    return anyio.run(_measure, root, size, pairs)


async def _measure(root: Path, size: int, pairs: int) -> Figure:
    began = time.perf_counter()
    async with place(root, size) as searched:
        built_s = time.perf_counter() - began
        taken = [await searched.pair() for _ in range(_WARM_UP + pairs)]
    del taken[:_WARM_UP]
    ours, theirs = [1000 * one[0] for one in taken], [1000 * one[1] for one in taken]
    return paired(
        f"search_{size}",
        list(zip(ours, theirs, strict=True)),
        to_reach=1.1 if size >= SIZES[-1] else 100.0,
        unit="ms",
        against=f"a flat scan of {size:,} vectors of {_DIMENSION} numbers in numpy",
        more={
            "p99": percentile(ours, 99),
            "baseline_p99": percentile(theirs, 99),
            "ratio_of_p99": percentile(ours, 99) / percentile(theirs, 99),
            "recall@10 of the vector stage": sum(one[2] for one in taken) / len(taken),
            "build_s": round(built_s, 1),
        },
    )


@asynccontextmanager
async def place(root: Path, size: int, *, unused: int = 0, messages_: int = 0) -> AsyncIterator[Searched]:
    """A store with `size` active records of one person and `unused` that are not, in a channel of so many messages.

    Each record is what one of the messages said, as far as these go.
    """
    import numpy as np  # noqa: PLC0415

    drawn = Drawn()
    async with open_store(root / "kai.db", clock=SystemClock()) as store:
        person, channel = await store.write(_begin)
        said: list[str] = []
        for first in range(0, messages_, _MESSAGES_AT_ONCE):
            numbers = range(first, min(messages_, first + _MESSAGES_AT_ONCE))
            said += await store.write_soft(talk, person, channel, numbers)
        said = said[:: max(1, len(said) // (size + unused))]
        scope = Scope(person.principal, channel.channel)
        embedder, _ = await store.write(vectors.embedder, str(drawn.identity), b"")
        parts: list[NDArray[np.float32]] = []
        rows: list[int] = []
        for first in range(0, size + unused, _AT_ONCE):
            some = drawn.vectors(min(_AT_ONCE, size + unused - first))
            is_used = [number * size // (size + unused) != (number + 1) * size // (size + unused)
                       for number in range(first, first + len(some))]  # fmt: skip
            parts.append(some[is_used])
            rows += await store.write_soft(
                _fill, scope, drawn, embedder, some, is_used, said[first : first + len(some)]
            )
        stage = Nearness(store, drawn, floor=0.0)
        retriever = StoreRetriever(store, SystemClock(), stage)
        matrix = np.ascontiguousarray(np.concatenate(parts))
        yield Searched(store, scope, retriever, stage, drawn, matrix, np.array(rows))


def _begin(db: Connection) -> tuple[Person, Channel]:
    person = Person(PrincipalId(fresh("p")), "Ann", "ann", zone="Europe/Berlin")
    people.add(db, person, _NOW)
    return person, channels.private_of(db, person.principal, _NOW)


def _fill(
    db: Connection,
    scope: Scope,
    drawn: Drawn,
    embedder: int,
    some: "NDArray[np.float32]",
    is_used: Sequence[bool],
    said: Sequence[str],
) -> list[int]:
    """As `records.save` would have it, without its receipts and audit. Gives the rows of the active ones."""
    rows: list[int] = []
    for at, vector in enumerate(some):
        record, now = fresh("rec"), _NOW + timedelta(seconds=at)
        status = Status.ACTIVE if is_used[at] else Status.SUPERSEDED
        seq = insert(db, "mem_record", record=record, owner=scope.principal, kind=Sort.FACT, status=status, revision=1,
                     namespace=f"person/{scope.principal}/memory", channel=scope.channel, created_at=now,
                     audience=f'["{scope.principal}"]', changed_at=now)  # fmt: skip
        insert(db, "mem_revision", record=record, revision=1, content=drawn.text(18), digest=record.encode(),
               origin=Origin.EXPLICIT_USER, said_by="Ann", said_at=now, op="bench", valid_from=now,
               message=said[at] if at < len(said) else None)  # fmt: skip
        if is_used[at]:
            shelves.add(db, seq)
            start = TOKEN_DIMENSION * (seq % 64) * _TOKENS
            tokens = drawn.tokens[start : start + _TOKENS * TOKEN_DIMENSION]
            vectors.keep(db, embedder, seq, 1, vector.tobytes(), tokens, 0.3)
            rows.append(seq)
    return rows
