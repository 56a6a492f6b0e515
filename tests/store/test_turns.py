"""A lane runs one turn at a time in order; an end is told once; a cut turn is owned up to."""

from dataclasses import replace

import pytest

from kai.model.errors import FailureKind, UnknownThingError, WrongMoveError
from kai.model.events import Usage
from kai.model.ids import DispatchId, TurnId
from kai.model.messages import Message
from kai.model.people import ChannelKind
from kai.model.states import AskState, DispatchState, TurnState
from kai.model.turns import DeliveryKind, NewDelivery, Outcome, Turn
from kai.store import channels, deliveries, messages, questions, search, sessions, snapshots, turns
from tests.store.house import ANN, BOB, House

DONE = Outcome(TurnState.DONE, "the answer")


def state(house: House, turn: TurnId) -> TurnState:
    return turns.get(house.db, turn).state


def told(house: House, turn: TurnId) -> list[tuple[DeliveryKind, str]]:
    """What tells the end of a turn; everything else that was owed because of it is left out."""
    return [(owed.kind, owed.text) for owed in deliveries.of_turn(house.db, turn) if owed.turn_state]


def end(house: House, turn: TurnId, outcome: Outcome, *owed: NewDelivery) -> Message | None:
    return turns.finish(house.db, turn, None, outcome, owed, "kai", house.now).answer


# The lane


def test_the_turn_that_waits_longest_comes_next(house: House) -> None:
    first, second = house.queued(), house.queued()
    assert turns.next_queued(house.db, house.main.channel) == turns.get(house.db, first)
    assert turns.queued_count(house.db, house.main.channel) == 2
    house.begin(first)
    following = turns.next_queued(house.db, house.main.channel)
    assert following
    assert following.turn == second


def test_a_turn_never_starts_before_its_time(house: House) -> None:
    first, second = house.queued(), house.queued()
    with pytest.raises(WrongMoveError):
        house.begin(second)
    house.begin(first)
    for start in (lambda: house.begin(second), lambda: turns.move(house.db, second, TurnState.RUNNING, house.now)):
        with pytest.raises(WrongMoveError):
            start()
    assert state(house, second) is TurnState.QUEUED


def test_lanes_do_not_wait_for_each_other(house: House) -> None:
    side = channels.create(house.db, ChannelKind.PRIVATE, "Garden", ANN, (), house.now)
    first = house.queued()
    house.begin(first)
    house.door = channels.bind(house.db, "telegram", "chat-2", "", side.channel)
    second = house.queued()
    assert turns.queued_channels(house.db) == (side.channel,)
    house.begin(second)
    assert turns.queued_channels(house.db) == ()
    live = turns.live(house.db, side.channel)
    assert live
    assert live.turn == second


def test_channels_with_waiting_turns_come_in_the_order_of_the_wait(house: House) -> None:
    main_door = house.door
    side = channels.create(house.db, ChannelKind.PRIVATE, "Garden", ANN, (), house.now)
    house.door = channels.bind(house.db, "telegram", "chat-2", "", side.channel)
    house.queued()
    house.door = main_door
    house.queued()
    assert turns.queued_channels(house.db) == (side.channel, house.main.channel)


def test_turns_are_listed_newest_first_by_person_and_channel(house: House) -> None:
    first, second = house.queued(), house.queued()
    assert [turn.turn for turn in turns.listing(house.db, limit=9)] == [second, first]
    assert [turn.turn for turn in turns.of_channel(house.db, house.main.channel, 1)] == [second]
    assert len(turns.listing(house.db, principal=ANN, channel=house.main.channel, limit=9)) == 2
    assert turns.listing(house.db, principal=BOB, limit=9) == ()


# Attempts


def test_an_attempt_is_prepared_with_its_snapshot_before_a_byte_is_written(house: House) -> None:
    turn = house.queued()
    dispatch = house.begin(turn)
    row = turns.get(house.db, turn)
    assert (row.state, row.backend, row.model, row.attempts) == (TurnState.RUNNING, "claude", "opus", 1)
    assert row.started_at
    assert snapshots.dispatch(house.db, dispatch).state is DispatchState.PREPARED
    assert snapshots.snapshot(house.db, dispatch).words == "words"
    turns.mark_sent(house.db, dispatch, "ab" * 32, house.now, "native-1")
    sent = snapshots.dispatch(house.db, dispatch)
    assert (sent.state, sent.frame_sha256, sent.native_id) == (DispatchState.SENT, "ab" * 32, "native-1")
    with pytest.raises(WrongMoveError):
        turns.mark_sent(house.db, dispatch, "cd" * 32, house.now)


