"""sqlite-vec in memory."""

from array import array

import pytest

from kai.store import vec0
from kai.store.binding import Error

try:
    vec0.opened(2).close()
except (Error, ImportError, AttributeError) as missing:
    pytest.skip(f"sqlite-vec cannot be loaded here: {missing}", allow_module_level=True)


def vector(*numbers: float) -> bytes:
    return array("f", numbers).tobytes()


def test_rows_come_with_their_distance_and_a_second_put_replaces() -> None:
    db = vec0.opened(2)
    vec0.put(db, [(1, vector(1, 0)), (2, vector(0, 1))])
    vec0.put(db, [(2, vector(0.6, 0.8))])
    assert vec0.near(db, vector(1, 0), 10) == [(1, 0.0), (2, pytest.approx(0.8**0.5, abs=1e-6))]
    vec0.drop(db, 1)
    vec0.drop(db, 99)
    assert vec0.count(db) == 1


def test_no_number_of_rows_asked_for_is_too_many() -> None:
    db = vec0.opened(2)
    vec0.put(db, ((row, vector(1, 0)) for row in range(10)))
    assert len(vec0.near(db, vector(1, 0), 10**9)) == 10
