"""What is said is kept once, in order, and as it was said."""

from dataclasses import replace
from datetime import timedelta

import pytest

from kai.model.errors import QueueFullError, UnknownThingError
from kai.model.ids import ChannelId, MessageId, TurnId
from kai.model.messages import Author
from kai.model.people import ChannelKind
from kai.model.states import TurnState
from kai.model.turns import Outcome
from kai.store import channels, messages, search, turns
from kai.store.binding import Error
from tests.store.house import ANN, BOB, START, House

ODD = "NUL \0, line separators \u2028\u2029\x85, right to left \u202e, the marker [User's current message], 🧑‍🔧"


def texts(house: House, before: int = 1000, limit: int = 50, **more: bool) -> list[str]:
    return [message.text for message in messages.recent(house.db, house.main.channel, before, limit, **more)]


def test_an_accepted_message_is_kept_with_its_turn(house: House) -> None:
    accepted = house.accept(ODD, sent_at=START)
    assert accepted.message
    assert accepted.turn
    message = messages.get(house.db, accepted.message)
    assert (message.text, message.number, message.author, message.name) == (ODD, 1, Author.PERSON, "Ann")
    assert (message.turn, message.external_id) == (accepted.turn, "e1")
    turn = turns.get(house.db, accepted.turn)
    assert (turn.state, turn.message, turn.principal) == (TurnState.QUEUED, message.message, ANN)
    assert turn.address == house.door.address


def test_a_repeat_of_an_external_id_gives_the_same_ids_and_keeps_nothing(house: House) -> None:
    first = house.accept("hello", "7")
    again = house.accept("hello, but not the same", "7")
    assert (again.message, again.turn, again.channel) == (first.message, first.turn, first.channel)
    assert (first.duplicate, again.duplicate) == (False, True)
    assert texts(house) == ["hello"]
    assert turns.queued_count(house.db, house.main.channel) == 1


def test_a_repeat_is_known_even_when_the_lane_is_full(house: House) -> None:
    house.accept("hello", "7")
    inbound = house.inbound("hello", "7")
    assert messages.accept(house.db, inbound, house.door, ANN, "Ann", house.now, queue_bound=1).duplicate


def test_the_same_id_in_another_chat_or_on_another_bridge_is_another_message(house: House) -> None:
    house.accept("one", "7")
    house.accept("two", "7", chat="chat-2")
    house.accept("three", "7", bridge="matrix")
    assert texts(house) == ["one", "two", "three"]


def test_messages_without_an_external_id_are_never_repeats(house: House) -> None:
    for _ in range(2):
        inbound = house.inbound("hi")
        object.__setattr__(inbound, "external_id", "")
        messages.accept(house.db, inbound, house.door, ANN, "Ann", house.now, queue_bound=9)
    assert texts(house) == ["hi", "hi"]


def test_what_is_taken_is_given_as_it_stands_in_the_store(house: House) -> None:
    house.accept("first", "e-first")
    inbound = house.inbound("so?", reply_to="e-first", sent_at=house.now)
    accepted, taken = messages.take(house.db, inbound, house.door, ANN, "Ann", house.now, queue_bound=9)
    assert taken is not None
    turn, message = taken
    assert message == messages.get(house.db, message.message)
    assert turn == turns.get(house.db, turn.turn)
    assert (accepted.turn, accepted.message, accepted.queued_before) == (turn.turn, message.message, 1)
    again = messages.take(house.db, inbound, house.door, ANN, "Ann", house.now, queue_bound=9)
    assert again == (replace(accepted, duplicate=True, queued_before=0), None)


def test_a_full_lane_refuses_and_keeps_nothing(house: House) -> None:
    for _ in range(3):
        house.accept()
    with pytest.raises(QueueFullError) as refused:
        messages.accept(house.db, house.inbound("too much"), house.door, ANN, "Ann", house.now, queue_bound=3)
    assert refused.value.bound == 3
    assert "too much" not in texts(house)


