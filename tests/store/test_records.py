"""Operations on records: one transaction, one receipt, nothing half done, nothing by the wrong way."""

import re
from datetime import timedelta

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from kai.model.errors import DeniedError, UnknownThingError
from kai.model.ids import ChannelId, MessageId, PrincipalId
from kai.model.memory import Deed, Kind, NewRecord, Scope, Status, Way
from kai.store import ledger, records, shelves
from tests.store.house import ANN, BOB, House
from tests.store.remembered import Memory, everything

SECRETS = {
    "private_key": "-----BEGIN OPENSSH PRIVATE KEY-----\nabc",
    "token": "use ghp_0123456789abcdefghijABCDEFGHIJ0123",
    "password": "the wifi password is Tr0ub4dor&3",
    "card": "my card is 4111-1111-1111-1111",
    "pin": "the PIN of the door is 4711",
}


@pytest.fixture
def memory(house: House) -> Memory:
    return Memory(house)


def test_a_scope_without_a_person_or_a_place_cannot_be_made() -> None:
    for principal, channel in (("", "c-1"), ("p-ann", "")):
        with pytest.raises(DeniedError, match="no_identity"):
            Scope(PrincipalId(principal), ChannelId(channel))


def test_a_record_is_kept_with_where_it_came_from(memory: Memory) -> None:
    said = memory.house.accept("I am allergic to nuts").message
    assert said is not None
    record = memory.get(memory.kept("Ann is allergic to nuts", memory.scope(message=said)))
    assert (record.status, record.revision, record.origin, record.said_by) == (Status.ACTIVE, 1, "explicit_user", "Ann")
    assert record.audience == '["p-ann"]'
    assert record.namespace == "person/p-ann/memory"
    (revision,) = records.revisions(memory.db, memory.scope(), record.record)
    assert revision["message"] == said


@pytest.mark.parametrize("kind", SECRETS)
def test_a_secret_is_refused_on_every_way_and_is_in_no_table(memory: Memory, kind: str) -> None:
    record = memory.kept("something harmless")
    for way in Way:
        receipt = memory.save(SECRETS[kind], memory.scope(way=way))
        assert (receipt.outcome, receipt.reason) == (Deed.REJECTED, f"secret:{kind}")
    assert memory.correct(record, SECRETS[kind]).reason == f"secret:{kind}"
    new, taken = NewRecord(SECRETS[kind]), records.TakenIn("rec-imported", memory.house.now)
    imported = records.take_in(memory.db, memory.scope(), new, taken, memory.op, memory.house.now)
    assert imported.reason == f"secret:{kind}"
    needle = SECRETS[kind].split()[-1]
    assert needle not in everything(memory.db)


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("", "empty"),
        (" \n\t", "empty"),
        ("\0\x1b[31m\u202e\ufeff", "empty"),
        ("x" * 1_000_000, "too_long"),
        ("é" * 9_000, "too_long"),
    ],
)
def test_what_is_nothing_or_far_too_much_is_refused(memory: Memory, text: str, reason: str) -> None:
    assert memory.save(text).reason == reason
    assert records.listing(memory.db, memory.scope(), status=None) == ()


def test_signs_that_nobody_sees_are_not_kept(memory: Memory) -> None:
    record = memory.kept("the\0 pump\u202e is\u200b in\x07 the\r\ncellar\ud800")
    assert memory.get(record).text == "the pump is in the\ncellar\ufffd"


@pytest.mark.parametrize(
    "namespace",
    ["person/p-bob/memory", "person/*/memory", "person/self/memory", "person/p-ann/*", "person/p-ann/other", "global/x",
     "channel/c-other/memory", "global/*", "../x", "", "person/p-ann/memory/deeper", "nowhere/x"],
)  # fmt: skip
def test_nothing_is_kept_where_the_person_has_no_place(memory: Memory, namespace: str) -> None:
    receipt = memory.save("x y", namespace=namespace)
    assert receipt.is_done is (namespace == "")
    assert receipt.reason in ("", "not_granted", "unknown_namespace")


def test_from_a_shared_channel_nothing_goes_into_a_persons_own(memory: Memory) -> None:
    there = memory.scope(channel=memory.room())
    assert memory.save("x", there, namespace="person/p-ann/memory").reason == "not_granted"
    record = memory.get(memory.kept("the bins go out on Monday", there), there)
    assert record.namespace == f"channel/{there.channel}/memory"
    assert record.audience == '["p-ann", "p-bob"]'


