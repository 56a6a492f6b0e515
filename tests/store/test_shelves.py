"""The words of records: found in every form and script, one shelf at a time, by any string without an error."""

import random
import string

import pytest

from kai.store import grants, indexes, shelves
from tests.store.house import BOB, House
from tests.store.remembered import Memory, everything, matches


@pytest.fixture
def memory(house: House) -> Memory:
    return Memory(house)


def test_other_forms_and_scripts_are_found(memory: Memory) -> None:
    texts = ("The pumps were scheduled", "明日の天気は晴れです", "今天天气很好", "Der Schlüssel hängt im Flur")
    for text in texts:
        memory.kept(text)
    for query, text in zip(("scheduling a pump", "天気", "天气", "SCHLÜSSEL"), texts, strict=True):
        assert memory.found(query)[0] == text
    assert memory.found("the and of") == []


def test_more_and_rarer_words_rank_higher(memory: Memory) -> None:
    for text in ("water", "a water tap", "the water meter", "water meter 4711", "about tea"):
        memory.kept(text)
    assert memory.found("which number has my water meter 4711")[0] == "water meter 4711"


def test_thirty_thousand_strings_raise_nothing(memory: Memory) -> None:
    """Operators, quotes, NUL, lone surrogates, brackets, wildcards; seeded, so that a failure comes again."""
    memory.kept("the pump AND the cellar OR nothing NEAR it")
    signs = string.printable + "\0\ud800\udc00\u202eäß漢字かな한글\U0001f600*\"'()^:-+{}"
    draw = random.Random(20261130)
    parts = ("AND", "OR", "NOT", "NEAR(", '"', "*", "pump", "col:", "--", "/*", ")")
    for number in range(30_000):
        if number % 3:
            text = "".join(draw.choices(signs, k=draw.randrange(12)))
        else:
            text = " ".join(draw.choices(parts, k=draw.randrange(6)))
        matches(memory.db, ("person/p-ann",), text, 5)


def test_a_query_of_a_million_words_is_answered(memory: Memory) -> None:
    memory.kept("the pump is in the cellar")
    assert matches(memory.db, ("person/p-ann",), "pump " + "word " * 1_000_000, 5)


def test_a_shelf_holds_nobody_elses_words(memory: Memory) -> None:
    memory.kept("the secret of Bob", memory.scope(BOB))
    memory.kept("own")
    assert matches(memory.db, ("person/p-ann",), "secret Bob", 9) == {}
    assert matches(memory.db, ("person/nobody",), "secret", 9) == {}
    assert matches(memory.db, (), "secret", 9) == {}


def test_forgotten_words_leave_the_index(memory: Memory) -> None:
    record = memory.kept("zanzibar")
    memory.kept("another thing")
    assert "zanzibar" in everything(memory.db)
    memory.forget(record)
    memory.db.execute("UPDATE mem_revision SET content = ''")
    assert "zanzibar" not in everything(memory.db)


def test_a_rebuild_from_scratch_brings_nothing_back_and_loses_nothing(memory: Memory) -> None:
    kept, gone, room = memory.kept("the pump is loud"), memory.kept("the pump is old"), memory.room()
    memory.forget(gone)
    grants.grant(memory.db, memory.scope(), kept, room, None, memory.op, memory.house.now)
    memory.db.execute("UPDATE mem_record SET changed_at = 0")
    assert shelves.rebuild(memory.db) == 1
    assert memory.found("pump") == ["the pump is loud"]
    assert memory.found("pump", memory.scope(BOB, room)) == ["the pump is loud"]
    assert shelves.astray(memory.db) == 0


def test_an_index_of_other_tokens_is_made_anew_at_the_next_start(house: House) -> None:
    memory = Memory(house)
    memory.kept("the pump is loud")
    house.db.execute("UPDATE mem_shelf SET words = 'old'")
    house.db.execute("COMMIT")
    indexes.refresh(house.db)
    assert house.db.execute("SELECT words FROM mem_shelf").fetchone()[0] == indexes.WORDS
    assert memory.found("pumps") == ["the pump is loud"]
    house.db.execute("BEGIN")


def test_of_a_very_common_word_no_more_than_the_bound_is_scored(
    memory: Memory, monkeypatch: pytest.MonkeyPatch
) -> None:
    for number in range(30):
        memory.kept(f"water {number}")
    memory.kept("water meter")
    monkeypatch.setattr(shelves, "POSTINGS", 10)
    found = matches(memory.db, ("person/p-ann",), "water meter", 99)
    assert len(found) == 1  # the rare word decides; the common one is beyond the bound
    assert len(matches(memory.db, ("person/p-ann",), "water", 99)) == 10