def test_an_accepted_message_knows_how_many_turns_come_first(house: House) -> None:
    assert house.accept().queued_before == 0
    first = turns.next_queued(house.db, house.main.channel)
    assert first
    house.begin(first.turn)
    assert house.accept().queued_before == 1
    assert house.accept().queued_before == 2


def test_numbers_count_within_a_channel_from_one_without_a_gap(house: House) -> None:
    side = channels.create(house.db, ChannelKind.PRIVATE, "Garden", ANN, (), house.now)
    other = channels.bind(house.db, "telegram", "chat-2", "", side.channel)
    for at in range(4):
        door = (house.door, other)[at % 2]
        messages.accept(house.db, house.inbound(str(at)), door, ANN, "Ann", house.now, queue_bound=9)
    for channel in (house.main.channel, side.channel):
        assert [message.number for message in messages.recent(house.db, channel, 99, 9)] == [1, 2]


def test_recent_gives_the_newest_before_a_number_oldest_first(house: House) -> None:
    for at in range(1, 8):
        house.accept(str(at))
    assert texts(house, before=6, limit=3) == ["3", "4", "5"]
    assert texts(house, before=1) == []


def test_an_edit_changes_what_stands_and_keeps_what_stood(house: House) -> None:
    house.accept("the pmup is broken", "1")
    house.accept("second", "2")
    edit = house.accept("the pump is broken", "1-edit", edit_of="1")
    assert edit.turn is None
    assert texts(house) == ["the pump is broken", "second"]
    house.accept("the pump works again", "1-edit-2", edit_of="1-edit")  # an edit of the edit
    assert texts(house) == ["the pump works again", "second"]
    kept = house.db.execute("SELECT text FROM message ORDER BY number").fetchall()
    assert [row[0] for row in kept] == ["the pmup is broken", "second", "the pump is broken", "the pump works again"]


def test_only_the_author_edits_a_message(house: House) -> None:
    house.accept("mine", "1")
    inbound = house.inbound("yours", "2", edit_of="1")
    messages.accept(house.db, inbound, house.door, BOB, "Bob", house.now, queue_bound=9)
    assert texts(house) == ["mine"]


def test_a_deleted_message_is_left_out_and_empty_when_asked_for(house: House) -> None:
    first = house.accept("secret", "1").message
    house.accept("second", "2")
    gone = house.accept("", "3", edit_of="1", deleted=True)
    assert gone.turn is None
    assert texts(house) == ["second"]
    assert first
    assert messages.get(house.db, first).text == ""


def test_recent_finds_what_is_left_behind_any_number_of_deleted_messages(house: House) -> None:
    house.accept("the oldest", "0")
    for at in range(1, 30):
        house.accept(str(at), f"m{at}")
    for at in range(2, 30):
        house.accept("", f"d{at}", edit_of=f"m{at}", deleted=True)
    assert texts(house, limit=2) == ["the oldest", "1"]


def test_an_edit_of_what_kai_never_saw_changes_nothing(house: House) -> None:
    house.accept("hello", "1")
    assert house.accept("?", "2", edit_of="from before").message
    assert house.accept("", "3", edit_of="from before", deleted=True).message
    assert texts(house) == ["hello"]


def test_a_repeated_edit_is_kept_once(house: House) -> None:
    house.accept("hello", "1")
    first = house.accept("hallo", "2", edit_of="1")
    again = house.accept("hallo", "2", edit_of="1")
    assert again.duplicate
    assert again.message == first.message


def test_a_reply_names_the_message_it_replies_to(house: House) -> None:
    first = house.accept("question", "1").message
    reply = house.accept("answer", "2", reply_to="1").message
    stranger = house.accept("answer", "3", reply_to="from before").message
    assert reply
    assert stranger
    assert messages.get(house.db, reply).reply_to == first
    assert messages.get(house.db, stranger).reply_to is None


