"""What every index engine keeps, against numpy's own exact answer."""

from collections.abc import Callable, Sequence
from importlib.util import find_spec

import pytest

if find_spec("numpy") is None:
    pytest.skip("kai[memory] is not installed", allow_module_level=True)

import numpy as np

from kai.memory.index.bits import RESCORED, BitIndex
from kai.memory.index.engine import Array, Engine
from kai.memory.index.flat import FlatIndex
from kai.store.binding import can_load_extensions

HAS_SQLITE_VEC = can_load_extensions and find_spec("sqlite_vec") is not None
DIMENSION = 100  # no whole number of words, on purpose
Make = Callable[[], Engine]


def vec0() -> Engine:
    from kai.memory.index.vec0 import Vec0Index

    return Vec0Index(DIMENSION)


class Signs(BitIndex):
    """As it is beyond `HELD_ROWS`."""

    def __init__(self) -> None:
        super().__init__(DIMENSION)
        self._halves = None


@pytest.fixture(
    params=[
        pytest.param(
            vec0, id="sqlite-vec", marks=pytest.mark.skipif(not HAS_SQLITE_VEC, reason="sqlite-vec is not installed")
        ),
        pytest.param(lambda: BitIndex(DIMENSION), id="bits"),
        pytest.param(Signs, id="bits, vectors in the store"),
        pytest.param(lambda: FlatIndex(DIMENSION), id="flat"),
    ]
)
def engine(request: pytest.FixtureRequest) -> Engine:
    make: Make = request.param
    return make()


class Truth:
    """What the store would hold."""

    def __init__(self, engine: Engine, seed: int = 1) -> None:
        self.holds_halves = type(engine) is BitIndex
        self.vectors: dict[int, Array] = {}
        self.draw = np.random.default_rng(seed)
        self.centres = self.draw.normal(size=(20, DIMENSION))

    def some(self, count: int) -> Array:
        """Vectors of length 1 that lie in clusters, as those of texts do, as exact as the engine holds them."""
        near = self.centres[self.draw.integers(0, 20, count)] + self.draw.normal(size=(count, DIMENSION)) * 0.7 + 1
        made: Array = (near / np.linalg.norm(near, axis=1, keepdims=True)).astype(np.float32)
        return made.astype(np.float16).astype(np.float32) if self.holds_halves else made

    def put(self, engine: Engine, rows: Sequence[int]) -> None:
        vectors = self.some(len(rows))
        engine.put(rows, vectors)
        self.vectors |= dict(zip(rows, vectors, strict=True))

    def fetch(self, rows: Sequence[int]) -> tuple[list[int], Array]:
        held = [row for row in rows if row in self.vectors]
        return held, np.array([self.vectors[row] for row in held], np.float32).reshape(len(held), DIMENSION)

    def nearest(self, query: Array, limit: int) -> list[int]:
        cosines = {row: float(vector @ query) for row, vector in self.vectors.items()}
        return sorted(cosines, key=lambda row: (-cosines[row], row))[:limit]


def test_an_engine_tells_how_much_memory_it_holds(engine: Engine) -> None:
    truth = Truth(engine)
    truth.put(engine, range(5_000))
    if type(engine) is Signs:
        least = 5_000 * DIMENSION // 8
        assert engine.size_bytes < 6 * least
        return
    least = 5_000 * DIMENSION * (2 if engine.name == "bits" else 4)
    assert least <= engine.size_bytes <= 4 * least


def test_an_empty_index_finds_nothing(engine: Engine) -> None:
    truth = Truth(engine)
    assert len(engine) == 0
    assert engine.near(truth.some(1)[0], 10, truth.fetch) == []


def test_the_nearest_come_first_with_their_exact_cosine(engine: Engine) -> None:
    truth = Truth(engine)
    truth.put(engine, range(10, 310))
    for query in truth.some(20):
        found = engine.near(query, 10, truth.fetch)
        assert [row for row, _ in found] == truth.nearest(query, 10)
        assert [cosine for _, cosine in found] == pytest.approx(
            [float(truth.vectors[row] @ query) for row, _ in found], abs=1e-5
        )


def test_among_thousands_nearly_all_of_the_true_nearest_are_found(engine: Engine) -> None:
    truth = Truth(engine)
    truth.put(engine, range(5_000))
    queries = truth.some(50)
    hits = [len({row for row, _ in engine.near(q, 10, truth.fetch)} & set(truth.nearest(q, 10))) for q in queries]
    assert sum(hits) / (10 * len(queries)) >= 0.98


def test_equals_come_in_the_order_of_their_rows(engine: Engine) -> None:
    truth = Truth(engine)
    one = truth.some(1)
    for row in (7, 3, 5):
        engine.put([row], one)
        truth.vectors[row] = one[0]
    assert [row for row, _ in engine.near(one[0], 10, truth.fetch)] == [3, 5, 7]


def test_more_than_there_are_is_all_that_there_are(engine: Engine) -> None:
    truth = Truth(engine)
    truth.put(engine, [1, 2])
    assert len(engine.near(truth.some(1)[0], 10_000, truth.fetch)) == 2


def test_what_was_dropped_is_found_no_more_and_dropping_it_again_is_nothing(engine: Engine) -> None:
    truth = Truth(engine)
    truth.put(engine, [1, 2, 3])
    nearest = truth.nearest(truth.vectors[1], 1)[0]
    for _ in range(2):
        engine.drop(nearest)
    assert nearest not in [row for row, _ in engine.near(truth.vectors[1], 10, truth.fetch)]
    assert len(engine) == 2


def test_a_row_that_is_put_again_has_its_new_vector_alone(engine: Engine) -> None:
    truth = Truth(engine)
    truth.put(engine, range(600))
    old = truth.vectors[5]
    truth.put(engine, [5])
    assert len(engine) == 600
    ((row, cosine),) = engine.near(truth.vectors[5], 1, truth.fetch)
    assert row == 5
    assert cosine == pytest.approx(1, abs=1e-3)
    assert engine.near(old, 1, truth.fetch)[0][1] < 0.9999


def test_a_random_walk_of_changes_agrees_with_the_truth(engine: Engine) -> None:
    truth = Truth(engine, seed=7)
    for step in range(300):
        if step % 3 == 2 and truth.vectors:
            gone = int(truth.draw.choice(list(truth.vectors)))
            engine.drop(gone)
            del truth.vectors[gone]
        else:
            truth.put(engine, [int(row) for row in truth.draw.choice(400, 3, replace=False)])
        if step % 10 == 0:
            query = truth.some(1)[0]
            assert [row for row, _ in engine.near(query, 10, truth.fetch)] == truth.nearest(query, 10)
    assert len(engine) == len(truth.vectors) <= RESCORED


def test_a_row_that_the_store_no_longer_holds_is_not_made_up() -> None:
    ours = Signs()
    truth = Truth(ours)
    truth.put(ours, [1, 2])
    held = truth.vectors.pop(1)
    assert [row for row, _ in ours.near(held, 10, truth.fetch)] == [2]


def test_beyond_so_many_rows_vectors_are_read_from_the_store(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("kai.memory.index.bits.HELD_ROWS", 1_000)
    ours = BitIndex(DIMENSION)
    truth = Truth(ours)
    truth.put(ours, range(900))
    before = ours.size_bytes
    truth.put(ours, range(900, 3_000))
    assert ours.size_bytes < before
    query = truth.some(1)[0]
    assert [row for row, _ in ours.near(query, 5, truth.fetch)] == truth.nearest(query, 5)