def test_a_second_attempt_needs_the_first_to_be_over(house: House) -> None:
    turn = house.queued()
    first = house.sent(turn)
    with pytest.raises(WrongMoveError):
        house.begin(turn)
    turns.settle(house.db, first, house.now)
    second = house.sent(turn)
    house.finish(turn, second, DONE)
    assert [attempt.state for attempt in snapshots.dispatches(house.db, turn)] == ["settled", "settled"]
    assert turns.get(house.db, turn).attempts == 2


def test_a_held_turn_keeps_its_lane_and_goes_on(house: House) -> None:
    turn = house.queued()
    turns.settle(house.db, house.sent(turn), house.now)
    turns.move(house.db, turn, TurnState.HELD, house.now, reason="usage limit until 19:00")
    assert turns.get(house.db, turn).reason == "usage limit until 19:00"
    other = house.queued()
    with pytest.raises(WrongMoveError):
        house.begin(other)
    house.sent(turn)
    assert (state(house, turn), turns.get(house.db, turn).reason) == (TurnState.RUNNING, "")


@pytest.mark.parametrize("to", [TurnState.ASKING, TurnState.QUEUED])
def test_only_a_question_makes_a_turn_ask_and_only_a_start_queues_it_again(house: House, to: TurnState) -> None:
    turn = house.queued()
    house.begin(turn)
    with pytest.raises(WrongMoveError):
        turns.move(house.db, turn, to, house.now)


# The end


def test_an_end_is_one_thing(house: House) -> None:
    turn = house.queued()
    dispatch = house.sent(turn)
    outcome = replace(DONE, tool_lines=("read x: ok",), usage=Usage(input_tokens=7), native_id="native-1", detail="d")
    owed = NewDelivery(house.door.address, DeliveryKind.ANSWER, "the answer")
    answer, claimed, _ = turns.finish(house.db, turn, dispatch, outcome, (owed,), "kai", house.now)
    assert claimed == ()
    row = turns.get(house.db, turn)
    assert answer
    assert (row.state, row.answer, row.reason) == (TurnState.DONE, answer.message, "")
    assert row.ended_at
    assert snapshots.dispatch(house.db, dispatch).state is DispatchState.SETTLED
    assert told(house, turn) == [(DeliveryKind.ANSWER, "the answer")]
    assert messages.get(house.db, answer.message).tool_lines == ("read x: ok",)
    assert search.search(house.db, house.main.channel, "answers", 9) == (answer,)
    assert turns.particulars(house.db, turn) == ("d", Usage(input_tokens=7))


def test_an_ended_turn_does_not_end_again(house: House) -> None:
    turn = house.queued()
    house.finish(turn, house.sent(turn), DONE)
    house.db.execute("SAVEPOINT before")
    for outcome in (DONE, Outcome(TurnState.STOPPED), Outcome(TurnState.FAILED, reason="late")):
        with pytest.raises(WrongMoveError):
            end(house, turn, outcome)
        house.db.execute("ROLLBACK TO before")
    assert state(house, turn) is TurnState.DONE


@pytest.mark.parametrize("to", [TurnState.RUNNING, TurnState.QUEUED, TurnState.HELD])
def test_an_outcome_is_an_end(house: House, to: TurnState) -> None:
    turn = house.queued()
    house.begin(turn)
    with pytest.raises(WrongMoveError):
        end(house, turn, Outcome(to))


def test_a_withdrawn_turn_is_told_by_a_notice_with_its_reason(house: House) -> None:
    turn = house.queued()
    turns.move(house.db, turn, TurnState.FAILED, house.now, failure=FailureKind.BUDGET, reason="It does not fit.")
    row = turns.get(house.db, turn)
    assert (row.state, row.failure, row.reason) == (TurnState.FAILED, FailureKind.BUDGET, "It does not fit.")
    assert told(house, turn) == [(DeliveryKind.NOTICE, "It does not fit.")]


