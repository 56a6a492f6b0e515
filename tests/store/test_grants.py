"""Grants: explicit, by the owner, from private, revocable; and felt at once."""

import pytest

from kai.model.memory import Deed
from kai.store import grants
from tests.store.house import ANN, BOB, House
from tests.store.remembered import Memory


@pytest.fixture
def memory(house: House) -> Memory:
    return Memory(house)


def test_a_record_is_opened_to_a_channel_and_closed_again(memory: Memory) -> None:
    record, room = memory.kept("the door code is under the mat"), memory.room()
    there = memory.scope(BOB, room)
    assert memory.found("mat", there) == []
    made = grants.grant(memory.db, memory.scope(), record, room, None, memory.op, memory.house.now)
    assert memory.found("mat", there) == ["the door code is under the mat"]
    assert memory.found("mat", memory.scope(BOB)) == []  # to that channel and nowhere else
    (row,) = grants.of(memory.db, memory.scope())
    assert row["grant_id"] == made.reason
    assert grants.revoke(memory.db, memory.scope(), made.reason, memory.op, memory.house.now).is_done
    assert memory.found("mat", there) == []
    assert memory.found("mat") == ["the door code is under the mat"]


def test_only_the_owner_grants_and_only_from_private(memory: Memory) -> None:
    record, room = memory.kept("Ann's"), memory.room()
    for scope, reason in ((memory.scope(BOB), "unknown"), (memory.scope(channel=room), "not_in_private")):
        receipt = grants.grant(memory.db, scope, record, room, None, memory.op, memory.house.now)
        assert (receipt.outcome, receipt.reason) == (Deed.REJECTED, reason)
    made = grants.grant(memory.db, memory.scope(), record, room, None, memory.op, memory.house.now)
    assert grants.revoke(memory.db, memory.scope(BOB), made.reason, memory.op, memory.house.now).reason == "unknown"
    assert memory.found("Ann", memory.scope(BOB, room))


@pytest.mark.parametrize("what", ["person/p-bob/memory", "person/*/memory", "global/x", "channel/c/x", "rec-none"])
def test_nothing_that_is_not_the_persons_own_is_opened(memory: Memory, what: str) -> None:
    receipt = grants.grant(memory.db, memory.scope(), what, memory.room(), None, memory.op, memory.house.now)
    assert receipt.reason == "unknown"


def test_a_namespace_is_opened_with_what_comes_into_it_later(memory: Memory) -> None:
    memory.kept("how to bleed the pump", kind="howto")
    room = memory.room()
    grants.grant(memory.db, memory.scope(), "person/p-ann/howto", room, None, memory.op, memory.house.now)
    memory.kept("how to oil the pump", kind="howto")
    memory.kept("the pump is private")
    there = memory.scope(BOB, room)
    assert sorted(memory.found("pump", there)) == ["how to bleed the pump", "how to oil the pump"]


def test_a_person_may_be_meant_by_name_and_a_strange_channel_may_not(memory: Memory) -> None:
    record = memory.kept("the spare key is at Ann's")
    assert grants.grant(memory.db, memory.scope(), record, "Bob", None, memory.op, memory.house.now).is_done
    assert memory.found("key", memory.scope(BOB)) == ["the spare key is at Ann's"]
    strange = memory.room(BOB)
    for to in (strange, "nobody"):
        receipt = grants.grant(memory.db, memory.scope(), record, to, None, memory.op, memory.house.now)
        assert receipt.reason == "unknown_grantee"
    assert ANN != BOB
