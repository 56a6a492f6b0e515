"""One look at each start tells whether the indexes of words are still those of this kai."""

from kai.store import indexes
from tests.store.house import House


def words(house: House) -> list[str]:
    return [row[0] for row in house.db.execute("SELECT value FROM fact WHERE name = 'words'")]


def refreshed(house: House) -> list[str]:
    """What the database was asked; every statement of it, by its first word."""
    asked: list[str] = []
    house.db.execute("COMMIT")
    house.db.set_trace_callback(lambda sql: asked.append(sql.split()[0]))
    indexes.refresh(house.db)
    house.db.set_trace_callback(None)
    house.db.execute("BEGIN")
    return asked


def test_a_new_database_is_marked_without_a_look_at_its_messages(house: House) -> None:
    house.db.execute("DELETE FROM fact WHERE name = 'words'")
    assert refreshed(house)[1:] == ["INSERT"]
    assert words(house) == [indexes.WORDS]


def test_a_start_that_finds_all_as_it_was_left_asks_once_and_writes_nothing(house: House) -> None:
    house.accept("the pump", "1")
    refreshed(house)
    assert refreshed(house) == ["SELECT"]


def test_messages_that_other_tokens_indexed_are_indexed_anew(house: House) -> None:
    house.accept("the pump", "1")
    house.db.execute("INSERT OR REPLACE INTO fact VALUES ('words', 'old')")
    assert "INSERT" in refreshed(house)
    assert words(house) == [indexes.WORDS]


def test_changes_that_no_index_in_memory_waits_for_are_forgotten(house: House) -> None:
    refreshed(house)
    house.db.execute("INSERT INTO mem_moved (shelf, seq) VALUES (1, 7)")
    assert refreshed(house) == ["SELECT", "DELETE"]
