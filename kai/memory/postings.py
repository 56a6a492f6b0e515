"""Words of records as the searches of a daemon left them: for each word the rows that hold it, and what it is worth.

SQLite scores every match of every search anew, a microsecond each. What one word is worth in a row is the same in the
next search, and the BM25 score of several words is the sum of theirs: so the common words, which cost most, are read
once. An entry is brought up to date by what moved on the shelf since; it may be stale, and gives nothing away.
"""

from collections import OrderedDict
from collections.abc import Iterable
from dataclasses import dataclass, field
from threading import Lock
from typing import TYPE_CHECKING

from kai.store import shelves, vectors
from kai.store.binding import Connection

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

_BYTES = 64 * 1024**2  # of all entries; the one that was not used for longest goes
_ENTRY_BYTES = 300  # beside its numbers
_RARE = 1_000  # rows; counting them costs what reading them does
_DRIFT = 8  # so many moves, and an eighth of its rows, change what a word is worth in each of them: it is read anew


@dataclass(frozen=True, slots=True)
class _Entry:
    """`seen`: the last move that is in it; `read`: the move at which it was read as a whole. Rows rise."""

    rows: "NDArray[np.int64]"
    scores: "NDArray[np.float32]"
    seen: int
    read: int

    @property
    def size_bytes(self) -> int:
        return int(self.rows.nbytes + self.scores.nbytes) + _ENTRY_BYTES


@dataclass
class Postings:
    """The word stage of a search where numpy is in use already; finds what `shelves.matches` does."""

    counts: shelves.Counts = field(default_factory=dict)
    _entries: "OrderedDict[tuple[int, str], _Entry]" = field(default_factory=OrderedDict)
    _held_bytes: int = 0
    _lock: Lock = field(default_factory=Lock)

    def matches(self, db: Connection, numbers: Iterable[int], text: str, limit: int) -> dict[int, float]:
        """Row of a record to its BM25 score: the best `limit` of each shelf.

        What is read is kept: `db` must see nothing on these shelves that may yet be undone (`VectorStage.at_hand`).
        """
        from kai.memory.index.engine import best  # noqa: I001, PLC0415 - before numpy: it sets its one thread
        import numpy as np  # noqa: PLC0415

        terms = shelves.terms(text)
        found: dict[int, float] = {}
        for number in numbers:
            ours = _Search(self, db, number, vectors.last_move_on(db, number))
            entries = [ours.entry(term) for term in shelves.chosen(terms, ours.count)]
            if not entries:
                continue
            rows = np.concatenate([one.rows for one in entries])
            scores = np.concatenate([one.scores for one in entries])
            if len(entries) > 1:
                order = np.argsort(rows, kind="stable")
                rows, scores = rows[order], scores[order]
                first = np.flatnonzero(np.diff(rows, prepend=-1))
                rows, scores = rows[first], np.add.reduceat(scores, first)
            found |= best(rows, scores, limit)
        return found

    def get(self, number: int, term: str) -> _Entry | None:
        return self._entries.get((number, term))

    def keep(self, number: int, term: str, entry: _Entry) -> None:
        key = number, term
        with self._lock:
            if old := self._entries.pop(key, None):
                self._held_bytes -= old.size_bytes
            self._entries[key] = entry
            self._held_bytes += entry.size_bytes
            while self._held_bytes > _BYTES:
                self._held_bytes -= self._entries.popitem(last=False)[1].size_bytes


@dataclass(frozen=True, slots=True)
class _Search:
    """One search of one shelf, on which `last` is the last move."""

    held: Postings
    db: Connection
    number: int
    last: int

    def count(self, term: str) -> int:
        """How many rows hold it. A rare word is read for it: that costs no more."""
        known = self.held.get(self.number, term)
        if known is None or known.seen < self.last:
            counted = shelves.count(self.db, self.number, term, counts=self.held.counts)
            if counted > _RARE:
                return counted
        found = len(self.entry(term).rows)
        return found if found < shelves.POSTINGS else found + 1

    def entry(self, term: str) -> _Entry:
        known = self.held.get(self.number, term)
        if known is None:
            known = _read(self.db, self.number, term, self.last)
        elif known.seen < self.last:
            last, changed = vectors.moved(self.db, self.number, known.seen)
            if last - known.read > _DRIFT + len(known.rows) // 8:
                known = _read(self.db, self.number, term, self.last)
            elif changed:
                known = _followed(self.db, self.number, term, known, last, min(changed))
        self.held.keep(self.number, term, known)
        return known


def _read(db: Connection, number: int, term: str, last: int) -> _Entry:
    """`last`: of this shelf, for the numbers of moves that are undone on another come again."""
    rows, scores = _numbers(shelves.postings(db, number, term))
    return _Entry(rows, scores, last, last)


def _followed(db: Connection, number: int, term: str, known: _Entry, last: int, least: int) -> _Entry:
    """What stands in rows from the least that changed on is read again: nearly always what was saved last."""
    import numpy as np  # noqa: PLC0415

    kept = int(np.searchsorted(known.rows, least))
    rows, scores = _numbers(shelves.postings(db, number, term, least))
    joined = np.concatenate([known.rows[:kept], rows]), np.concatenate([known.scores[:kept], scores])
    return _Entry(*joined, last, known.read)


def _numbers(postings: list[tuple[int, float]]) -> "tuple[NDArray[np.int64], NDArray[np.float32]]":
    import numpy as np  # noqa: PLC0415

    rows = np.fromiter((one[0] for one in postings), np.int64, len(postings))
    return rows, np.fromiter((one[1] for one in postings), np.float32, len(postings))
