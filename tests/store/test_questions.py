"""A question is open until it is answered, expired or cancelled, once; its turn waits exactly that long."""

import pytest

from kai.model.errors import BadInputError, UnknownThingError, WrongMoveError
from kai.model.ids import AskId
from kai.model.states import AskState, TurnState
from kai.model.turns import Outcome
from kai.store import deliveries, questions, turns
from tests.store.house import ANN, CHOICES, House


def state(house: House, turn: object) -> TurnState:
    return turns.get(house.db, turn).state  # type: ignore[arg-type]


def test_a_question_is_kept_as_it_was_asked(house: House) -> None:
    turn = house.queued()
    asked = house.question(turn, house.sent(turn))
    assert (asked.turn, asked.key, asked.title, asked.detail) == (turn, "driver-7", "Run a command?", "rm -r build")
    assert (asked.choices, asked.state, asked.free_text) == (CHOICES, AskState.OPEN, False)
    assert asked.expires_at < asked.asked_at + (asked.expires_at - asked.asked_at) * 2
    assert questions.get(house.db, asked.ask) == asked


def test_a_turn_waits_until_its_last_question_is_answered(house: House) -> None:
    turn = house.queued()
    dispatch = house.sent(turn)
    one, two = house.ask(turn, dispatch), house.ask(turn, dispatch)
    assert state(house, turn) is TurnState.ASKING
    assert [question.ask for question in questions.open_of(house.db, turn)] == [one, two]
    questions.answer(house.db, one, "1", ANN, house.now)
    assert state(house, turn) is TurnState.ASKING
    assert questions.resume_turn(house.db, turn) is False
    answered = questions.answer(house.db, two, "2", ANN, house.now)
    assert state(house, turn) is TurnState.RUNNING
    assert questions.resume_turn(house.db, turn) is True
    assert (answered.state, answered.choice, answered.answered_by) == (AskState.ANSWERED, "2", ANN)


@pytest.mark.parametrize("ending", [AskState.EXPIRED, AskState.CANCELLED])
def test_a_closed_question_lets_its_turn_run_on_and_takes_no_answer(house: House, ending: AskState) -> None:
    turn = house.queued()
    ask = house.ask(turn, house.sent(turn))
    assert questions.close(house.db, ask, ending, house.now, reason="nobody came").state is ending
    assert state(house, turn) is TurnState.RUNNING
    with pytest.raises(WrongMoveError):
        questions.answer(house.db, ask, "1", ANN, house.now)
    assert questions.get(house.db, ask).state is ending


def test_an_answer_counts_once(house: House) -> None:
    turn = house.queued()
    ask = house.ask(turn, house.sent(turn))
    questions.answer(house.db, ask, "1", ANN, house.now)
    with pytest.raises(WrongMoveError):
        questions.answer(house.db, ask, "2", ANN, house.now)
    assert questions.get(house.db, ask).choice == "1"


def test_an_answer_is_one_of_the_choices(house: House) -> None:
    turn = house.queued()
    ask = house.ask(turn, house.sent(turn))
    with pytest.raises(BadInputError) as refused:
        questions.answer(house.db, ask, "allow", ANN, house.now)
    assert refused.value.hint == "Choose one of 1 (Allow once), 2 (Reject)."
    assert questions.get(house.db, ask).state is AskState.OPEN
    assert state(house, turn) is TurnState.ASKING


def test_free_text_may_be_answered_by_anything(house: House) -> None:
    turn = house.queued()
    ask = house.ask(turn, house.sent(turn), free_text=True)
    assert questions.answer(house.db, ask, "", ANN, house.now).state is AskState.ANSWERED


def test_the_end_of_a_turn_cancels_its_questions(house: House) -> None:
    turn = house.queued()
    dispatch = house.sent(turn)
    ask = house.ask(turn, dispatch)
    house.finish(turn, dispatch, Outcome(TurnState.STOPPED, "so far", incomplete=True))
    assert questions.get(house.db, ask).state is AskState.CANCELLED
    assert questions.open_in_channel(house.db, house.main.channel) == ()


def test_a_question_that_is_closed_before_a_bridge_took_it_is_shown_to_nobody(house: House) -> None:
    turn = house.queued()
    dispatch = house.sent(turn)
    taken = house.ask(turn, dispatch)
    deliveries.claim(house.db, "telegram", house.now, 9)
    house.ask(turn, dispatch)
    house.finish(turn, dispatch)
    assert [delivery.state for delivery in deliveries.of_turn(house.db, turn)] == ["claimed", "dropped", "pending"]
    assert questions.get(house.db, taken).state is AskState.CANCELLED


def test_the_open_questions_of_a_channel_are_found(house: House) -> None:
    assert questions.open_in_channel(house.db, house.main.channel) == ()
    turn = house.queued()
    ask = house.ask(turn, house.sent(turn))
    assert [question.ask for question in questions.open_in_channel(house.db, house.main.channel)] == [ask]
    questions.answer(house.db, ask, "1", ANN, house.now)
    assert questions.open_in_channel(house.db, house.main.channel) == ()


def test_a_turn_that_does_not_run_asks_nothing(house: House) -> None:
    turn = house.queued()
    dispatch = house.sent(turn)
    house.finish(turn, dispatch)
    house.db.execute("SAVEPOINT before")
    with pytest.raises(WrongMoveError):
        house.ask(turn, dispatch)
    house.db.execute("ROLLBACK TO before")
    assert questions.open_of(house.db, turn) == ()
    assert questions.resume_turn(house.db, turn) is False


def test_what_is_not_there_is_said_to_be_unknown(house: House) -> None:
    with pytest.raises(UnknownThingError):
        questions.answer(house.db, AskId("q-none"), "1", ANN, house.now)
