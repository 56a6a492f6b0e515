"""What stands beside a record."""

from kai.model.ids import MessageId, fresh
from kai.model.memory import NewRecord, Scope
from kai.model.messages import Author
from kai.store import beside, messages, records
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
