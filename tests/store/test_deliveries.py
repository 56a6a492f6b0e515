"""What is owed is claimed once, in order, and is never sent twice by itself."""

import pytest

from kai.model.errors import UnknownThingError, WrongMoveError
from kai.model.ids import AddressId, DeliveryId
from kai.model.states import DeliveryState, TurnState
from kai.model.turns import Delivery, DeliveryKind, NewDelivery, Outcome, Receipt, ReceiptOutcome
from kai.store import channels, deliveries
from tests.store.house import CHOICES, House

SENT = Receipt(ReceiptOutcome.SENT, ("77", "78"))
UNSENT = Receipt(ReceiptOutcome.UNSENT, problem="too many requests")
UNKNOWN = Receipt(ReceiptOutcome.UNKNOWN, problem="timed out")
DROPPED = Receipt(ReceiptOutcome.DROPPED, problem="the chat is gone")


def owe(house: House, text: str, address: AddressId | None = None) -> Delivery:
    new = NewDelivery(address or house.door.address, DeliveryKind.NOTICE, text)
    return deliveries.owe(house.db, new, house.now)


def claim(house: House, limit: int = 99, bridge: str = "telegram") -> list[str]:
    return [delivery.text for delivery in deliveries.claim(house.db, bridge, house.now, limit)]


def state(house: House, delivery: Delivery) -> DeliveryState:
    return deliveries.get(house.db, delivery.delivery).state


def say(house: House, delivery: Delivery, receipt: Receipt, bridge: str = "telegram") -> None:
    deliveries.receipt(house.db, delivery.delivery, bridge, receipt, house.now)


def test_what_is_owed_knows_its_place(house: House) -> None:
    owed = owe(house, "hello")
    assert (owed.bridge, owed.chat, owed.thread, owed.channel) == ("telegram", "chat-1", "", house.main.channel)
    assert (owed.state, owed.number, owed.choices) == (DeliveryState.PENDING, 1, ())
    with pytest.raises(UnknownThingError):
        owe(house, "hello", AddressId("x-none"))


def test_what_is_owed_to_one_who_waits_is_claimed_from_the_start_and_nothing_is_given_before_its_turn(
    house: House,
) -> None:
    here = house.door.address
    new = [NewDelivery(here, DeliveryKind.NOTICE, text) for text in "ab"]
    given = deliveries.owe_all(house.db, new, "telegram", house.now)
    assert given == tuple(deliveries.get(house.db, one.delivery) for one in given)
    assert [(one.text, one.state) for one in given] == [("a", DeliveryState.CLAIMED), ("b", DeliveryState.CLAIMED)]
    assert claim(house) == []
    owe(house, "c")
    assert [one.text for one in deliveries.owe_all(house.db, new, "telegram", house.now)] == ["c", "a", "b"]
    assert deliveries.owe_all(house.db, new, "matrix", house.now) == ()
    assert deliveries.owe_all(house.db, new, "", house.now) == ()
    assert claim(house) == ["a", "b", "a", "b"]


def test_deliveries_are_claimed_once_and_oldest_first(house: House) -> None:
    for text in "abcde":
        owe(house, text)
    assert claim(house, 2) == ["a", "b"]
    assert claim(house, 2) == ["c", "d"]
    assert claim(house) == ["e"]
    assert claim(house) == []


def test_a_bridge_claims_what_is_its_own(house: House) -> None:
    other = channels.bind(house.db, "matrix", "room", "", house.main.channel)
    owe(house, "to telegram")
    owed = owe(house, "to matrix", other.address)
    assert claim(house, bridge="matrix") == ["to matrix"]
    assert claim(house) == ["to telegram"]
    with pytest.raises(UnknownThingError):
        say(house, owed, SENT, bridge="telegram")
    assert deliveries.owed(house.db, "telegram") == {"pending": 0, "claimed": 1, "unknown": 0}


def test_a_question_goes_with_its_choices(house: House) -> None:
    turn = house.queued()
    house.ask(turn, house.sent(turn))
    (asked,) = deliveries.claim(house.db, "telegram", house.now, 9)
    assert (asked.kind, asked.choices, asked.turn) == (DeliveryKind.QUESTION, CHOICES, turn)
    assert asked.text == "Run a command?\nrm -r build"


