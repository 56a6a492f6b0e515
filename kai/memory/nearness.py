"""Nearness in meaning: the vector stage of a search. Its indexes are made at first use and follow the store.

What is asked is embedded away from the event loop's thread and the store's; the rest runs in a reader's thread, within
the one transaction of a search.
"""

from collections import OrderedDict
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from hashlib import blake2b
from threading import Lock
from typing import TYPE_CHECKING

import anyio

from kai.memory.embedding.embedder import (
    TOKEN_DIMENSION,
    Embedder,
    EmbedderUnavailableError,
    Embedding,
    Identity,
    same_model,
    shortened,
)
from kai.store import vectors
from kai.store.binding import Connection
from kai.store.database import Store

if TYPE_CHECKING:  # numpy is imported by the first search, not by the daemon
    from kai.memory.index.engine import Array, Choice, Engine

_INDEXES = 64  # in memory at most; the one that was not used for longest goes
_INDEX_BYTES = 128 * 1024**2  # of all of them together, but for the one in use
_CHANGES = 1_024  # more than these since it was last used: a new one is made
_AT_ONCE = 20_000  # rows that are looked through within a transaction that writes; the writer is everybody's
_QUESTIONS = 256  # whose vectors are kept: "yes", "go on", and what was asked a moment ago
FORESEEN_S = 0.1  # what a message waits at most for the vector of its words before it is taken in


@dataclass(slots=True)
class _Index:
    """The index of a shelf, and the last move of the store that it followed. None: it is not made yet."""

    engine: "Engine | None" = None
    seen: int = 0
    lock: Lock = field(default_factory=Lock)


