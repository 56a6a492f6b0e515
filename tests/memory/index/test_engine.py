"""Which engine is taken."""

from importlib.util import find_spec

import pytest

if find_spec("numpy") is None:
    pytest.skip("kai[memory] is not installed", allow_module_level=True)

from kai.memory.index import engine
from kai.store import vec0
from kai.store.binding import OperationalError


def test_few_rows_take_the_matrix_and_many_take_bits() -> None:
    assert [engine.chosen("auto", rows) for rows in (1, 10_000, 10_001)] == ["flat", "flat", "bits"]


def test_the_operators_choice_holds_for_any_number_of_rows() -> None:
    assert [engine.chosen("bits", 1), engine.chosen("sqlite-vec", 10**6)] == ["bits", "sqlite-vec"]


def test_where_the_extension_does_not_load_a_matrix_does_the_same(monkeypatch: pytest.MonkeyPatch) -> None:
    def broken(dimension: int) -> None:
        raise OperationalError(f"no such module: vec0 ({dimension})")

    monkeypatch.setattr(vec0, "opened", broken)
    assert engine.made("sqlite-vec", 8).name == "flat"
    assert engine.made("bits", 8).name == "bits"
