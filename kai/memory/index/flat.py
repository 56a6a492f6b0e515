"""One matrix of float32 numbers: exact, and faster than anything with an index for the thousands that people have."""

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from kai.memory.index.engine import Array, Fetch, best

_FIRST = 64


class FlatIndex:
    """1.5 KB a row of 384 numbers. The matrix is C-contiguous; a row that goes is replaced by the last one."""

    name = "flat"

    def __init__(self, dimension: int) -> None:
        self._matrix: Array = np.zeros((_FIRST, dimension), np.float32)
        self._rows: NDArray[np.int64] = np.zeros(_FIRST, np.int64)
        self._at: dict[int, int] = {}

    def __len__(self) -> int:
        return len(self._at)

    @property
    def size_bytes(self) -> int:
        return int(self._matrix.nbytes + self._rows.nbytes)

    def put(self, rows: Sequence[int], vectors: Array) -> None:
        places = np.array([self._at.setdefault(row, len(self._at)) for row in rows], np.int64)
        room = len(self._rows)
        if len(self._at) > room:
            more = max(len(self._at), 2 * room) - room
            self._matrix = np.pad(self._matrix, ((0, more), (0, 0)))
            self._rows = np.pad(self._rows, (0, more))
        self._matrix[places], self._rows[places] = vectors, rows

    def drop(self, row: int) -> None:
        at = self._at.pop(row, None)
        last = len(self._at)
        if at is not None and at != last:
            moved = int(self._rows[last])
            self._matrix[at], self._rows[at], self._at[moved] = self._matrix[last], moved, at

    def near(self, query: Array, limit: int, fetch: Fetch) -> list[tuple[int, float]]:
        count = len(self._at)
        return best(self._rows[:count], self._matrix[:count] @ query, limit)
