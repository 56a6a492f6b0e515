"""What waits is used once its owner accepts it, and never proposed again once it is turned down."""

import pytest

from kai.model.memory import Deed, MemoryReceipt, NewRecord, Origin, Status, Way
from kai.store import candidates, records
from kai.store.records import TakenIn
from tests.store.house import BOB, House
from tests.store.remembered import Memory

SAID = "My sister lives in Ulm."


@pytest.fixture
def memory(house: House) -> Memory:
    return Memory(house)


def proposed(memory: Memory, text: str = SAID) -> MemoryReceipt:
    taken = TakenIn(origin=Origin.LEARNED, waits=True)
    scope = memory.scope(way=Way.JOB)
    return records.take_in(memory.db, scope, NewRecord(text), taken, memory.op, memory.house.now, operation="learn")


def told(memory: Memory, what: str, record: str, **more: object) -> tuple[Deed, str]:
    work = candidates.accept if what == "accept" else candidates.reject
    made = work(memory.db, memory.scope(**more), record, memory.op, memory.house.now)  # type: ignore[arg-type]
    return made.outcome, made.reason


def test_a_candidate_is_found_by_nothing_until_it_is_accepted(memory: Memory) -> None:
    made = proposed(memory)
    assert (made.outcome, made.reason) == (Deed.COMMITTED, "candidate")
    assert memory.found("sister") == []
    assert proposed(memory).reason == "known"
    assert told(memory, "accept", made.record) == (Deed.COMMITTED, "")
    assert memory.found("sister") == [SAID]
    assert memory.get(made.record).origin is Origin.LEARNED
    assert told(memory, "accept", made.record) == (Deed.NOOP, "active")


def test_what_is_turned_down_is_never_proposed_again_and_cannot_be_accepted(memory: Memory) -> None:
    record = proposed(memory).record
    assert told(memory, "reject", record) == (Deed.COMMITTED, "")
    assert proposed(memory, SAID.upper()).reason == "tombstoned"
    assert told(memory, "accept", record) == (Deed.REJECTED, "unknown")
    assert told(memory, "reject", record) == (Deed.NOOP, "forgotten")


def test_only_its_owner_decides_and_only_of_a_candidate(memory: Memory) -> None:
    record = proposed(memory).record
    for what in ("accept", "reject"):
        assert told(memory, what, record, principal=BOB) == (Deed.REJECTED, "unknown")
        assert told(memory, what, "rec-nowhere") == (Deed.REJECTED, "unknown")
    kept = memory.kept("the pump is loud")
    assert told(memory, "reject", kept) == (Deed.REJECTED, "unknown")
    assert memory.get(record).status is Status.CANDIDATE


def test_one_whose_text_was_said_or_forgotten_meanwhile_is_no_second_record(memory: Memory) -> None:
    record = proposed(memory).record
    said = memory.kept(SAID)
    assert told(memory, "accept", record) == (Deed.NOOP, "known")
    assert memory.found("sister") == [SAID]
    other = proposed(memory, "My car is red today.").record
    memory.forget(memory.kept("my car is red today"))
    assert told(memory, "accept", other) == (Deed.REJECTED, "tombstoned")
    assert memory.get(said).status is Status.ACTIVE


def test_what_was_corrected_does_not_come_back_by_a_file(memory: Memory) -> None:
    record = memory.kept("the pump is loud")
    memory.correct(record, "the pump is silent")
    taken = TakenIn()
    foreseen = records.foreseen(memory.db, memory.scope(), NewRecord("The pump is loud"), taken, memory.house.now)
    assert (foreseen.outcome, foreseen.reason, foreseen.record) == (Deed.NOOP, "known", record)
