"""What a search of memory costs, without the embedding, against a flat scan of the same vectors in numpy.

The scan: a float32 matrix, C-contiguous, times the vector, one thread, warm, and the ten best of it; taken in turns
with the search.
"""

import os
import random
import time
from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from functools import partial
from pathlib import Path
from statistics import median
from typing import TYPE_CHECKING

import anyio
from anyio import to_thread

from kai.bench.assembly import house_agent, talk
from kai.bench.figures import Figure, paired, percentile
from kai.clock import SystemClock
from kai.context.assemble import assemble
from kai.context.gather import Asked, Rules, Seated, Sources, gather
from kai.memory.embedding.embedder import TOKEN_DIMENSION, Embedding, Identity, Kind
from kai.memory.nearness import Nearness
from kai.memory.retrieval import StoreRetriever
from kai.model.context import AgentDefinition, MemoryMode, RetrievalStatus
from kai.model.ids import PrincipalId, TurnId, fresh
from kai.model.memory import Kind as Sort
from kai.model.memory import Origin, Policy, Scope, Status
from kai.model.people import Channel, Person
from kai.people.folders import PersonFolders
from kai.store import channels, people, shelves, vectors
from kai.store.binding import Connection
from kai.store.columns import insert
from kai.store.database import Store, open_store

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

_DIMENSION = 384
_CLUSTERS = 500
_TOKENS = 38  # of a record: as many as a line of talk has
_AT_ONCE = 1_000
_MESSAGES_AT_ONCE = 20_000
_WARM_UP = 200  # what common words are worth is known after the first questions
_NOW = datetime(2026, 1, 1, tzinfo=UTC)
_ODD = [*'"()*^:-+{}\0\ud800\u202e ', *["AND", "OR", "NOT", "NEAR(", "col:", "钥匙", "ー", "🙂", "bada", "dada"]]
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
class Pair:
    """Seconds of a search and of a scan, by the clock and of CPU; the share of the true ten nearest that was near."""

    ours_s: float
    scan_s: float
    ours_cpu_s: float
    scan_cpu_s: float
    recall: float


@dataclass(frozen=True, slots=True)
class Searched:
    """A store with the records of one person, and the matrix of their vectors."""

    store: Store
    folders: PersonFolders
    person: Person
    channel: Channel
    agent: AgentDefinition
    retriever: StoreRetriever
    stage: Nearness
    drawn: Drawn
    matrix: "NDArray[np.float32]"
    rows: "NDArray[np.int64]"

    @property
    def scope(self) -> Scope:
        return Scope(self.person.principal, self.channel.channel)

    def question(self) -> tuple[str, "NDArray[np.float32]"]:
        """A new one, whose vector the embedder knows: embedding is measured apart."""
        question, vector = self.drawn.text(8), self.drawn.vectors(1)[0]
        self.drawn.questions[question] = vector.tobytes()
        return question, vector

    async def search(self, question: str) -> None:
        found = await self.retriever.retrieve(self.scope, question, Policy())
        assert found.status in (RetrievalStatus.OK, RetrievalStatus.EMPTY), found

    async def block(self, question: str) -> None:
        """The whole of it: files, history, memory, and the block made of them, for a new session."""
        home = self.folders.home(self.person.principal)
        asked = Asked(TurnId("t-bench"), self.channel, self.person, question)
        seated = Seated(fresh=True, workspace=home, home=home, agent=self.agent, owner_uid=os.geteuid())
        rules = Rules(memory=MemoryMode.ENABLED)
        facts = await gather(Sources(self.store, self.folders, self.retriever), asked, seated, rules, now=_NOW)
        assert facts.retrieval.status in (RetrievalStatus.OK, RetrievalStatus.EMPTY), facts.retrieval
        assemble(facts)

    async def pair(self, work: "Callable[[Searched, str], Awaitable[None]]") -> Pair:
        import numpy as np  # noqa: PLC0415

        question, vector = self.question()
        began, cpu = time.perf_counter(), time.process_time()
        await work(self, question)
        ours, ours_cpu = time.perf_counter() - began, time.process_time() - cpu
        began, cpu = time.perf_counter(), time.process_time()
        cosines = self.matrix @ vector
        best = np.argpartition(-cosines, 10)[:10]
        scan, scan_cpu = time.perf_counter() - began, time.process_time() - cpu
        shelves_ = (f"person/{self.person.principal}",)
        asked = await self.stage.asked(shelves_, question)
        assert asked is not None
        near = await self.store.read(lambda db: asked.near(db, vectors.spaces(db, shelves_), 10))
        return Pair(ours, scan, ours_cpu, scan_cpu, len(set(near) & set(self.rows[best].tolist())) / 10)


def measure_1k(root: Path, *, quick: bool) -> Figure:
    return _measured("search_1000", root, Size(1_000), Searched.search, 100 if quick else 500, to_reach=40.0)


def measure_10k(root: Path, *, quick: bool) -> Figure:
    return _measured("search_10000", root, Size(10_000), Searched.search, 100 if quick else 500, to_reach=8.0)


