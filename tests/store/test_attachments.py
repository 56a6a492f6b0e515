"""Rows of attachments."""

from dataclasses import replace

import pytest

from kai.model.errors import UnknownThingError
from kai.model.ids import AttachmentRef, PrincipalId
from kai.model.messages import AttachmentInfo
from kai.model.people import ChannelKind
from kai.store import attachments, channels, messages
from tests.store.house import ANN, BOB, House


def put(house: House, ref: str, principal: PrincipalId | None) -> AttachmentInfo:
    info = AttachmentInfo(AttachmentRef(ref), f"{ref}.jpg", "image/jpeg", 12, "ab" * 32, f"/var/lib/kai/{ref}")
    attachments.add(house.db, info, principal, house.now)
    return info


def test_an_attachment_is_kept_and_found(house: House) -> None:
    info = put(house, "a-1", ANN)
    assert attachments.get(house.db, info.ref) == info
    with pytest.raises(UnknownThingError):
        attachments.get(house.db, AttachmentRef("a-2"))


def test_a_message_carries_its_files_in_order_and_a_page_of_messages_too(house: House) -> None:
    one, two = put(house, "a-1", ANN), put(house, "a-2", None)
    accepted = house.accept("", attachments=(two.ref, one.ref, two.ref))
    house.accept("without")
    assert accepted.message
    assert messages.get(house.db, accepted.message).attachments == (two, one)
    page = messages.recent(house.db, house.main.channel, 100, 10)
    assert [message.attachments for message in page] == [(two, one), ()]


def test_a_file_is_shown_to_its_sender_and_to_who_was_there_when_it_was_sent(house: House) -> None:
    room = channels.create(house.db, ChannelKind.SHARED, "Kitchen", None, (ANN,), house.now)
    house.door = channels.bind(house.db, "telegram", "group", "", room.channel)
    info = put(house, "a-1", ANN)
    house.accept("before", attachments=(info.ref,))
    assert attachments.shown_to(house.db, info.ref, ANN) == info
    channels.join(house.db, room.channel, BOB, house.now)
    with pytest.raises(UnknownThingError):
        attachments.shown_to(house.db, info.ref, BOB)
    house.accept("now", attachments=(info.ref,))
    assert attachments.shown_to(house.db, info.ref, BOB) == info
    channels.leave(house.db, room.channel, BOB, house.now)
    with pytest.raises(UnknownThingError):
        attachments.shown_to(house.db, info.ref, BOB)


def test_a_file_is_old_when_nobody_has_sent_it_lately(house: House) -> None:
    old, again = put(house, "a-1", ANN), put(house, "a-2", ANN)
    border = house.now
    attachments.add(
        house.db, replace(again, ref=AttachmentRef("a-3")), ANN, house.now
    )  # the same bytes at the same path
    assert attachments.older(house.db, border) == (old.path,)


def test_a_file_of_another_person_is_as_unknown_as_none_at_all(house: House) -> None:
    secret = put(house, "a-bob", BOB)
    for ref in (secret.ref, AttachmentRef("a-none")):
        house.db.execute("SAVEPOINT before")
        with pytest.raises(UnknownThingError):
            house.accept("look", attachments=(ref,))
        house.db.execute("ROLLBACK TO before")
