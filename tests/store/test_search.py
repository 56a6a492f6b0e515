"""Messages are found by their words, in their own channel only, and no query raises."""

import random

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from kai.model.ids import ChannelId
from kai.model.people import ChannelKind
from kai.model.states import TurnState
from kai.model.turns import Outcome
from kai.store import channels, indexes, search, words
from kai.store.binding import Connection
from tests.store.house import ANN, BOB, House, empty_database, furnish


def found(house: House, text: str, limit: int = 9) -> list[str]:
    return [message.text for message in search.search(house.db, house.main.channel, text, limit)]


def test_messages_and_answers_are_found_by_other_forms_of_their_words(house: House) -> None:
    turn = house.queued("Does the pump schedule survive a power cut?")
    house.finish(turn, house.sent(turn), Outcome(TurnState.DONE, "Yes: schedules are stored in flash."))
    house.queued("Something else entirely")
    assert found(house, "pumps") == ["Does the pump schedule survive a power cut?"]
    assert set(found(house, "scheduling")) == {
        "Does the pump schedule survive a power cut?",
        "Yes: schedules are stored in flash.",
    }
    assert found(house, "the and of") == []
    assert found(house, "") == []
    assert found(house, "greenhouse") == []


def test_more_and_rarer_words_rank_higher(house: House) -> None:
    for text in ("water", "water meter", "water meter 4711", "water water water"):
        house.accept(text)
    assert found(house, "what is my water meter number 4711", limit=2)[0] == "water meter 4711"


def test_languages_without_spaces_are_found(house: House) -> None:
    house.accept("明日の天気は晴れです")
    house.accept("黒猫が好き")
    house.accept("今天天气很好")
    assert found(house, "天気") == ["明日の天気は晴れです"]
    assert found(house, "天气") == ["今天天气很好"]
    assert found(house, "猫") == ["黒猫が好き"]
    assert found(house, "き") == ["黒猫が好き"]


def test_a_search_never_leaves_its_channel(house: House) -> None:
    house.accept("the secret of Ann")
    room = channels.create(house.db, ChannelKind.SHARED, "Kitchen", None, (ANN, BOB), house.now)
    assert search.search(house.db, room.channel, "secret", 9) == ()
    assert search.search(house.db, ChannelId("c-none"), "secret", 9) == ()
    mark = house.db.execute("SELECT seq FROM channel WHERE channel = ?", (house.main.channel,)).fetchone()[0]
    assert search.search(house.db, room.channel, f"{words.mark(mark)}secret", 9) == ()


def test_an_edited_message_is_found_by_what_it_says_now(house: House) -> None:
    house.accept("the pmup", "1")
    house.accept("the pump", "2", edit_of="1")
    assert found(house, "pump") == ["the pump"]
    assert found(house, "pmup") == []
    house.accept("the tap", "3", edit_of="1")
    assert found(house, "pump") == []
    assert found(house, "tap") == ["the tap"]


def test_a_deleted_message_is_not_found_and_its_words_are_gone(house: House) -> None:
    house.accept("the password is swordfish", "1")
    house.accept("", "2", edit_of="1", deleted=True)
    assert found(house, "swordfish") == []
    house.db.execute("INSERT INTO message_index (message_index) VALUES ('integrity-check')")


def test_the_bound_takes_the_rarest_words_and_else_the_newest_messages(
    house: House, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(search, "_POSTINGS", 5)
    for at in range(20):
        house.accept(f"common {at}")
    house.accept("common rare")
    assert found(house, "common rare") == ["common rare"]
    assert set(found(house, "common")) == {"common rare", *(f"common {at}" for at in range(16, 20))}


def test_an_index_of_another_version_is_made_anew(house: House) -> None:
    house.accept("the pump", "1")
    house.accept("the tap", "2")
    house.accept("the drain", "3", edit_of="1")
    house.accept("", "4", edit_of="2", deleted=True)
    house.db.execute("INSERT INTO message_index (message_index) VALUES ('delete-all')")
    assert found(house, "drain") == []
    house.db.execute("COMMIT")
    indexes.refresh(house.db)
    assert found(house, "drain") == ["the drain"]
    assert found(house, "pump tap") == []
    house.db.execute("INSERT INTO message_index (message_index) VALUES ('delete-all')")
    indexes.refresh(house.db)  # it is of this version: left alone
    assert found(house, "drain") == []
    house.db.execute("BEGIN")


@pytest.fixture(scope="module")
def talk() -> Connection:
    db = empty_database()
    db.execute("BEGIN")
    house = furnish(db)
    house.accept("Does the pump survive a power cut? 4711 C++ 天気")
    db.execute("COMMIT")
    return db


ODD = [
    "\"'()",
    "C++ AND",
    "a:b",
    "(",
    "-a",
    "\0",
    "\ud800",
    "NEAR(a b)",
    "^x",
    "a*",
    "{a b}: c",
    "OR",
    "NOT",
    '""',
    "1_x",
]


def test_random_strings_raise_nothing(talk: Connection) -> None:
    channel = ChannelId(talk.execute("SELECT channel FROM channel").fetchone()[0])
    dice = random.Random(4_000)
    for _ in range(4_000):
        signs = [chr(dice.randrange(dice.choice((0x80, 0x3100, 0x11_0000)))) for _ in range(dice.randrange(12))]
        text = "".join(signs) + dice.choice(ODD) + dice.choice(ODD)
        assert len(search.search(talk, channel, text, 5)) <= 1


@settings(deadline=None)
@given(st.text(st.characters(codec=None), max_size=60) | st.lists(st.sampled_from(ODD)).map(" ".join))
@example("\ud800 \0")
@example(" ".join(f"w{at}" for at in range(20_000)))
def test_no_string_makes_a_search_raise(talk: Connection, text: str) -> None:
    channel = ChannelId(talk.execute("SELECT channel FROM channel").fetchone()[0])
    assert len(search.search(talk, channel, text, 5)) <= 1