def test_an_end_without_a_word_is_told_all_the_same(house: House) -> None:
    turn = house.queued()
    house.begin(turn)
    assert end(house, turn, Outcome(TurnState.STOPPED)) is None
    assert told(house, turn) == [(DeliveryKind.NOTICE, "This turn ended: stopped.")]


def test_of_several_deliveries_the_last_answer_or_notice_tells_the_end(house: House) -> None:
    turn = house.queued()
    house.begin(turn)
    notice = NewDelivery(house.door.address, DeliveryKind.NOTICE, "A new session was begun.")
    answer = NewDelivery(house.door.address, DeliveryKind.ANSWER, "the answer")
    end(house, turn, DONE, notice, answer)
    assert told(house, turn) == [(DeliveryKind.ANSWER, "the answer")]
    assert len(deliveries.of_turn(house.db, turn)) == 2


def test_the_delivery_that_is_said_to_tell_the_end_tells_it(house: House) -> None:
    turn = house.queued()
    house.begin(turn)
    answer = NewDelivery(house.door.address, DeliveryKind.ANSWER, "the answer", state=TurnState.DONE)
    after = NewDelivery(house.door.address, DeliveryKind.NOTICE, "By the way.")
    end(house, turn, DONE, answer, after)
    assert told(house, turn) == [(DeliveryKind.ANSWER, "the answer")]


def test_an_end_told_twice_is_refused(house: House) -> None:
    turn = house.queued()
    house.begin(turn)
    answer = NewDelivery(house.door.address, DeliveryKind.ANSWER, "the answer", state=TurnState.DONE)
    with pytest.raises(ValueError, match="once"):
        end(house, turn, DONE, answer, answer)


def test_a_stopped_turn_keeps_what_it_had_said_marked_incomplete(house: House) -> None:
    turn = house.queued()
    house.begin(turn)
    kept = end(house, turn, Outcome(TurnState.STOPPED, "half an ans", incomplete=True))
    assert kept
    assert messages.recent(house.db, house.main.channel, 99, 9)[-1].incomplete


# A start after a cut


def recover(house: House) -> list[TurnId]:
    return [turn.turn for turn in turns.recover(house.db, house.now)]


def test_a_turn_whose_bytes_were_never_written_is_queued_again_first_of_its_lane(house: House) -> None:
    turn, following = house.queued(), house.queued()
    dispatch = house.begin(turn)
    assert recover(house) == []
    assert snapshots.dispatch(house.db, dispatch).state is DispatchState.SETTLED
    again = turns.next_queued(house.db, house.main.channel)
    assert again
    assert (again.turn, again.started_at) == (turn, None)
    house.finish(turn, house.sent(turn), DONE)
    assert state(house, following) is TurnState.QUEUED


def test_a_turn_that_only_ran_is_queued_again(house: House) -> None:
    turn = house.queued()
    turns.move(house.db, turn, TurnState.RUNNING, house.now)
    assert recover(house) == []
    assert state(house, turn) is TurnState.QUEUED


def test_a_turn_that_may_have_acted_is_interrupted_and_never_sent_again(house: House) -> None:
    turn = house.queued()
    dispatch = house.sent(turn)
    turns.save_partial(house.db, turn, "I have dele", ("bash rm: ok",))
    turns.save_partial(house.db, turn, "I have deleted the", ("bash rm: ok",))
    assert recover(house) == [turn]
    row = turns.get(house.db, turn)
    assert (row.state, row.reason) == (TurnState.INTERRUPTED, turns.RESTARTED)
    assert snapshots.dispatch(house.db, dispatch).state is DispatchState.UNKNOWN
    assert row.answer
    kept = messages.get(house.db, row.answer)
    assert (kept.text, kept.incomplete, kept.tool_lines) == ("I have deleted the", True, ("bash rm: ok",))
    ((kind, text),) = told(house, turn)
    assert kind is DeliveryKind.NOTICE
    assert "restarted" in text
    assert text.endswith("I have deleted the")
    assert turn in text
    assert turns.next_queued(house.db, house.main.channel) is None


