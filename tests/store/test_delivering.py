"""An answer that rests on what is not for its place any more is neither kept nor delivered."""

import pytest

from kai.model.ids import TurnId
from kai.model.memory import Way
from kai.model.states import TurnState
from kai.model.turns import Outcome
from kai.store import channels, deliveries, delivering, exposures, grants, turns
from tests.store.house import ANN, BOB, House
from tests.store.remembered import Memory

SECRET = "the key is under the mat"


@pytest.fixture
def memory(house: House) -> Memory:
    return Memory(house)


def answered(memory: Memory, turn: TurnId, dispatch: object) -> str:
    """The first thing delivered of an answer."""
    done = Outcome(TurnState.DONE, text=SECRET, native_id="n")
    house = memory.house
    ended = delivering.finish(memory.db, turn, dispatch, done, house.telling(done), "kai", house.now)  # type: ignore[arg-type]
    (told,) = deliveries.of_turn(memory.db, turn)
    assert (ended.answer is None) == (told.text != SECRET)
    assert ended.outcome is not None
    assert (ended.outcome.text == SECRET) == (told.text == SECRET)
    return told.text


def shown(memory: Memory, record: str) -> tuple[TurnId, object]:
    """A turn of Ann's whose agent found the record."""
    turn, session = memory.house.queued("where is the key?"), memory.house.session()
    dispatch = memory.house.sent(turn, session)
    exposures.found(memory.db, session, turn, [(record, 1)])
    return turn, dispatch


def test_what_still_stands_goes_out(memory: Memory) -> None:
    record = memory.kept(SECRET)
    assert answered(memory, *shown(memory, record)) == SECRET


def test_what_was_corrected_goes_out(memory: Memory) -> None:
    record = memory.kept(SECRET)
    at = shown(memory, record)
    memory.correct(record, "the key is in the shed")
    assert answered(memory, *at) == SECRET


def test_what_was_forgotten_meanwhile_is_withheld_and_said_and_audited(memory: Memory) -> None:
    record = memory.kept(SECRET)
    turn, dispatch = shown(memory, record)
    memory.forget(record)
    assert answered(memory, turn, dispatch).startswith("The answer is withheld: what it rests on was forgotten")
    assert turns.get(memory.db, turn).reason.startswith("Withheld")
    row = memory.db.execute("SELECT action, status, reason FROM mem_audit ORDER BY seq DESC").fetchone()
    assert tuple(row) == ("deliver", "denied", "withheld")


def test_what_its_own_agent_was_asked_to_forget_is_no_reason(memory: Memory) -> None:
    record = memory.kept(SECRET)
    turn, dispatch = shown(memory, record)
    memory.forget(record, scope=memory.scope(way=Way.TOOL, turn=turn))
    assert answered(memory, turn, dispatch) == SECRET


def test_what_another_opened_and_took_back_is_withheld(memory: Memory) -> None:
    record = memory.kept(SECRET, memory.scope(BOB))
    grant = grants.grant(memory.db, memory.scope(BOB), record, "Ann", None, memory.op, memory.house.now).reason
    at = shown(memory, record)
    grants.revoke(memory.db, memory.scope(BOB), grant, memory.op, memory.house.now)
    assert answered(memory, *at).startswith("The answer is withheld")


def test_somebody_joining_meanwhile_hears_no_answer_that_was_not_for_them(memory: Memory) -> None:
    house, room = memory.house, memory.room(ANN)
    door = channels.bind(memory.db, "telegram", "kitchen", "", room)
    memory = Memory(House(memory.db, channels.get(memory.db, room), door, house.minutes))
    record = memory.kept(SECRET, memory.scope(channel=room))
    at = shown(memory, record)
    channels.join(memory.db, room, BOB, memory.house.now)
    assert answered(memory, *at).startswith("The answer is withheld")


def test_a_place_that_belongs_to_another_conversation_by_now_gets_no_answer(memory: Memory) -> None:
    turn = memory.house.queued("where is the key?")
    dispatch = memory.house.sent(turn)
    door, room = memory.house.door, memory.room(ANN, BOB)
    channels.bind(memory.db, door.bridge, door.chat, door.thread, room)
    assert "belongs to another conversation" in answered(memory, turn, dispatch)
