"""The interface of an index engine, and which engine is taken."""

import os
from collections.abc import Callable, Sequence
from typing import Literal, Protocol

os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")  # read when numpy is imported: more threads wait for one another

import numpy as np
from numpy.typing import NDArray

from kai.store.binding import Error

Array = NDArray[np.float32]
Fetch = Callable[[Sequence[int]], tuple[list[int], Array]]
Choice = Literal["auto", "flat", "sqlite-vec", "bits"]
FLAT_ROWS = 10_000  # beyond them bit planes are faster and hold less memory


class Engine(Protocol):
    """Rows of vectors of length 1. Not for several threads at once: whoever shares one holds a lock."""

    name: str

    def __len__(self) -> int: ...

    @property
    def size_bytes(self) -> int:
        """About how much memory it holds."""

    def put(self, rows: Sequence[int], vectors: Array) -> None:
        """Add these, or put them in the place of what those rows had. (n, dimension)"""

    def drop(self, row: int) -> None:
        """Take a row out; one that is not there is nothing."""

    def near(self, query: Array, limit: int, fetch: Fetch) -> list[tuple[int, float]]:
        """The nearest rows with their exact cosine, best first, equals by row. `fetch` reads vectors of the store."""


def chosen(choice: Choice, rows: int) -> str:
    """The name of the engine for so many rows."""
    if choice == "auto":
        return "flat" if rows <= FLAT_ROWS else "bits"
    return choice


def made(name: str, dimension: int) -> Engine:
    """An empty index. Where sqlite-vec cannot be loaded after all, a matrix does the same."""
    from kai.memory.index.bits import BitIndex  # noqa: PLC0415 each is imported when it is needed
    from kai.memory.index.flat import FlatIndex  # noqa: PLC0415

    if name == "sqlite-vec":
        from kai.memory.index.vec0 import Vec0Index  # noqa: PLC0415

        try:
            return Vec0Index(dimension)
        except (Error, OSError, ImportError, AttributeError):
            pass
    return BitIndex(dimension) if name == "bits" else FlatIndex(dimension)


def exact(rows: Sequence[int], query: Array, limit: int, fetch: Fetch) -> list[tuple[int, float]]:
    """The nearest of `rows` by the vectors as the store holds them, best first, equals by row."""
    found, vectors = fetch(rows)
    if not found:
        return []
    return best(np.asarray(found), vectors @ query, limit)


def best(rows: NDArray[np.int64], cosines: Array, limit: int) -> list[tuple[int, float]]:
    """The `limit` rows of the greatest cosines, best first, equals by row."""
    if len(rows) > limit:
        least = np.partition(cosines, len(rows) - limit)[len(rows) - limit]
        some = np.flatnonzero(cosines >= least)  # more than `limit` where there are equals
        rows, cosines = rows[some], cosines[some]
    order = np.lexsort((rows, -cosines))[:limit]
    return list(zip(rows[order].tolist(), cosines[order].tolist(), strict=True))
