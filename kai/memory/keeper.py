"""Sees to it that every record has its vector: one text at a time, behind whoever asks, from where it stopped."""

from dataclasses import dataclass, field

import anyio

from kai.log import log
from kai.memory.embedding.embedder import Embedder, EmbedderUnavailableError, Embedding
from kai.store import vectors
from kai.store.binding import Connection
from kai.store.database import Store

_BATCH = 32  # texts in one transaction
_NOBODY = -1  # an embedder that has not been met here yet


@dataclass
class VectorKeeper:
    """Runs for as long as the daemon. `rest_s`: seconds until an embedder that failed is tried again."""

    store: Store
    embedder: Embedder
    rest_s: float = 60.0
    _seen: int = -1  # up to this move of the store everything has its vector; -1: nobody has looked yet
    _woken: anyio.Event = field(default_factory=anyio.Event)

    def wake(self) -> None:
        """Records have come or changed, or a rebuild is wanted."""
        self._woken.set()

    async def run(self) -> None:
        """Until cancelled. Costs nothing while nothing changes; whatever a kill leaves undone is done afterwards."""
        while True:
            self._woken = anyio.Event()
            try:
                await self.catch_up()
            except EmbedderUnavailableError:  # it has said so itself
                await anyio.sleep(self.rest_s)
                continue
            await self._woken.wait()

    async def catch_up(self) -> int:
        """Embed all that has no vector yet; how many. Raises `EmbedderUnavailableError` with the rest undone."""
        done, after = 0, 0
        last = await self.store.read(vectors.last_move)
        while True:
            number = await self._number()
            waiting = await self.store.read(vectors.unembedded, number, after, _BATCH, self._seen)
            if not waiting:
                break
            found = [(one, await self.embedder.embed("passage", one.text)) for one in waiting]
            number = await self._number()
            done += await self.store.write_soft(_keep, number, found)
            after = waiting[-1].seq
        is_first, self._seen = self._seen < 0, last
        # A kill may have come between the last vector and the word that the rebuild is done.
        if (done or is_first) and (rebuilt := await self.store.write(vectors.settle, number)):
            log.info("memory.rebuilt", model=str(self.embedder.identity), shelves=rebuilt, records=done)
        return done

    async def rebuild(self) -> int:
        """Begin to put this embedder's vectors in the place of all others'; on how many shelves."""
        await self.embedder.embed("query", "a")  # an embedder that cannot answer must not be waited for
        shelves = await self.store.write(vectors.want, await self._number())
        self._seen = -1
        self.wake()
        return shelves

    async def _number(self) -> int:
        number = await self.store.read(vectors.number, str(self.embedder.identity))
        return _NOBODY if number is None else number


def _keep(db: Connection, embedder: int, found: list[tuple[vectors.Unembedded, Embedding]]) -> int:
    return sum(
        vectors.keep(db, embedder, one.seq, one.revision, made.vector, made.tokens, made.scale) for one, made in found
    )
