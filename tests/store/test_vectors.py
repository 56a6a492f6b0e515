"""Vectors in ordinary tables."""

import struct
from array import array

import pytest

from kai.model.ids import fresh
from kai.model.memory import NewRecord, Scope
from kai.store import indexes, records, vectors
from tests.store.house import ANN, House

ONE = array("f", [0.6, 0.8]).tobytes()


@pytest.fixture
def seq(house: House) -> int:
    """The row of a record of Ann's."""
    scope = Scope(ANN, house.main.channel)
    receipt = records.save(house.db, scope, NewRecord("the blue door"), fresh("o"), house.now)
    row: int = house.db.execute("SELECT seq FROM mem_record WHERE record = ?", (receipt.record,)).fetchone()[0]
    return row


def test_an_embedder_is_known_by_its_identity_with_its_first_probe(house: House) -> None:
    assert vectors.number(house.db, "m") is None
    assert vectors.embedder(house.db, "m", b"first") == (1, b"first")
    assert vectors.embedder(house.db, "m", b"second") == (1, b"first")
    assert (vectors.number(house.db, "m"), vectors.embedder(house.db, "n", b"other")) == (1, (2, b"other"))


def test_a_vector_is_kept_as_halves_and_loaded_with_its_row(house: House, seq: int) -> None:
    number, _ = vectors.embedder(house.db, "m", b"")
    assert [one.text for one in vectors.unembedded(house.db, number, 0, 10)] == ["the blue door"]
    assert vectors.keep(house.db, number, seq, 1, ONE, b"tokens", 0.3)
    halves = struct.pack("<2e", 0.6, 0.8)
    (space,) = vectors.spaces(house.db, [f"person/{ANN}", "nobody"])
    assert (space.embedder, space.wanted) == (number, None)
    assert list(vectors.load(house.db, number, space.number)) == [([seq], halves)]
    assert vectors.fetch(house.db, number, [seq, 99]) == ([seq], halves)
    assert vectors.held(house.db, number, space.number, [seq, 99]) == ([seq], halves)
    assert vectors.tokens(house.db, number, [seq, 99]) == {seq: (0.3, b"tokens")}
    assert vectors.count(house.db, number, space.number) == 1
    assert vectors.unembedded(house.db, number, 0, 10) == []


def test_a_correction_leaves_no_vector_and_asks_for_another(house: House, seq: int) -> None:
    number, _ = vectors.embedder(house.db, "m", b"")
    vectors.keep(house.db, number, seq, 1, ONE, b"tokens", 0.3)
    scope = Scope(ANN, house.main.channel)
    record = house.db.execute("SELECT record FROM mem_record").fetchone()[0]
    records.correct(house.db, scope, record, "the green door", 1, fresh("o"), house.now)
    assert vectors.fetch(house.db, number, [seq]) == ([], b"")
    assert vectors.tokens(house.db, number, [seq]) == {}
    assert not vectors.keep(house.db, number, seq, 1, ONE)
    assert [(one.revision, one.text) for one in vectors.unembedded(house.db, number, 0, 10)] == [(2, "the green door")]


def test_what_came_and_went_is_told_once_in_order(house: House, seq: int) -> None:
    number, _ = vectors.embedder(house.db, "m", b"")
    (space,) = vectors.spaces(house.db, [f"person/{ANN}"])
    last, changed = vectors.moved(house.db, space.number, 0)
    assert changed == [seq]
    vectors.keep(house.db, number, seq, 1, ONE)
    later, changed = vectors.moved(house.db, space.number, last)
    assert (changed, later > last, vectors.last_move(house.db)) == ([seq], True, later)
    assert vectors.moved(house.db, space.number, later) == (later, [])
    house.db.execute("COMMIT")
    indexes.refresh(house.db)
    house.db.execute("BEGIN")
    assert (vectors.moved(house.db, space.number, 0), vectors.last_move(house.db)) == ((0, []), later)


def test_a_rebuild_ends_when_nothing_is_left_to_do_and_drops_what_nobody_searches(house: House, seq: int) -> None:
    old, _ = vectors.embedder(house.db, "old", b"")
    new, _ = vectors.embedder(house.db, "new", b"")
    vectors.keep(house.db, old, seq, 1, ONE, b"tokens", 0.3)
    assert vectors.unembedded(house.db, new, 0, 10) == []  # paused: it does not begin by itself
    assert vectors.want(house.db, new) == 1
    assert vectors.settle(house.db, new) == 0
    assert [one.seq for one in vectors.unembedded(house.db, new, 0, 10)] == [seq]
    vectors.keep(house.db, new, seq, 1, ONE)
    assert vectors.settle(house.db, new) == 1
    assert vectors.fetch(house.db, old, [seq]) == ([], b"")
    assert vectors.fetch(house.db, new, [seq])[0] == [seq]
    assert vectors.paused(house.db, new) == []
    assert [one.shelf for one in vectors.paused(house.db, old)] == [f"person/{ANN}"]
