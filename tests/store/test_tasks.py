"""A task keeps what was asked and what replaced it; a note is a view, and its end changes nothing that was asked."""

from typing import Any

import pytest

from kai.model.errors import BadInputError, UnknownThingError
from kai.model.ids import MessageId
from kai.model.work import Task, TaskItem
from kai.store import tasks
from tests.store.house import ANN, House


@pytest.fixture
def message(house: House) -> MessageId:
    said = house.accept("use these prices").message
    assert said is not None
    return said


def added(house: House, text: str, kind: str = "note", **more: Any) -> tuple[Task, TaskItem]:
    return tasks.add(house.db, house.main.channel, ANN, house.now, kind=kind, text=text, agent="house", **more)


def test_the_first_thing_said_begins_it_and_its_end_makes_room_for_another(house: House) -> None:
    assert tasks.open_in(house.db, house.main.channel) is None
    known, item = added(house, "compare  the pumps")
    assert (known.title, known.status, known.items) == ("compare the pumps", "open", (item,))
    assert tasks.open_channels(house.db) == (house.main.channel,)
    assert added(house, "one leaks")[0].task == known.task
    tasks.set_status(house.db, house.main.channel, "blocked", house.now)
    assert tasks.open_in(house.db, house.main.channel) is not None
    tasks.set_status(house.db, house.main.channel, "done", house.now)
    assert tasks.open_in(house.db, house.main.channel) is None
    assert added(house, "another")[0].task != known.task


def test_an_input_that_is_replaced_becomes_historical_and_stays(house: House, message: MessageId) -> None:
    old = added(house, "P1", "input", message=message)[1]
    assert tasks.inputs_of(house.db, house.main.channel) == (old.item,)
    known, new = added(house, "P2", "input", message=message, replaces=old.item)
    assert [(one.text, one.status, one.replaces) for one in known.items] == [
        ("P1", "historical", None),
        ("P2", "active", old.item),
    ]
    assert tasks.inputs_of(house.db, house.main.channel) == (new.item,)
    with pytest.raises(UnknownThingError):
        added(house, "P3", "input", message=message, replaces=old.item)  # it holds no more
    with pytest.raises(UnknownThingError):
        added(house, "a note", replaces=new.item)  # a note replaces no input


@pytest.mark.parametrize("kind", ["requirement", "restriction", "input"])
def test_what_was_asked_cites_a_message_of_the_persons(house: House, kind: str) -> None:
    with pytest.raises(BadInputError, match="cites"):
        added(house, "it must be blue", kind)


def test_a_note_is_taken_back_and_what_was_asked_is_not(house: House, message: MessageId) -> None:
    asked, note = added(house, "blue", "requirement", message=message)[1], added(house, "done already")[1]
    tasks.withdraw(house.db, house.main.channel, note.item, house.now)
    with pytest.raises(UnknownThingError):
        tasks.withdraw(house.db, house.main.channel, asked.item, house.now)
    known = tasks.open_in(house.db, house.main.channel)
    assert known is not None
    assert [(one.item, one.status) for one in known.items] == [(asked.item, "active"), (note.item, "withdrawn")]


def test_secrets_and_endless_tasks_are_refused(house: House) -> None:
    with pytest.raises(BadInputError, match="secret"):
        added(house, "the key is sk-ant-api03-" + "a" * 90)
    for number in range(tasks.ITEMS):
        added(house, f"note {number}")
    with pytest.raises(BadInputError, match="items already"):
        added(house, "one more")


def test_nothing_of_a_task_that_is_not_there_can_be_changed(house: House) -> None:
    with pytest.raises(UnknownThingError):
        tasks.set_status(house.db, house.main.channel, "done", house.now)
    with pytest.raises(UnknownThingError):
        tasks.withdraw(house.db, house.main.channel, "i-1", house.now)
    with pytest.raises(UnknownThingError):
        tasks.get(house.db, "k-none")
