"""A result never changes, is read by ranges, and is for whoever is there while all of them were there then."""

from datetime import timedelta
from typing import Any

import pytest

from kai.model.errors import BadInputError, UnknownThingError
from kai.model.people import Channel, ChannelKind
from kai.model.work import Result
from kai.store import channels, results
from kai.store.binding import IntegrityError
from tests.store.house import ANN, BOB, START, House


def kept(house: House, body: Any = "x", where: Channel | None = None, **more: Any) -> Result:
    given = {"producer": "history_search", "source": "pump", **more}
    return results.keep(house.db, where or house.main, ANN, None, house.now, body=body, **given)


def test_items_and_texts_are_read_by_ranges_to_the_end(house: House) -> None:
    listed, text = kept(house, list(range(50)), returned=20), kept(house, "0123456789", returned=4)
    assert (listed.unit, listed.returned, listed.total) == ("items", 20, 50)
    assert results.part(listed, 21, 100) == (list(range(20, 50)), None)
    assert results.part(listed, 1, 30) == (list(range(30)), 31)
    assert results.part(text, 5, 3) == ("456", 8)
    assert results.part(text, 99, 3) == ("", None)


def test_it_never_changes_and_a_newer_one_names_it(house: House) -> None:
    first = kept(house, "old")
    second = kept(house, "new")
    assert (second.previous, second.ref != first.ref) == (first.ref, True)
    assert results.get(house.db, first.ref, house.main).items == '"old"'
    with pytest.raises(IntegrityError, match="never changes"):
        house.db.execute("UPDATE result SET items = '1' WHERE ref = ?", (first.ref,))


def test_it_is_for_its_own_channel_alone(house: House) -> None:
    ref = kept(house).ref
    for channel in (
        channels.private_of(house.db, BOB, house.now),
        channels.create(house.db, ChannelKind.PRIVATE, "other", ANN, (ANN,), house.now),
    ):
        with pytest.raises(UnknownThingError):
            results.get(house.db, ref, channel)


def test_somebody_joining_is_silence(house: House) -> None:
    room = channels.create(house.db, ChannelKind.SHARED, "room", None, (ANN,), house.now)
    made = kept(house, ["a", "b"], room, returned=1)
    channels.join(house.db, room.channel, BOB, house.now)
    now = channels.get(house.db, room.channel)
    assert results.recent(house.db, now) == ()
    with pytest.raises(UnknownThingError):
        results.get(house.db, made.ref, now)
    channels.leave(house.db, room.channel, BOB, house.now)
    assert [one.ref for one in results.recent(house.db, channels.get(house.db, room.channel))] == [made.ref]


def test_only_what_goes_on_and_is_kept_is_named(house: House) -> None:
    goes_on = kept(house, ["a", "b"], returned=1)
    kept(house, ["a"])
    kept(house, ["a", "b"], returned=1, temporary=True)
    assert [one.ref for one in results.recent(house.db, house.main)] == [goes_on.ref]


def test_what_is_too_large_is_refused_and_what_is_old_goes(house: House) -> None:
    with pytest.raises(BadInputError, match="8 MB"):
        kept(house, "x" * (9 * 1024 * 1024))
    first, second = kept(house, "1"), kept(house, "2")
    assert results.drop_old(house.db, START) == 0
    results.drop_old(house.db, house.now + timedelta(days=1))
    results.drop_old(house.db, house.now + timedelta(days=1))
    for one in (first, second):
        with pytest.raises(UnknownThingError):
            results.whole(house.db, one.ref)
