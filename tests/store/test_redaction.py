"""Redaction takes the words out of the file: record, message, snapshots, deliveries; and nothing else of them."""

import pytest

from kai.model.context import ContextBlock, Section
from kai.model.errors import UnknownThingError
from kai.model.memory import Deed
from kai.store import messages, redaction, search, snapshots
from kai.store.binding import IntegrityError
from tests.store.house import House
from tests.store.remembered import Memory, everything

TEXT = "my locker is number seventeen zanzibar"


@pytest.fixture
def memory(house: House) -> Memory:
    return Memory(house)


def test_the_words_leave_the_record_the_message_the_snapshots_and_the_index(memory: Memory) -> None:
    house = memory.house
    turn = house.queued(TEXT)
    said = messages.of_turn(house.db, turn)[0].message
    block = ContextBlock((Section("memory", f"<<k {TEXT} k>>", required=False, stable=False),), TEXT, (), 5)
    dispatch = house.sent(turn, block=block)
    house.finish(turn, dispatch)
    other = house.queued("something else")
    kept = house.begin(other)
    record = memory.kept(TEXT, memory.scope(message=said))
    memory.correct(record, TEXT + " two")
    receipt = redaction.redact(house.db, memory.scope(), record, memory.op, house.now)
    assert (receipt.outcome, receipt.reason) == (Deed.COMMITTED, "messages=1 snapshots=1")
    assert "zanzibar" not in everything(house.db)
    assert messages.get(house.db, said).text == ""
    assert search.search(house.db, house.main.channel, "zanzibar", 5) == ()
    with pytest.raises(UnknownThingError):
        snapshots.snapshot(house.db, dispatch)
    assert snapshots.snapshot(house.db, kept).words == "words"
    assert redaction.redact(house.db, memory.scope(), record, memory.op, house.now).outcome is Deed.NOOP


def test_a_message_changes_by_nothing_but_a_redaction(memory: Memory) -> None:
    said = memory.house.accept("hello").message
    numbered = "text = '', number = 9, redacted_at = 1"
    for change in ("text = 'bye'", "text = ''", "name = 'x', redacted_at = 1", numbered):
        with pytest.raises(IntegrityError, match="append-only"):
            memory.db.execute(f"UPDATE message SET {change} WHERE message = ?", (said,))


def test_nobody_redacts_what_is_somebody_elses(memory: Memory) -> None:
    record = memory.kept(TEXT)
    bob = memory.scope(memory.db.execute("SELECT principal FROM person WHERE name = 'Bob'").fetchone()[0])
    assert redaction.redact(memory.db, bob, record, memory.op, memory.house.now).reason == "unknown"
    assert memory.found("zanzibar") == [TEXT]
