"""Delegated work in the store: begun whole or not at all, ended with a result, never left behind."""

import pytest

from kai.model.errors import DelegationError, FailureKind, UnknownThingError
from kai.model.ids import TurnId
from kai.model.messages import Author
from kai.model.states import TurnState
from kai.model.turns import Outcome
from kai.model.work import Delegation
from kai.store import channels, delegations, deliveries, messages, questions, results, turns
from kai.store.delegations import Bounds, Wanted
from tests.store.house import ANN, BOB, House


def running(house: House, **more: object) -> TurnId:
    turn = house.accept("find it", **more).turn  # type: ignore[arg-type]
    assert turn is not None
    house.begin(turn)
    return turn


def begun(house: House, parent: TurnId, agent: str = "research", caller: str = "house", **more: object) -> Delegation:
    wanted = Wanted(agent, "r1", caller, "look at the pump", **more)  # type: ignore[arg-type]
    return delegations.begin(house.db, parent, wanted, Bounds(), house.now)


def ended(house: House, made: Delegation, outcome: Outcome) -> Delegation:
    dispatch = house.sent(made.turn)
    turns.finish(house.db, made.turn, dispatch, outcome, (), "kai", house.now)
    return delegations.get(house.db, made.delegation, made.parent)


def test_it_has_a_place_of_its_own_that_is_in_no_list_and_the_same_people(house: House) -> None:
    parent = running(house)
    made = begun(house, parent)
    place, own = channels.get(house.db, made.channel), channels.get(house.db, house.main.channel)
    assert (place.parent, place.kind, place.members) == (own.channel, own.kind, own.members)
    assert place.channel not in [one.channel for one in (*channels.of(house.db, ANN), *channels.every(house.db))]
    turn = turns.get(house.db, made.turn)
    assert (turn.state, turn.delegated, turn.principal) == (TurnState.QUEUED, True, ANN)
    said = messages.get(house.db, turn.message)
    assert (said.author, said.text, said.name) == (Author.KAI, "look at the pump", "house")
    assert made.number == messages.of_turn(house.db, parent)[0].number


def test_its_answer_becomes_a_result_and_nothing_is_delivered(house: House) -> None:
    made = begun(house, running(house))
    done = ended(house, made, Outcome(TurnState.DONE, "it leaks"))
    assert done.ended_at is not None
    assert deliveries.of_turn(house.db, made.turn) == ()
    found = results.get(house.db, done.result or "", house.main)
    assert (found.items, found.is_whole, found.turn) == ('"it leaks"', True, made.root)


def test_what_was_cut_is_a_result_that_is_not_whole_and_silence_is_none(house: House) -> None:
    parent = running(house)
    cut = ended(house, begun(house, parent), Outcome(TurnState.STOPPED, "it le", incomplete=True))
    assert not results.get(house.db, cut.result or "", house.main).is_whole
    silent = ended(house, begun(house, parent, "reviewer"), Outcome(TurnState.FAILED, failure=FailureKind.CRASH))
    assert (silent.result, silent.ended_at is None) == (None, False)


@pytest.mark.parametrize("state", [TurnState.DONE, TurnState.STOPPED])
def test_nothing_is_begun_for_a_turn_that_has_ended(house: House, state: TurnState) -> None:
    parent = running(house)
    turns.finish(house.db, parent, None, Outcome(state, "x"), (), "kai", house.now)
    with pytest.raises(DelegationError, match="ended"):
        begun(house, parent)


def test_a_result_of_another_place_is_not_handed_over_and_nothing_is_made(house: House) -> None:
    before = house.db.execute("SELECT count(*) FROM channel").fetchone()[0]
    with pytest.raises(UnknownThingError):
        begun(house, running(house), refs=("res-nowhere",))
    assert house.db.execute("SELECT count(*) FROM channel").fetchone()[0] == before


def test_only_who_asked_for_it_knows_it(house: House) -> None:
    made = begun(house, running(house))
    with pytest.raises(UnknownThingError):
        delegations.get(house.db, made.delegation, TurnId("t-other"))


def test_it_is_temporary_when_its_parent_is(house: House) -> None:
    made = begun(house, running(house, temporary=True), constraints="secret")
    assert turns.get(house.db, made.turn).temporary
    assert made.constraints == ""


def test_a_start_ends_what_waits_for_nobody_and_names_it(house: House) -> None:
    parent = running(house)
    house.db.execute("UPDATE dispatch SET state = 'sent', sent_at = 1 WHERE turn = ?", (parent,))
    waits, gone = begun(house, parent), begun(house, parent, "reviewer")
    ended(house, gone, Outcome(TurnState.DONE, "done"))
    (cut,) = turns.recover(house.db, house.now)
    assert cut.turn == parent
    assert turns.get(house.db, waits.turn).state is TurnState.STOPPED
    told = deliveries.of_turn(house.db, parent)[-1].text
    assert "cut with it: research." in told


def test_its_question_is_open_where_the_person_talks(house: House) -> None:
    made = begun(house, running(house))
    house.ask(made.turn, house.sent(made.turn))
    assert [one.turn for one in questions.open_in_channel(house.db, house.main.channel)] == [made.turn]
    assert questions.open_in_channel(house.db, channels.private_of(house.db, BOB, house.now).channel) == ()
