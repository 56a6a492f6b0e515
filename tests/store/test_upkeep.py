"""What is over leaves by itself, and what disagrees is told with its mend."""

from datetime import timedelta

import pytest

from kai.store import shelves, upkeep
from tests.store.house import House
from tests.store.remembered import Memory


@pytest.fixture
def memory(house: House) -> Memory:
    return Memory(house)


def test_a_collection_takes_what_is_over_and_old_and_nothing_else(memory: Memory) -> None:
    memory.kept("for an hour", ttl_s=3600.0)
    memory.forget(memory.kept("forgotten"))
    memory.kept("for good")
    assert upkeep.collect(memory.db, memory.house.now, 30, 365) == upkeep.Collected(0, 0, 0)
    later = memory.house.now + timedelta(days=400)
    found = upkeep.collect(memory.db, later, 30, 365)
    assert (found.expired, found.erased) == (1, 1)
    assert found.audit > 0
    assert memory.found("good") == ["for good"]


def test_a_sound_memory_has_no_findings_and_each_fault_has_one(memory: Memory) -> None:
    record = memory.kept("the pump is loud")
    assert upkeep.findings(memory.db) == []
    memory.db.execute("UPDATE mem_record SET status = 'expired' WHERE record = ?", (record,))
    assert [one["name"] for one in upkeep.findings(memory.db)] == ["memory-index"]
    memory.db.execute("UPDATE mem_record SET status = 'active', audience = NULL WHERE record = ?", (record,))
    assert [one["name"] for one in upkeep.findings(memory.db)] == ["memory-untagged"]
    memory.forget(record)
    memory.db.execute("UPDATE mem_record SET status = 'active', audience = '[]' WHERE record = ?", (record,))
    shelves.rebuild(memory.db)
    assert [one["name"] for one in upkeep.findings(memory.db)] == ["memory-risen"]