def test_a_correction_has_a_new_revision_and_a_stale_one_is_a_conflict(memory: Memory) -> None:
    record = memory.kept("short answers")
    assert memory.correct(record, "explain evidence", base=1).revision == 2
    stale = memory.correct(record, "nothing at all", base=1)
    assert (stale.outcome, stale.revision) == (Deed.CONFLICT, 2)
    assert memory.forget(record, base=1).outcome is Deed.CONFLICT
    assert memory.get(record).text == "explain evidence"
    assert memory.found("short answers") == []
    assert memory.correct(record, "explain evidence").outcome is Deed.NOOP


def test_an_operation_is_done_once_and_its_id_means_one_thing(memory: Memory) -> None:
    new, now = NewRecord("once"), memory.house.now
    first = records.save(memory.db, memory.scope(), new, "same", now)
    assert records.save(memory.db, memory.scope(), new, "same", memory.house.now) == first
    other = records.save(memory.db, memory.scope(), NewRecord("twice"), "same", now)
    assert (other.outcome, other.reason) == (Deed.REJECTED, "op_id_reuse")
    assert records.forget(memory.db, memory.scope(), first.record, None, "same", now).reason == "op_id_reuse"
    assert len(records.listing(memory.db, memory.scope())) == 1
    theirs = records.save(memory.db, memory.scope(BOB), NewRecord("bob's"), "same", now)
    assert theirs.outcome is Deed.COMMITTED  # ids of operations are each person's own


def test_what_is_forgotten_is_found_no_more_and_comes_back_only_by_the_person(memory: Memory) -> None:
    record = memory.kept("Ann's birthday is in May")
    assert memory.forget(record).outcome is Deed.COMMITTED
    assert memory.forget(record).outcome is Deed.NOOP
    assert memory.found("Ann's birthday is in May") == []
    for way in (Way.JOB, Way.AUTO, Way.TOOL, Way.ADMIN):
        assert memory.save("ANN'S  birthday is in May.", memory.scope(way=way)).reason == "tombstoned"
    again = memory.kept("Ann's birthday is in May")
    assert again != record
    assert memory.get(record).status is Status.FORGOTTEN
    assert memory.get(again).revision == 1


def test_every_version_of_what_is_forgotten_stays_forgotten(memory: Memory) -> None:
    record = memory.kept("the first wording")
    memory.correct(record, "the second wording")
    memory.forget(record)
    for text in ("the first wording", "the second wording"):
        assert memory.save(text, memory.scope(way=Way.JOB)).reason == "tombstoned"


def test_a_restored_record_is_as_it_was(memory: Memory) -> None:
    record = memory.kept("the pump is in the cellar")
    memory.forget(record)
    assert records.restore(memory.db, memory.scope(), record, memory.op, memory.house.now).outcome is Deed.COMMITTED
    assert memory.found("pump") == ["the pump is in the cellar"]
    assert records.restore(memory.db, memory.scope(), "rec-x", memory.op, memory.house.now).reason == "unknown"


def test_nobody_touches_what_is_somebody_elses(memory: Memory) -> None:
    record, bob = memory.kept("Ann's own"), memory.scope(BOB)
    assert memory.correct(record, "Bob's now", scope=bob).reason == "unknown"
    assert memory.forget(record, scope=bob).reason == "unknown"
    assert records.restore(memory.db, bob, record, memory.op, memory.house.now).reason == "unknown"
    with pytest.raises(UnknownThingError):
        memory.get(record, bob)
    assert memory.get(record).text == "Ann's own"
    room = memory.scope(channel=memory.room())
    assert memory.forget(record, scope=room).reason == "unknown"  # nor is it touched from where others read along


def test_the_same_twice_is_kept_once(memory: Memory) -> None:
    first = memory.save("the pump is in the cellar")
    again = memory.save("The pump is in the CELLAR.")
    assert (again.outcome, again.record) == (Deed.NOOP, first.record)


def test_a_family_has_one_current_record(memory: Memory) -> None:
    old = memory.kept("the car is blue", family="car")
    new = memory.kept("the car is red", family="car")
    assert memory.get(old).status is Status.SUPERSEDED
    assert memory.found("car") == ["the car is red"]
    records.restore(memory.db, memory.scope(), old, memory.op, memory.house.now)
    assert memory.get(new).status is Status.SUPERSEDED