def test_control_messages_are_kept_once_and_are_no_part_of_the_talk(house: House) -> None:
    house.accept("hello", "1")
    stop = house.inbound("/stop", "2")
    arguments = (house.db, house.main.channel, Author.PERSON, "/stop")
    first = messages.record(*arguments, house.now, principal=ANN, name="Ann", inbound=stop)
    again = messages.record(*arguments, house.now, principal=ANN, name="Ann", inbound=stop)
    assert again == first
    assert messages.by_external(house.db, "telegram", "chat-1", "2") == first
    assert messages.by_external(house.db, "telegram", "chat-1", "9") is None
    messages.record(house.db, house.main.channel, Author.KAI, "Stopped.", house.now)
    assert texts(house) == ["hello"]
    assert texts(house, asides=True) == ["hello", "/stop", "Stopped."]
    assert search.search(house.db, house.main.channel, "stop stopped", 9) == ()


def test_the_messages_of_a_turn_are_what_was_asked_and_what_was_said(house: House) -> None:
    turn = house.queued("why?")
    assert [message.text for message in messages.of_turn(house.db, turn)] == ["why?"]
    house.finish(turn, house.sent(turn), Outcome(TurnState.DONE, "because", ("read x: ok",)))
    asked, answer = messages.of_turn(house.db, turn)
    assert (asked.text, answer.text) == ("why?", "because")
    assert (answer.author, answer.name, answer.backend, answer.tool_lines) == (
        Author.AGENT,
        "kai",
        "claude",
        ("read x: ok",),
    )


def test_the_messages_of_a_retry_begin_with_the_same_question(house: House) -> None:
    turn = house.queued("why?")
    house.finish(turn, house.sent(turn), Outcome(TurnState.FAILED, reason="no"))
    again = turns.retry(house.db, turn, house.now).turn
    house.finish(again, house.sent(again), Outcome(TurnState.DONE, "because"))
    assert [message.text for message in messages.of_turn(house.db, again)] == ["why?", "because"]


def test_no_message_is_ever_changed(house: House) -> None:
    house.accept("hello")
    with pytest.raises(Error, match="append-only"):
        house.db.execute("UPDATE message SET text = 'other'")


def test_what_is_not_there_is_said_to_be_unknown(house: House) -> None:
    with pytest.raises(UnknownThingError):
        messages.get(house.db, MessageId("m-none"))
    with pytest.raises(UnknownThingError):
        messages.of_turn(house.db, TurnId("t-none"))
    with pytest.raises(UnknownThingError):
        messages.record(house.db, ChannelId("c-none"), Author.KAI, "?", house.now)


def test_the_cost_of_recent_does_not_grow_with_the_channel(house: House) -> None:
    """Counted in steps of SQLite's machine, which no busy neighbour changes: the same for a hundred times the talk."""

    def steps() -> int:
        count = 0

        def step() -> int:
            nonlocal count
            count += 1
            return 0

        house.db.set_progress_handler(step, 1)
        messages.recent(house.db, house.main.channel, 10**9, 50)
        turns.next_queued(house.db, house.main.channel)
        turns.live(house.db, house.main.channel)
        house.db.set_progress_handler(None, 1)
        return count

    def fill(upto: int) -> None:
        """Half of it asides, as commands and edits are."""
        house.db.execute(
            "WITH RECURSIVE n(i) AS (SELECT ifnull((SELECT max(number) FROM message), 0) + 1 UNION ALL "
            "SELECT i + 1 FROM n WHERE i < ?) INSERT INTO message (message, channel, number, author, name, text, "
            "created_at, aside) SELECT 'm-' || i, ?, i, 'kai', '', 'text', 0, i % 2 FROM n",
            (upto, house.main.channel),
        )

    fill(300)
    few = steps()
    fill(30_000)
    many = steps()
    assert many <= few * 1.05


def test_an_accept_at_a_later_time_keeps_the_time_it_was_given(house: House) -> None:
    late = START + timedelta(days=400, microseconds=123)
    accepted = messages.accept(house.db, house.inbound(), house.door, ANN, "Ann", late, queue_bound=9)
    assert accepted.message
    assert messages.get(house.db, accepted.message).created_at == late