@pytest.mark.parametrize(
    ("receipt", "reached"),
    [(SENT, DeliveryState.SENT), (UNKNOWN, DeliveryState.UNKNOWN), (DROPPED, DeliveryState.DROPPED)],
)
def test_a_receipt_settles_and_its_repeat_changes_nothing(
    house: House, receipt: Receipt, reached: DeliveryState
) -> None:
    owed = owe(house, "hello")
    claim(house)
    for _ in range(2):
        say(house, owed, receipt)
        assert state(house, owed) is reached
    for other in {SENT, UNSENT, UNKNOWN, DROPPED} - {receipt}:
        with pytest.raises(WrongMoveError):
            say(house, owed, other)
    assert len(claim(house)) == (1 if receipt is UNKNOWN else 0)  # the one notice, not one for each repeat


def test_the_chat_apps_ids_are_kept(house: House) -> None:
    owed = owe(house, "hello")
    claim(house)
    say(house, owed, SENT)
    row = house.db.execute("SELECT external_ids FROM delivery").fetchone()
    assert row[0] == '["77", "78"]'


@pytest.mark.parametrize("receipt", [SENT, UNKNOWN, DROPPED])
def test_nobody_has_a_receipt_for_what_was_given_to_nobody(house: House, receipt: Receipt) -> None:
    owed = owe(house, "hello")
    with pytest.raises(WrongMoveError):
        say(house, owed, receipt)
    assert state(house, owed) is DeliveryState.PENDING


def test_what_was_surely_not_sent_is_claimed_again_before_what_follows_it(house: House) -> None:
    owed = [owe(house, text) for text in "abc"]
    elsewhere = channels.bind(house.db, "telegram", "chat-2", "", house.main.channel)
    owe(house, "x", elsewhere.address)
    assert claim(house, 1) == ["a"]
    say(house, owed[0], UNSENT)
    say(house, owed[0], UNSENT)
    assert claim(house) == ["x", "a", "b", "c"]


def test_numbers_rise_in_the_order_of_claiming_whatever_comes_back(house: House) -> None:
    """A bridge resumes by the highest number it has: nothing that it has not received may have a smaller one."""
    owed = {text: owe(house, text) for text in "abc"}
    numbers = [delivery.number for delivery in deliveries.claim(house.db, "telegram", house.now, 9)]
    say(house, owed["a"], UNSENT)
    numbers += [delivery.number for delivery in deliveries.claim(house.db, "telegram", house.now, 9)]
    assert numbers == sorted(set(numbers))
    assert owe(house, "d").number > max(numbers)


def test_what_a_bridge_surely_never_received_is_given_again(house: House) -> None:
    owed = [owe(house, text) for text in "abc"]
    claim(house)
    assert deliveries.reclaim(house.db, "telegram", owed[0].number, False, house.now) == ()
    assert [state(house, delivery) for delivery in owed] == ["claimed", "pending", "pending"]
    assert claim(house) == ["b", "c"]


def test_a_bridge_that_may_repeat_gets_all_again(house: House) -> None:
    for text in "ab":
        owe(house, text)
    claim(house)
    deliveries.reclaim(house.db, "telegram", None, True, house.now)
    assert claim(house) == ["a", "b"]


def test_what_may_have_gone_out_is_never_sent_again_but_told_once(house: House) -> None:
    turn = house.queued()
    house.finish(turn, house.sent(turn), Outcome(TurnState.DONE, "the answer"))
    claim(house)
    (lost,) = deliveries.reclaim(house.db, "telegram", None, False, house.now)
    assert (lost.text, lost.state) == ("the answer", DeliveryState.UNKNOWN)
    (notice,) = deliveries.claim(house.db, "telegram", house.now, 9)
    assert notice.kind is DeliveryKind.NOTICE
    assert "may not have arrived" in notice.text
    assert turn in notice.text
    # The notice may be lost in turn: then it is unknown too, and that is all.
    deliveries.reclaim(house.db, "telegram", None, False, house.now)
    assert claim(house) == []
    assert deliveries.owed(house.db, "telegram") == {"pending": 0, "claimed": 0, "unknown": 2}


def test_a_bridges_connecting_does_not_touch_anothers(house: House) -> None:
    owed = owe(house, "hello")
    claim(house)
    deliveries.reclaim(house.db, "matrix", None, False, house.now)
    assert state(house, owed) is DeliveryState.CLAIMED


def test_deliveries_of_a_turn_are_listed(house: House) -> None:
    turn = house.queued()
    house.finish(turn, house.sent(turn))
    (told,) = deliveries.of_turn(house.db, turn)
    assert (told.text, told.turn_state) == ("the answer", TurnState.DONE)


def test_what_is_not_there_is_said_to_be_unknown(house: House) -> None:
    with pytest.raises(UnknownThingError):
        deliveries.get(house.db, DeliveryId("v-none"))