def test_what_holds_for_a_time_is_over_after_it_and_leaves_the_index(memory: Memory) -> None:
    record = memory.kept("the plumber comes today", ttl_s=3600.0)
    assert memory.found("plumber")
    later = memory.house.now + timedelta(hours=2)
    memory.house.minutes += 180
    assert memory.found("plumber") == []
    assert records.expire(memory.db, later, 30) == (1, 0)
    assert memory.get(record).status is Status.EXPIRED
    assert shelves.astray(memory.db) == 0


def test_the_text_of_what_was_forgotten_is_erased_after_its_days(memory: Memory) -> None:
    record = memory.kept("a thing of the past")
    memory.forget(record)
    assert records.expire(memory.db, memory.house.now + timedelta(days=29), 30) == (0, 0)
    assert records.expire(memory.db, memory.house.now + timedelta(days=31), 30) == (0, 1)
    assert "thing of the past" not in everything(memory.db)
    assert records.restore(memory.db, memory.scope(), record, memory.op, memory.house.now).reason == "unknown"


def test_an_agent_saves_for_the_person_only_with_their_message_behind_it(memory: Memory) -> None:
    said = memory.house.accept("remember the pump").message
    alone = memory.save("the pump is loud", memory.scope(way=Way.TOOL))
    assert (alone.outcome, alone.reason) == (Deed.COMMITTED, "candidate")
    assert memory.found("pump") == []
    assert memory.save("the pump is old", memory.scope(way=Way.TOOL, message=MessageId(said or ""))).reason == ""
    assert memory.found("pump") == ["the pump is old"]


def test_what_is_made_from_others_is_for_whom_all_of_them_are_and_only_while_they_stand(memory: Memory) -> None:
    room = memory.room()
    there = memory.scope(channel=room)
    for_both = memory.kept("the bins go out on Monday", there)
    alone = memory.kept("Ann likes quiet")
    digest = memory.kept("bins on Monday, quietly", sources=((for_both, 1), (alone, 1)))
    assert memory.get(digest).audience == '["p-ann"]'
    assert memory.found("quietly") == ["bins on Monday, quietly"]
    memory.correct(alone, "Ann likes music")
    assert memory.found("quietly") == []
    memory.db.execute("UPDATE mem_record SET audience = NULL WHERE record = ?", (for_both,))
    untagged = memory.kept("another digest", sources=((for_both, 1),))
    assert memory.get(untagged).audience is None
    assert memory.found("another digest") == []


def test_every_operation_is_audited_with_nothing_of_its_text(memory: Memory) -> None:
    memory.forget(memory.kept("the pump is in the cellar"))
    rows = ledger.audit(memory.db, memory.scope(), 10)
    assert [(row["action"], row["status"]) for row in rows] == [("forget", "committed"), ("save", "committed")]
    assert "cellar" not in str(rows) + str(ledger.receipts(memory.db, memory.scope(), 10))


def test_no_text_breaks_an_operation_and_nothing_of_it_stays_in_an_index(memory: Memory) -> None:
    db = memory.db
    shelves._made(db, "person/p-ann")  # what a savepoint made and undid would spoil the transaction

    @settings(max_examples=100, deadline=None)
    @given(st.text(max_size=200))
    def holds(text: str) -> None:
        db.execute("SAVEPOINT example")
        receipt = memory.save(text)
        if receipt.is_done:
            kept = memory.get(receipt.record).text
            assert not re.search("[\0\u202e\x1b]", kept)
            memory.correct(receipt.record, text + " corrected")
            memory.forget(receipt.record)
        assert shelves.astray(db) == 0
        assert records.listing(db, memory.scope()) == ()
        for (number,) in db.execute("SELECT seq FROM mem_shelf").fetchall():
            assert db.execute(f"SELECT count(*) FROM mem_index_{number}").fetchone()[0] == 0
        db.execute("ROLLBACK TO example")

    holds()


def test_kinds_have_places_of_their_own(memory: Memory) -> None:
    places = {kind: memory.get(memory.kept(f"about {kind}", kind=kind)).namespace for kind in Kind}
    assert places[Kind.PREFERENCE] == "person/p-ann/preferences"
    assert places[Kind.HOWTO] == "person/p-ann/howto"
    assert places[Kind.FACT] == "person/p-ann/memory"
    assert memory.get(memory.kept("pin me", pinned=True)).pinned
    assert ANN != BOB
