"""What stands beside a record."""

from kai.model.ids import MessageId, fresh
from kai.model.memory import NewRecord, Scope
from kai.model.messages import Author
from kai.store import beside, messages, records
from kai.store.migrate import _statements, shipped
from tests.store.house import ANN, House


def saved(house: House, text: str, *, silent: int = 0) -> int:
    """A message of Ann's with a record of it, after `silent` messages without; the record's row."""
    for _ in range(silent):
        said(house, "something else")
    scope = Scope(ANN, house.main.channel, message=said(house, text))
    receipt = records.save(house.db, scope, NewRecord(text), fresh("o"), house.now)
    row: int = house.db.execute("SELECT seq FROM mem_record WHERE record = ?", (receipt.record,)).fetchone()[0]
    return row


def said(house: House, text: str) -> MessageId:
    message = messages.draft(house.main.channel, Author.PERSON, ANN, "Ann", text, house.now)
    return messages.keep(house.db, message).message


def test_the_nearest_before_and_after_in_the_talk_are_neighbours_and_no_others(house: House) -> None:
    one, two, three = (saved(house, text) for text in ("one", "two", "three"))
    far = saved(house, "far", silent=2)
    near = saved(house, "near", silent=1)
    assert sorted(beside.neighbours(house.db, [one, two, three, far, near])) == sorted(
        [(one, two), (two, one), (two, three), (three, two), (far, near), (near, far)]
    )
    assert beside.neighbours(house.db, []) == []


def test_what_is_forgotten_is_nobodys_neighbour(house: House) -> None:
    one, two = saved(house, "one"), saved(house, "two")
    record = house.db.execute("SELECT record FROM mem_record WHERE seq = ?", (two,)).fetchone()[0]
    records.forget(house.db, Scope(ANN, house.main.channel), record, None, fresh("o"), house.now)
    assert beside.neighbours(house.db, [one]) == []


def test_when_it_was_said_is_told(house: House) -> None:
    one = saved(house, "one")
    assert beside.said(house.db, [one, 99]).keys() == {one}


def test_a_corrected_record_stands_where_it_was_said_again(house: House) -> None:
    one, two = saved(house, "one"), saved(house, "two")
    far = said(house, "one, but red")
    record = house.db.execute("SELECT record FROM mem_record WHERE seq = ?", (one,)).fetchone()[0]
    for _ in range(3):
        far = said(house, "one, but red")
    scope = Scope(ANN, house.main.channel, message=far)
    records.correct(house.db, scope, record, "one, but red", None, fresh("o"), house.now)
    assert beside.neighbours(house.db, [two]) == []
    three = saved(house, "three")
    assert sorted(beside.neighbours(house.db, [one, three])) == [(one, three), (three, one)]


def test_what_stands_on_another_shelf_too_stands_beside_until_it_stands_on_none(house: House) -> None:
    one, two = saved(house, "one"), saved(house, "two")
    house.db.execute("INSERT INTO mem_shelf (shelf, words) VALUES ('channel/c-x', '1')")
    house.db.execute("INSERT INTO mem_indexed SELECT max(s.seq), ?, 1 FROM mem_shelf s", (two,))
    for left in ([(one, two)], []):
        house.db.execute(
            "DELETE FROM mem_indexed WHERE seq = ?1 AND shelf = (SELECT max(shelf) FROM mem_indexed WHERE seq = ?1)",
            (two,),
        )
        assert beside.neighbours(house.db, [one]) == left


def test_records_of_an_older_database_have_their_place(house: House) -> None:
    one, two = saved(house, "one"), saved(house, "two")
    sql = next(one.sql for one in shipped() if "beside" in one.name)
    for kind, name in (("TRIGGER", "mem_beside_came"), ("TRIGGER", "mem_beside_went"), ("TABLE", "mem_beside")):
        house.db.execute(f"DROP {kind} {name}")
    for statement in _statements(sql):
        house.db.execute(statement)
    assert sorted(beside.neighbours(house.db, [one, two])) == [(one, two), (two, one)]
