"""sqlite-vec over a database in memory: exact, for the few thousand records that most people have."""

from collections.abc import Sequence

from kai.memory.index.engine import Array, Fetch
from kai.store import vec0


class Vec0Index:
    """1.5 KB a row of 384 numbers."""

    name = "sqlite-vec"

    def __init__(self, dimension: int) -> None:
        self._db, self._row_bytes = vec0.opened(dimension), 4 * dimension

    def __len__(self) -> int:
        return vec0.count(self._db)

    @property
    def size_bytes(self) -> int:
        return len(self) * self._row_bytes

    def put(self, rows: Sequence[int], vectors: Array) -> None:
        vec0.put(self._db, zip(map(int, rows), (one.tobytes() for one in vectors), strict=True))

    def drop(self, row: int) -> None:
        vec0.drop(self._db, row)

    def near(self, query: Array, limit: int, fetch: Fetch) -> list[tuple[int, float]]:
        # Of vectors of length 1 the L2 distance ranks as the cosine does, and the engine is faster at it.
        found = [(row, 1 - distance * distance / 2) for row, distance in vec0.near(self._db, query.tobytes(), limit)]
        return sorted(found, key=lambda one: (-one[1], one[0]))
