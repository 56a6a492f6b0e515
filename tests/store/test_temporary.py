"""What is temporary stands in no index, is erased with the last receipt, and leaves nothing but hashes."""

from dataclasses import replace

import pytest

from kai.model.context import ContextBlock, Section
from kai.model.errors import BadInputError
from kai.model.ids import AttachmentRef, TurnId
from kai.model.messages import Accepted, AttachmentInfo
from kai.model.states import TurnState
from kai.model.turns import DeliveryKind, NewDelivery, Outcome, Receipt, ReceiptOutcome
from kai.store import attachments, channels, deliveries, messages, search, snapshots, temporary, turns
from tests.store.house import ANN, House
from tests.store.remembered import everything

WORDS = "the zanzibar surprise"
BLOCK = ContextBlock((Section("agent", "[Agent: house]", required=True, stable=True),), WORDS, (), 5)


def said(house: House, text: str = WORDS, **more: object) -> TurnId:
    turn = accepted(house, text, **more).turn
    assert turn is not None
    return turn


def accepted(house: House, text: str, **more: object) -> Accepted:
    return house.accept(text, **{"temporary": True, **more})  # type: ignore[arg-type]


def ended(house: House, turn: TurnId, *, text: str = WORDS, receipt: bool = True) -> None:
    """A turn that was sent, answered, delivered and, if so, received."""
    dispatch = house.sent(turn, block=BLOCK)
    owed = (NewDelivery(house.door.address, DeliveryKind.ANSWER, text, turn),)
    turns.finish(house.db, turn, dispatch, Outcome(TurnState.DONE, text, ("read zanzibar",)), owed, "kai", house.now)
    if receipt:
        received(house)


def received(house: House) -> None:
    for one in deliveries.claim(house.db, house.door.bridge, house.now):
        sent = Receipt(ReceiptOutcome.SENT)
        deliveries.receipt(house.db, one.delivery, house.door.bridge, sent, house.now)


def test_it_is_in_no_history_and_no_search_even_before_it_is_erased(house: House) -> None:
    ended(house, said(house), receipt=False)
    assert messages.recent(house.db, house.main.channel, 99, 10) == ()
    assert search.search(house.db, house.main.channel, "zanzibar", 10) == ()
    assert list(messages.every_said(house.db)) == []


def test_with_the_last_receipt_its_words_leave_the_file_and_the_hashes_stay(house: House) -> None:
    turn = said(house)
    ended(house, turn, receipt=False)
    assert temporary.erase(house.db, house.now).turns == ()  # nobody has it yet
    received(house)
    assert temporary.erase(house.db, house.now).turns == (turn,)
    assert "zanzibar" not in everything(house.db)
    (sent,) = snapshots.dispatches(house.db, turn)
    assert sent.frame_sha256
    block = snapshots.snapshot(house.db, sent.dispatch)
    assert (block.words, snapshots.is_blank(house.db, sent.dispatch)) == (snapshots.BLANK, True)
    assert temporary.erase(house.db, house.now) == temporary.Erased()


def test_what_another_turn_was_sent_as_well_stays_for_that_one(house: House) -> None:
    kept = house.queued()
    dispatch = house.sent(kept, block=replace(BLOCK, words="same words"))
    house.finish(kept, dispatch)
    ended(house, said(house, "same words"))
    temporary.erase(house.db, house.now)
    assert snapshots.snapshot(house.db, dispatch).sections[0].text == "[Agent: house]"


def test_the_same_words_in_two_temporary_turns_are_gone_after_both(house: House) -> None:
    ended(house, said(house))
    temporary.erase(house.db, house.now)
    ended(house, said(house))
    temporary.erase(house.db, house.now)
    assert "zanzibar" not in everything(house.db)


def test_text_that_was_taken_away_is_whole_again_for_who_is_sent_it_later(house: House) -> None:
    ended(house, said(house))
    temporary.erase(house.db, house.now)
    dispatch = house.sent(house.queued(WORDS), block=BLOCK)
    assert snapshots.snapshot(house.db, dispatch).words == WORDS


def test_an_edit_counts_while_it_waits_and_is_erased_with_it(house: House) -> None:
    first = accepted(house, "before", external_id="one")
    assert first.turn is not None
    house.accept("zanzibar after", edit_of="one")
    assert messages.of_turn(house.db, first.turn)[0].text == "zanzibar after"
    ended(house, first.turn)
    temporary.erase(house.db, house.now)
    house.accept("zanzibar too late", edit_of="one")
    assert "zanzibar" not in everything(house.db)


def test_its_files_go_unless_another_message_has_them(house: House) -> None:
    refs = []
    for name in ("one", "two"):
        info = AttachmentInfo(AttachmentRef(name), name, "text/plain", 1, "x", f"/files/{name}")
        attachments.add(house.db, info, ANN, house.now)
        refs.append(info.ref)
    house.accept("kept", attachments=(refs[1],))
    turn = said(house, attachments=tuple(refs))
    house.db.execute("UPDATE turn SET state = 'stopped', ended_at = 1 WHERE turn <> ?", (turn,))
    ended(house, turn)
    assert temporary.erase(house.db, house.now).paths == ("/files/one",)
    assert attachments.get(house.db, refs[1]).path == "/files/two"


def test_a_retry_is_temporary_too_and_after_the_erasure_there_is_nothing_to_retry(house: House) -> None:
    turn = said(house)
    dispatch = house.sent(turn, block=BLOCK)
    failed = Outcome(TurnState.FAILED, reason="zanzibar refused", detail="zanzibar")
    turns.finish(house.db, turn, dispatch, failed, (), "kai", house.now)
    again = turns.retry(house.db, turn, house.now)
    assert again.temporary
    received(house)
    assert temporary.erase(house.db, house.now).turns == ()  # its words are still to be sent
    ended(house, again.turn)
    assert set(temporary.erase(house.db, house.now).turns) == {turn, again.turn}
    assert "zanzibar" not in everything(house.db)
    with pytest.raises(BadInputError, match="erased"):
        turns.retry(house.db, turn, house.now)


def test_a_copy_that_is_kept_holds_nothing_even_of_what_goes_on(house: House) -> None:
    said(house)
    assert temporary.erase(house.db, house.now).turns == ()
    temporary.erase(house.db, house.now, everything=True)
    assert "zanzibar" not in everything(house.db)


def test_a_delivery_that_may_be_lost_promises_nothing_that_is_erased(house: House) -> None:
    turn = said(house)
    ended(house, turn, receipt=False)
    (one,) = deliveries.claim(house.db, house.door.bridge, house.now)
    deliveries.receipt(house.db, one.delivery, house.door.bridge, Receipt(ReceiptOutcome.UNKNOWN), house.now)
    assert temporary.erase(house.db, house.now).turns == ()
    (notice,) = deliveries.claim(house.db, house.door.bridge, house.now)
    assert "kai turn show" not in notice.text
    deliveries.receipt(house.db, notice.delivery, house.door.bridge, Receipt(ReceiptOutcome.SENT), house.now)
    assert temporary.erase(house.db, house.now).turns == (turn,)


def test_a_channel_is_temporary_until_it_is_not(house: House) -> None:
    assert not channels.get(house.db, house.main.channel).temporary
    assert channels.be_temporary(house.db, house.main.channel, on=True)
    assert not channels.be_temporary(house.db, house.main.channel, on=True)
    assert channels.get(house.db, house.main.channel).temporary
    assert channels.be_temporary(house.db, house.main.channel, on=False)
