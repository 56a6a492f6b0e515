"""What is known of words from earlier searches finds what SQLite itself finds, whatever has changed since."""

import random
import subprocess
import sys
from collections.abc import AsyncIterator
from importlib.util import find_spec
from pathlib import Path

import pytest

from kai.model.errors import BadInputError
from kai.model.memory import NewRecord
from kai.store import records, shelves, vectors
from kai.store.binding import Connection
from tests.memory.place import NOW, Remembered, remembered

if find_spec("numpy") is None:
    pytest.skip("kai[memory] is not installed", allow_module_level=True)

import numpy as np  # noqa: F401 - its first import is no part of what is tested

from kai.memory import postings
from kai.memory.postings import Postings

WORDS = ["pump", "cellar", "water", "meter", "loud", "red", "tap", "door", "key", "oats"]


@pytest.fixture
async def ann(tmp_path: Path) -> AsyncIterator[Remembered]:
    async with remembered(tmp_path) as place:
        yield place


def fill(db: Connection, ann: Remembered, count: int, seed: int) -> list[str]:
    draw = random.Random(seed)
    texts = [f"{' '.join(draw.choices(WORDS, k=draw.randrange(2, 9)))} n{seed}x{number}" for number in range(count)]
    return [records.save(db, ann.scope, NewRecord(text), f"o-{text}", NOW).record for text in texts]


def both(db: Connection, ann: Remembered, ours: Postings, query: str, limit: int = 500) -> tuple[dict[int, float], ...]:
    """What ours finds, and what SQLite finds."""
    numbers = [one.number for one in vectors.spaces(db, ("person/p-ann",))]
    return ours.matches(db, numbers, query, limit), shelves.matches(db, numbers, query, limit, {})


async def test_the_sum_of_what_words_are_worth_is_the_score_of_the_question(ann: Remembered) -> None:
    await ann.store.write(fill, ann, 200, 1)
    ours, draw = Postings(), random.Random(2)
    for _ in range(50):
        query = " ".join(draw.choices([*WORDS, "submarine"], k=4))
        found, expected = await ann.store.read(both, ann, ours, query)
        assert found == pytest.approx(expected, rel=1e-5)
        few, expected = await ann.store.read(both, ann, ours, query, 5)
        assert sorted(few.values()) == pytest.approx(sorted(expected.values()), rel=1e-5)


async def test_an_odd_question_finds_nothing_and_raises_nothing(ann: Remembered) -> None:
    await ann.store.write(fill, ann, 3, 1)
    for query in ("", "the and of", '"*" AND (', "\0\ud800", "钥"):
        assert await ann.store.read(both, ann, Postings(), query) == ({}, {})


async def test_what_came_went_and_changed_since_is_followed(ann: Remembered) -> None:
    ours, draw = Postings(), random.Random(3)
    kept = await ann.store.write(fill, ann, 250, 1)
    for step in range(40):
        match step % 4:
            case 0:
                kept += await ann.store.write(fill, ann, 2, 100 + step)
            case 1:
                await ann.forget(kept.pop(draw.randrange(len(kept))))
            case 2:
                await ann.correct(draw.choice(kept), f"the {draw.choice(WORDS)} is now {step}")
            case _:
                pass
        found, expected = await ann.store.read(both, ann, ours, " ".join(draw.choices(WORDS, k=3)))
        assert found.keys() == expected.keys()
        assert found == pytest.approx(expected, rel=0.25, abs=0.1)  # how rare a word is in all drifts until it is read


async def test_after_many_changes_a_word_is_read_anew(ann: Remembered) -> None:
    ours = Postings()
    await ann.store.write(fill, ann, 5, 1)
    await ann.store.read(both, ann, ours, "pump water")
    await ann.store.write(fill, ann, 100, 2)
    found, expected = await ann.store.read(both, ann, ours, "pump water")
    assert found == pytest.approx(expected, rel=1e-5)


async def test_moves_that_were_undone_on_another_shelf_hide_no_later_ones(ann: Remembered) -> None:
    """Their numbers come again: what an entry has seen is counted by its own shelf."""
    await ann.store.write(fill, ann, 5, 1)
    ours = Postings()
    number = (await ann.store.read(vectors.spaces, ("person/p-ann",)))[0].number

    def look_and_undo(db: Connection) -> None:
        db.executemany("INSERT INTO mem_moved (shelf, seq) VALUES (?, 1)", [(number + 1,)] * 50)
        assert ours.matches(db, [number], "n2x1", 9) == {}
        raise BadInputError("x", "is undone", "")

    with pytest.raises(BadInputError):
        await ann.store.write(look_and_undo)
    await ann.store.write(fill, ann, 5, 2)
    found, expected = await ann.store.read(both, ann, ours, "n2x1")
    assert found.keys() == expected.keys() != set()


async def test_beyond_the_bound_of_memory_the_longest_unused_words_go(
    ann: Remembered, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(postings, "_BYTES", 3 * postings._ENTRY_BYTES + 12 * 300)
    await ann.store.write(fill, ann, 100, 1)
    ours = Postings()
    for query in (*WORDS, "pump water"):
        found, expected = await ann.store.read(both, ann, ours, query)
        assert found == pytest.approx(expected, rel=1e-5)
        assert ours._held_bytes == sum(one.size_bytes for one in ours._entries.values()) <= postings._BYTES
    assert '"water"' in [term for _, term in ours._entries]


async def test_of_a_very_common_word_no_more_than_the_bound_counts(
    ann: Remembered, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(shelves, "POSTINGS", 10)
    for number in range(30):
        await ann.save(f"water {number}")
    await ann.save("water meter")
    ours = Postings()
    for query, count in (("water meter", 1), ("water", 10)):
        found, expected = await ann.store.read(both, ann, ours, query)
        assert found == pytest.approx(expected, rel=1e-5)
        assert len(found) == count


FIRST_IMPORT = """
import os, sys
from kai.memory.postings import Postings

class Watch:
    def find_spec(self, name, path=None, target=None):
        if name == "numpy":
            print(os.environ.get("OPENBLAS_NUM_THREADS"))

assert "numpy" not in sys.modules
os.environ.pop("OPENBLAS_NUM_THREADS", None)
sys.meta_path.insert(0, Watch())
Postings().matches(None, [], "", 1)
"""


def test_the_first_search_imports_numpy_with_one_thread() -> None:
    """With two of them, whoever waits spins: 50 ms of CPU for a search of one."""
    done = subprocess.run([sys.executable, "-c", FIRST_IMPORT], capture_output=True, text=True, check=True, timeout=15)
    assert done.stdout == "1\n"
