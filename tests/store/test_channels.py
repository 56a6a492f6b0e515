"""Channels, membership intervals, addresses, seats."""

from datetime import timedelta

import pytest

from kai.model.errors import DeniedError, UnknownThingError
from kai.model.ids import AddressId, ChannelId
from kai.model.people import ChannelKind
from kai.store import channels
from tests.store.house import ANN, BOB, START, House


def test_a_person_has_one_own_conversation_however_often_it_is_asked_for(house: House) -> None:
    again = channels.private_of(house.db, ANN, house.now)
    assert again == house.main
    assert (again.kind, again.owner, again.members) == (ChannelKind.PRIVATE, ANN, (ANN,))


def test_nobody_else_joins_a_persons_own_conversation(house: House) -> None:
    with pytest.raises(DeniedError):
        channels.join(house.db, house.main.channel, BOB, house.now)
    assert channels.get(house.db, house.main.channel).members == (ANN,)


def test_a_private_channel_is_shared_while_it_has_a_second_member(house: House) -> None:
    side = channels.create(house.db, ChannelKind.PRIVATE, "Garden", ANN, (), house.now)
    assert side.kind is ChannelKind.PRIVATE
    channels.join(house.db, side.channel, BOB, house.now)
    assert channels.get(house.db, side.channel).kind is ChannelKind.SHARED
    channels.leave(house.db, side.channel, BOB, house.now)
    assert channels.get(house.db, side.channel).kind is ChannelKind.PRIVATE


def test_a_shared_channel_with_one_member_left_stays_shared(house: House) -> None:
    room = channels.create(house.db, ChannelKind.SHARED, "Kitchen", None, (ANN, BOB), house.now)
    channels.leave(house.db, room.channel, BOB, house.now)
    left = channels.get(house.db, room.channel)
    assert (left.kind, left.members, left.owner) == (ChannelKind.SHARED, (ANN,), None)


def test_channels_are_listed_and_found_for_their_members_only(house: House) -> None:
    room = channels.create(house.db, ChannelKind.SHARED, "Kitchen", None, (ANN, BOB), house.now)
    assert [channel.title for channel in channels.of(house.db, ANN)] == ["main", "Kitchen"]
    assert channels.of(house.db, BOB) == (room,)
    assert channels.by_title(house.db, BOB, "kitchen") == room
    channels.leave(house.db, room.channel, BOB, house.now)
    assert channels.by_title(house.db, BOB, "kitchen") is None
    assert len(channels.every(house.db)) == 2


def test_the_audience_of_a_message_is_who_was_there_even_when_the_clock_jumped(house: House) -> None:
    room = channels.create(house.db, ChannelKind.SHARED, "Kitchen", None, (ANN,), START)
    house.door = channels.bind(house.db, "telegram", "group", "", room.channel)
    before = house.accept("before").message
    channels.join(house.db, room.channel, BOB, START - timedelta(hours=1))  # the clock was set back
    between = house.accept("between").message
    channels.leave(house.db, room.channel, BOB, START - timedelta(hours=2))
    after = house.accept("after").message
    assert before
    assert between
    assert after
    assert channels.audience(house.db, before) == {ANN}
    assert channels.audience(house.db, between) == {ANN, BOB}
    assert channels.audience(house.db, after) == {ANN}


def test_joining_twice_and_leaving_twice_change_nothing(house: House) -> None:
    room = channels.create(house.db, ChannelKind.SHARED, "Kitchen", None, (ANN, ANN), START)
    for _ in range(2):
        channels.join(house.db, room.channel, ANN, START)
    assert channels.get(house.db, room.channel).members == (ANN,)
    for _ in range(2):
        channels.leave(house.db, room.channel, ANN, START)
        channels.join(house.db, room.channel, ANN, START)  # within the same microsecond
        channels.leave(house.db, room.channel, ANN, START)
    assert channels.get(house.db, room.channel).members == ()


def test_the_same_chat_on_two_bridges_is_two_addresses_and_may_be_one_channel(house: House) -> None:
    other = channels.bind(house.db, "matrix", "chat-1", "", house.main.channel)
    assert other.address != house.door.address
    assert other.channel == house.door.channel
    assert channels.address(house.db, "matrix", "chat-1", "") == other
    assert channels.address(house.db, "matrix", "chat-1", "thread") is None
    assert channels.address_of(house.db, other.address) == other


def test_an_address_keeps_its_id_when_it_is_bound_anew(house: House) -> None:
    side = channels.create(house.db, ChannelKind.PRIVATE, "Garden", ANN, (), house.now)
    moved = channels.bind(house.db, house.door.bridge, house.door.chat, house.door.thread, side.channel)
    assert (moved.address, moved.channel) == (house.door.address, side.channel)


def test_a_seat_is_made_once(house: House) -> None:
    seat = channels.seat(house.db, "ann", house.main.channel, "/home/ann", "house", house.now)
    assert channels.seat(house.db, "ann", house.main.channel, "/home/ann", "house", house.now) == seat
    assert channels.seat(house.db, "ann", house.main.channel, "/srv", "house", house.now).seat != seat.seat


def test_what_is_not_there_is_said_to_be_unknown(house: House) -> None:
    nowhere = ChannelId("c-nowhere")
    with pytest.raises(UnknownThingError):
        channels.get(house.db, nowhere)
    with pytest.raises(UnknownThingError):
        channels.join(house.db, nowhere, ANN, house.now)
    with pytest.raises(UnknownThingError):
        channels.address_of(house.db, AddressId("x-nowhere"))
