"""An export is the person's own memory; an import brings nothing back that was forgotten, here or there."""

import json
from contextlib import closing

import pytest

from kai.model.errors import BadInputError
from kai.model.memory import Deed
from kai.store import archive
from tests.store.house import BOB, House, empty_database, furnish
from tests.store.remembered import Memory


@pytest.fixture
def memory(house: House) -> Memory:
    return Memory(house)


def taken(memory: Memory, document: object, op: str = "i") -> list[tuple[Deed, str]]:
    document = json.loads(json.dumps(document))
    made = archive.read_back(memory.db, memory.scope(), document, op, memory.house.now)  # type: ignore[arg-type]
    return [(one.outcome, one.reason) for one in made]


def test_a_memory_moves_to_another_house_as_it_was(memory: Memory) -> None:
    memory.kept("the pump is loud", ttl_s=1e6)
    memory.kept("short answers", kind="preference")
    memory.kept("Bob's own", memory.scope(BOB))
    document = archive.written(memory.db, memory.scope(), memory.house.now)
    assert "Bob" not in json.dumps(document)
    with closing(empty_database()) as db:
        db.execute("BEGIN")
        there = Memory(furnish(db))
        assert taken(there, document) == [(Deed.COMMITTED, "")] * 2
        assert there.found("pump") == ["the pump is loud"]
        again = archive.written(db, there.scope(), there.house.now)
        texts = [[(one["text"], one["kind"], one["pinned"]) for one in each["records"]] for each in (document, again)]
        assert sorted(texts[0]) == sorted(texts[1])
        assert {one["origin"] for one in db.execute("SELECT origin FROM mem_revision")} == {"import"}


def test_an_older_export_brings_nothing_back_that_was_forgotten_since(memory: Memory) -> None:
    record = memory.kept("the pump is loud")
    document = archive.written(memory.db, memory.scope(), memory.house.now)
    memory.forget(record)
    assert taken(memory, document) == [(Deed.REJECTED, "tombstoned")]
    document["records"][0]["record"] = "rec-another"
    assert taken(memory, document, "j") == [(Deed.REJECTED, "tombstoned")]
    assert memory.found("pump") == []


def test_what_was_forgotten_there_stays_forgotten_here(memory: Memory) -> None:
    memory.forget(memory.kept("the pump is loud"))
    document = archive.written(memory.db, memory.scope(), memory.house.now)
    assert "loud" not in json.dumps(document)
    with closing(empty_database()) as db:
        db.execute("BEGIN")
        there = Memory(furnish(db))
        record = {"record": "rec-1", "namespace": "person/self/memory", "kind": "fact", "text": "The pump is LOUD",
                  "said_at": "2026-01-01T00:00:00+00:00"}  # fmt: skip
        assert taken(there, {**document, "records": [record]}) == [(Deed.REJECTED, "tombstoned")]


def test_an_export_written_after_a_forget_is_heard_in_an_older_copy_of_the_database(memory: Memory) -> None:
    record = memory.kept("the pump is loud")
    memory.db.execute("SAVEPOINT backup")
    memory.forget(record)
    document = archive.written(memory.db, memory.scope(), memory.house.now)
    memory.db.execute("ROLLBACK TO backup")
    assert memory.found("pump")
    taken(memory, document)
    assert memory.found("pump") == []


@pytest.mark.parametrize(
    "document",
    [
        {},
        {"kai_memory": 2},
        {"kai_memory": 1},
        {"kai_memory": 1, "records": [{}]},
        {"kai_memory": 1, "records": 5},
        {"kai_memory": 1, "records": [], "forgotten": [{"secret": "x"}]},
    ],
)
def test_what_is_no_export_is_refused(memory: Memory, document: dict[str, object]) -> None:
    with pytest.raises(BadInputError):
        archive.read_back(memory.db, memory.scope(), document, "i", memory.house.now)


def test_an_import_is_done_once(memory: Memory) -> None:
    document = archive.written(memory.db, memory.scope(), memory.house.now)
    document["records"] = [{"record": "rec-1", "namespace": "person/p-bob/memory", "kind": "fact", "text": "x",
                            "said_at": "2026-01-01T00:00:00+00:00"}]  # fmt: skip
    assert taken(memory, document) == [(Deed.REJECTED, "not_granted")]
    document["records"][0]["namespace"] = "person/self/memory"
    assert taken(memory, document) == [(Deed.REJECTED, "op_id_reuse")]
    assert taken(memory, document, "k") == taken(memory, document, "k") == [(Deed.COMMITTED, "")]