def measure_assembly(root: Path, *, quick: bool) -> Figure:
    """70,000 active of 100,000 memories in a talk of a million messages; a tenth of that quickly."""
    size = Size(7_000, 3_000, 20_000) if quick else Size(70_000, 30_000, 1_000_000)
    return _measured(
        "memory_assembly", root, size, Searched.block, 100 if quick else 500, to_reach=10 if quick else 1.1
    )


def measure_odd(root: Path, *, quick: bool) -> Figure:
    """Random strings as questions: every one that ends as anything but found or not found is an error."""
    return anyio.run(_odd, root, 2_000 if quick else 30_000)


async def _odd(root: Path, count: int) -> Figure:
    draw = random.Random(20_261_130)
    errors = 0
    async with place(root, Size(20)) as searched:
        for _ in range(count):
            query = "".join(draw.choices(_ODD, k=draw.randrange(1, 12)))
            if draw.random() < 0.5:
                query += "".join(chr(draw.randrange(0x110000)) for _ in range(draw.randrange(8)))
            searched.drawn.questions[query] = searched.drawn.vectors(1)[0].tobytes()
            found = await searched.retriever.retrieve(searched.scope, query, Policy())
            errors += found.status not in (RetrievalStatus.OK, RetrievalStatus.EMPTY, RetrievalStatus.DISABLED)
            searched.drawn.questions.clear()
    return paired("odd_queries", [(errors, 1.0)], to_reach=0.0, unit="errors", against=f"{count:,} random questions")


@dataclass(frozen=True, slots=True)
class Size:
    """Records that are active, records that are not, messages in the channel."""

    active: int
    unused: int = 0
    messages: int = 0


def _measured(
    name: str,
    root: Path,
    size: Size,
    work: "Callable[[Searched, str], Awaitable[None]]",
    pairs: int,
    *,
    to_reach: float,
) -> Figure:
    os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")  # before numpy is imported for the first time
    return anyio.run(partial(_measure, name, root, size, work, pairs, to_reach))


async def _measure(
    name: str,
    root: Path,
    size: Size,
    work: "Callable[[Searched, str], Awaitable[None]]",
    pairs: int,
    to_reach: float,
) -> Figure:
    began = time.perf_counter()
    async with place(root, size) as searched:
        built_s = time.perf_counter() - began
        taken = [await searched.pair(work) for _ in range(_WARM_UP + pairs)][_WARM_UP:]
    ours, theirs = [1000 * one.ours_s for one in taken], [1000 * one.scan_s for one in taken]
    return paired(
        name,
        list(zip(ours, theirs, strict=True)),
        to_reach=to_reach,
        unit="ms",
        against=f"a flat scan of {size.active:,} vectors of {_DIMENSION} numbers in numpy",
        more={
            "p99": percentile(ours, 99),
            "baseline_p99": percentile(theirs, 99),
            "ratio_of_p99": percentile(ours, 99) / percentile(theirs, 99),
            "cpu_ms": 1000 * median(one.ours_cpu_s for one in taken),
            "ratio_of_cpu": median(one.ours_cpu_s / one.scan_cpu_s for one in taken),
            "vector_recall_at_10": sum(one.recall for one in taken) / len(taken),
            "unused_records": size.unused,
            "messages": size.messages,
            "build_s": round(built_s, 1),
        },
    )


@asynccontextmanager
async def place(root: Path, size: Size) -> AsyncIterator[Searched]:
    """A store of `size`, all of one person. Each record is what one of the messages said, as far as these go."""
    import numpy as np  # noqa: PLC0415

    drawn, total, folders = Drawn(), size.active + size.unused, PersonFolders(root)
    async with open_store(root / "kai.db", clock=SystemClock()) as store:
        person, channel = await store.write(_begin)
        await to_thread.run_sync(folders.seed, person.principal)
        agent = await to_thread.run_sync(house_agent)
        said: list[str] = []
        for first in range(0, size.messages, _MESSAGES_AT_ONCE):
            numbers = range(first, min(size.messages, first + _MESSAGES_AT_ONCE))
            said += await store.write_soft(talk, person, channel, numbers)
        said = said[:: max(1, len(said) // total)]
        scope = Scope(person.principal, channel.channel)
        embedder, _ = await store.write(vectors.embedder, str(drawn.identity), b"")
        parts: list[NDArray[np.float32]] = []
        rows: list[int] = []
        for first in range(0, total, _AT_ONCE):
            some = drawn.vectors(min(_AT_ONCE, total - first))
            is_used = [number * size.active // total != (number + 1) * size.active // total
                       for number in range(first, first + len(some))]  # fmt: skip
            parts.append(some[is_used])
            rows += await store.write_soft(
                _fill, scope, drawn, embedder, some, is_used, said[first : first + len(some)]
            )
        stage = Nearness(store, drawn, floor=0.0)
        retriever = StoreRetriever(store, SystemClock(), stage)
        matrix = np.ascontiguousarray(np.concatenate(parts))
        searched = Searched(store, folders, person, channel, agent, retriever, stage, drawn, matrix, np.array(rows))
        await searched.search(
            searched.question()[0]
        )  # the index is made by the first search, which a block waits for 2 s
        yield searched


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