def test_a_cut_turn_that_had_said_nothing_is_told_too(house: House) -> None:
    turn = house.queued()
    house.sent(turn)
    assert recover(house) == [turn]
    assert turns.get(house.db, turn).answer is None
    assert len(told(house, turn)) == 1


def test_open_questions_of_a_cut_turn_expire(house: House) -> None:
    turn = house.queued()
    ask = house.ask(turn, house.sent(turn))
    assert recover(house) == [turn]
    assert questions.get(house.db, ask).state is AskState.EXPIRED
    reason = house.db.execute("SELECT reason FROM question").fetchone()[0]
    assert reason == "daemon restarted"


def test_between_attempts_the_one_before_decides(house: House) -> None:
    acted = house.queued()
    turns.settle(house.db, house.sent(acted), house.now)
    assert recover(house) == [acted]
    silent = house.queued()
    turns.settle(house.db, house.begin(silent), house.now)
    assert recover(house) == []
    assert state(house, silent) is TurnState.QUEUED


def test_a_second_attempt_that_was_not_written_is_made_again(house: House) -> None:
    turn = house.queued()
    turns.settle(house.db, house.sent(turn), house.now)
    house.begin(turn)
    assert recover(house) == []
    assert state(house, turn) is TurnState.QUEUED


def test_a_held_turn_is_queued_again(house: House) -> None:
    turn = house.queued()
    turns.settle(house.db, house.sent(turn), house.now)
    turns.move(house.db, turn, TurnState.HELD, house.now, reason="a limit")
    assert recover(house) == []
    assert (turns.get(house.db, turn).state, turns.get(house.db, turn).reason) == (TurnState.QUEUED, "")


def test_recovering_twice_changes_nothing_more(house: House) -> None:
    turn = house.queued()
    session = house.session()
    house.sent(turn, session)
    house.queued()
    assert recover(house) == [turn]
    assert recover(house) == []
    assert len(told(house, turn)) == 1
    row = sessions.get(house.db, session)
    assert row
    assert row.state == "ended"


def test_a_partial_text_that_comes_too_late_is_ignored(house: House) -> None:
    turn = house.queued()
    house.finish(turn, house.sent(turn), DONE)
    turns.save_partial(house.db, turn, "late", ())
    assert house.db.execute("SELECT count(*) FROM partial").fetchone()[0] == 0


# Again, at a person's wish


def test_a_retry_is_a_new_turn_for_the_same_message(house: House) -> None:
    turn = house.queued()
    house.sent(turn)
    recover(house)
    again = turns.retry(house.db, turn, house.now)
    before = turns.get(house.db, turn)
    assert (again.message, again.address, again.principal) == (before.message, before.address, before.principal)
    assert again == Turn(
        again.turn,
        before.channel,
        before.message,
        ANN,
        before.address,
        TurnState.QUEUED,
        again.queued_at,
        retry_of=turn,
    )


def test_a_retry_asked_for_twice_is_one_until_it_is_over(house: House) -> None:
    turn = house.queued()
    house.finish(turn, house.sent(turn), Outcome(TurnState.FAILED, reason="no"))
    again = turns.retry(house.db, turn, house.now)
    assert turns.retry(house.db, turn, house.now) == again
    house.begin(again.turn)
    assert turns.retry(house.db, turn, house.now).turn == again.turn
    house.finish(again.turn, None, Outcome(TurnState.STOPPED))
    assert turns.retry(house.db, turn, house.now).turn != again.turn


def test_only_what_has_ended_is_retried(house: House) -> None:
    turn = house.queued()
    with pytest.raises(WrongMoveError):
        turns.retry(house.db, turn, house.now)


def test_what_is_not_there_is_said_to_be_unknown(house: House) -> None:
    nothing = TurnId("t-none")
    for act in (
        lambda: turns.get(house.db, nothing),
        lambda: turns.particulars(house.db, nothing),
        lambda: end(house, nothing, DONE),
        lambda: turns.settle(house.db, DispatchId("d-none"), house.now),
    ):
        with pytest.raises(UnknownThingError):
            act()
    turn = house.queued()
    house.begin(turn)
    house.db.execute("SAVEPOINT before")
    with pytest.raises(UnknownThingError):
        turns.finish(house.db, turn, DispatchId("d-none"), DONE, (), "kai", house.now)
    house.db.execute("ROLLBACK TO before")