@dataclass(frozen=True, slots=True)
class Asked:
    """A question with its vector: what a search asks, in the thread that has the connection."""

    stage: "Nearness"
    embedder: int
    question: Embedding

    def near(self, db: Connection, spaces: Sequence[vectors.Space], limit: int) -> dict[int, float]:
        """Rows of records on these shelves to their cosine, the nearest `limit` of each."""
        import kai.memory.index.engine  # noqa: F401, I001, PLC0415 - before numpy: it sets its one thread
        import numpy as np  # noqa: PLC0415

        query = np.frombuffer(self.question.vector, np.float32)
        found: dict[int, float] = {}
        for space in spaces:
            if space.embedder == self.embedder:
                found |= self.stage.nearest(db, self.embedder, space.number, query, limit)
        return found

    def alike(self, db: Connection, seqs: Sequence[int]) -> dict[int, float] | None:
        """Rows to how well every word of the question is met by a word of theirs, -1 to 1. None: nobody offers it.

        For each token of the question the best cosine among those of the text; of these the mean (MaxSim).
        """
        import numpy as np  # noqa: PLC0415

        if not self.question.tokens:
            return None
        ours = _tokens(self.question.scale, self.question.tokens)
        theirs = vectors.tokens(db, self.embedder, seqs)
        if not theirs:
            return {}
        lengths = [len(tokens) // TOKEN_DIMENSION for _, tokens in theirs.values()]
        joined = np.frombuffer(b"".join(tokens for _, tokens in theirs.values()), np.int8)
        cosines = ours @ joined.reshape(-1, TOKEN_DIMENSION).astype(np.float32).T
        best = np.maximum.reduceat(cosines, np.cumsum([0, *lengths[:-1]]), axis=1).mean(axis=0)
        scales = np.array([scale / 127 for scale, _ in theirs.values()], np.float32)
        return dict(zip(theirs, (best * scales).tolist(), strict=True))


@dataclass
class Nearness:
    """The vector stage over one embedder. `choice`: the index engine, as the settings have it."""

    store: Store
    embedder: Embedder
    choice: "Choice" = "auto"
    floor: float = 0.0
    _known: tuple[Identity, int] | None = None
    _questions: "OrderedDict[tuple[Identity, bytes], Embedding]" = field(default_factory=OrderedDict)
    _indexes: "OrderedDict[tuple[int, int], _Index]" = field(default_factory=OrderedDict)
    _lock: Lock = field(default_factory=Lock)

    async def asked(self, shelves: Sequence[str], query: str) -> Asked | None:
        """None: nothing on these shelves has a vector yet, and the embedder is left alone.

        Raises `EmbedderUnavailableError`, also when all there is was made by another embedder (``paused``).
        """
        theirs = {space.embedder for space in await self.store.read(vectors.spaces, shelves)} - {None}
        if not theirs:
            return None
        if self.embedder.identity.is_whole and await self._number() not in theirs:
            raise EmbedderUnavailableError("paused", "another embedder's vectors are here: kai memory reindex")
        question = await self._embedded(query)
        number = await self._number()
        if number not in theirs:
            raise EmbedderUnavailableError("paused", "another embedder's vectors are here: kai memory reindex")
        return Asked(self, number, question)

    async def foresee(self, query: str) -> None:
        """Make the vector of a question that is about to be asked; without a word where that takes long or fails."""
        with suppress(EmbedderUnavailableError), anyio.move_on_after(FORESEEN_S):
            await self._embedded(query)
            await self._number()

    def at_hand(self, db: Connection, spaces: Sequence[vectors.Space], query: str) -> Asked | None:
        """The question, when its vector is known and every index there is stands as `db` does: nothing is made for it.

        For a transaction that writes: nothing that is kept in memory may follow what may yet be undone.
        """
        known, question = self._known, self._questions.get(self._key(query))
        if known is None or question is None or known[0] != self.embedder.identity:
            return None
        for space in spaces:
            index = self._indexes.get((known[1], space.number))
            if space.embedder != known[1] or index is None or not index.engine or len(index.engine) > _AT_ONCE:
                return None
            if index.lock.locked() or vectors.moved(db, space.number, index.seen)[1]:
                return None
        return Asked(self, known[1], question)

    async def _embedded(self, query: str) -> Embedding:
        known = self._questions.get(self._key(query))
        if known is None:
            known = await self.embedder.embed("query", query)
        self._questions[self._key(query)] = known
        self._questions.move_to_end(self._key(query))
        if len(self._questions) > _QUESTIONS:
            self._questions.popitem(last=False)
        return known

    def _key(self, query: str) -> tuple[Identity, bytes]:
        """The words themselves are not kept: what was asked is nobody's to find here."""
        return self.embedder.identity, blake2b(shortened("query", query).encode(), digest_size=16).digest()

    async def _number(self) -> int:
        """The embedder's number in the store; -1: it has not been met here."""
        identity = self.embedder.identity
        if self._known is None or self._known[0] != identity:
            found = await self.store.read(vectors.number, str(identity))
            if found is None:
                return -1
            self._known = (identity, found)
        return self._known[1]

    def nearest(self, db: Connection, embedder: int, shelf: int, query: "Array", limit: int) -> Mapping[int, float]:
        """Rows of one shelf to their cosine. Runs in a reader's thread."""
        index = self._index(embedder, shelf)

        def fetch(seqs: Sequence[int]) -> "tuple[list[int], Array]":
            rows, joined = vectors.fetch(db, embedder, seqs)
            return rows, _floats(joined, len(rows))

        with index.lock:
            engine = self._followed(db, index, embedder, shelf)
            return dict(engine.near(query, limit, fetch))

    def _index(self, embedder: int, shelf: int) -> _Index:
        with self._lock:
            index = self._indexes.setdefault((embedder, shelf), _Index())
            self._indexes.move_to_end((embedder, shelf))
        return index

    def _bound(self) -> None:
        """Let go of what was not used for longest, while there is too much; never of the one that was used last."""
        with self._lock:
            held = sum(one.engine.size_bytes for one in self._indexes.values() if one.engine)
            while len(self._indexes) > 1 and (len(self._indexes) > _INDEXES or held > _INDEX_BYTES):
                _, gone = self._indexes.popitem(last=False)
                held -= gone.engine.size_bytes if gone.engine else 0

    def _load(self, db: Connection, index: _Index, embedder: int, shelf: int) -> "Engine":
        from kai.memory.index.engine import chosen, made  # noqa: PLC0415 it imports numpy

        index.seen = vectors.last_move(db)
        name = chosen(self.choice, vectors.count(db, embedder, shelf))
        engine = None
        for rows, joined in vectors.load(db, embedder, shelf):
            numbers = _floats(joined, len(rows))
            engine = engine or made(name, numbers.shape[1])
            engine.put(rows, numbers)
        index.engine = engine or made(name, self.embedder.identity.dimension)
        self._bound()
        return index.engine

    def _followed(self, db: Connection, index: _Index, embedder: int, shelf: int) -> "Engine":
        """Take in what the store has got and lost since. A shelf that outgrew its engine gets another."""
        engine = index.engine
        if engine is None:
            return self._load(db, index, embedder, shelf)
        last, changed = vectors.moved(db, shelf, index.seen)
        if not changed:
            return engine
        from kai.memory.index.engine import chosen  # noqa: PLC0415

        rows, joined = vectors.held(db, embedder, shelf, changed) if len(changed) <= _CHANGES else ([], b"")
        outgrown = engine.name != "bits" and chosen(self.choice, len(engine) + len(rows)) == "bits"
        if len(changed) > _CHANGES or outgrown or not len(engine):
            return self._load(db, index, embedder, shelf)
        for seq in set(changed).difference(rows):
            engine.drop(seq)
        if rows:
            engine.put(rows, _floats(joined, len(rows)))
        index.seen = last
        self._bound()
        return engine


def confirming(store: Store) -> "_Confirming":
    """What asks the store whether an embedder is still who it was."""
    return _Confirming(store)


@dataclass(frozen=True, slots=True)
class _Confirming:
    store: Store

    async def __call__(self, identity: Identity, probe: Embedding) -> bool:
        _, first = await self.store.write_soft(vectors.embedder, str(identity), probe.vector)
        return same_model(probe, first)


def _floats(joined: bytes, rows: int) -> "Array":
    import numpy as np  # noqa: PLC0415

    return np.frombuffer(joined, np.float16).reshape(rows, -1 if rows else 0).astype(np.float32)


def _tokens(scale: float, tokens: bytes) -> "Array":
    import numpy as np  # noqa: PLC0415

    made: Array = np.frombuffer(tokens, np.int8).reshape(-1, TOKEN_DIMENSION).astype(np.float32) * (scale / 127)
    return made
