"""Bit planes in numpy: a sign for every number of a vector, compared by XOR, the best of them scored exactly."""

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from kai.memory.index.engine import Array, Fetch, best, exact

RESCORED = 400  # of these the exact cosine is taken: on real vectors 98 to 99 % of the true nearest are among them
HELD_ROWS = 120_000  # whose vectors are held beside their signs; of more the best are read from the store
_WORD = 64
_FIRST = 256


class BitIndex:
    """48 bytes a row of 384 numbers, and 768 for its vector as the store has it, while there are no more than so many.

    Signs are those of the vectors less their mean: texts lie close together.
    """

    name = "bits"

    def __init__(self, dimension: int) -> None:
        self._planes: NDArray[np.uint64] = np.zeros((-(-dimension // _WORD), _FIRST), np.uint64)
        self._rows: NDArray[np.int64] = np.zeros(_FIRST, np.int64)
        self._halves: NDArray[np.float16] | None = np.zeros((_FIRST, dimension), np.float16)
        self._room = np.empty(0, np.uint64), np.empty(0, np.uint8), np.empty(0, np.uint16)
        self._at: dict[int, int] = {}
        self._mean: Array = np.zeros(dimension, np.float32)

    def __len__(self) -> int:
        return len(self._at)

    @property
    def size_bytes(self) -> int:
        return int(self._planes.nbytes + self._rows.nbytes) + (0 if self._halves is None else self._halves.nbytes)

    def put(self, rows: Sequence[int], vectors: Array) -> None:
        if not len(rows):
            return
        if not self._at:
            self._mean = vectors.mean(axis=0)
        codes = self._codes(vectors)
        self._grow(len(self._at) + len(rows))
        places = np.array([self._at.setdefault(row, len(self._at)) for row in rows])
        self._planes[:, places] = codes
        self._rows[places] = rows
        if self._halves is not None:
            self._halves[places] = vectors

    def drop(self, row: int) -> None:
        at = self._at.pop(row, None)
        last = len(self._at)
        if at is not None and at != last:  # the last one takes its place
            moved = int(self._rows[last])
            self._planes[:, at], self._rows[at], self._at[moved] = self._planes[:, last], moved, at
            if self._halves is not None:
                self._halves[at] = self._halves[last]

    def near(self, query: Array, limit: int, fetch: Fetch) -> list[tuple[int, float]]:
        places = self.candidates(query, max(RESCORED, 2 * limit))
        rows = self._rows[places]
        if self._halves is None:
            return exact(rows.tolist(), query, limit, fetch)
        return best(rows, self._halves[places].astype(np.float32) @ query, limit)

    def candidates(self, query: Array, limit: int) -> NDArray[np.int64]:
        """Where the rows stand that differ from `query` in the fewest signs: at least `limit`, and their equals."""
        count = len(self._at)
        if count <= limit:
            return np.arange(count)
        code = self._codes(query[None, :])[:, 0]
        if len(self._room[0]) < count:  # memory that is asked for anew each time costs more than the counting
            room = len(self._rows)
            self._room = np.empty(room, np.uint64), np.empty(room, np.uint8), np.empty(room, np.uint16)
        mixed, ones, differing = (one[:count] for one in self._room)
        differing[:] = 0
        for plane, word in zip(self._planes, code, strict=True):
            np.bitwise_xor(plane[:count], word, out=mixed)
            np.bitwise_count(mixed, out=ones)
            np.add(differing, ones, out=differing)
        # So many signs that enough rows differ in no more: counted, for sorting out takes three times as long.
        most = int(np.searchsorted(np.cumsum(np.bincount(differing)), limit))
        return np.flatnonzero(differing <= most)

    def _codes(self, vectors: Array) -> NDArray[np.uint64]:
        signs = np.packbits(vectors > self._mean, axis=1, bitorder="little")
        whole = np.zeros((len(vectors), len(self._planes) * 8), np.uint8)
        whole[:, : signs.shape[1]] = signs
        return whole.view(np.uint64).T

    def _grow(self, count: int) -> None:
        room = self._rows.shape[0]
        if count > room:
            more = max(count, 2 * room) - room
            self._planes = np.pad(self._planes, ((0, 0), (0, more)))
            self._rows = np.pad(self._rows, (0, more))
            if self._halves is not None:
                self._halves = np.pad(self._halves, ((0, more), (0, 0))) if count <= HELD_ROWS else None
