"""A beginning that only one id has stands for it; never for what may not be seen."""

import pytest

from kai.model.errors import BadInputError, UnknownThingError
from kai.store import naming
from kai.store.binding import connect

IDS = ("c-abcd", "c-abce", "c-bbbb", "c-%", "c-_x")


def whole(given: str, hidden: tuple[str, ...] = ()) -> str:
    db = connect(":memory:", isolation_level=None)
    db.execute("CREATE TABLE channel (channel TEXT)")
    db.executemany("INSERT INTO channel VALUES (?)", [(one,) for one in IDS])

    def may(one: str) -> None:
        if one in hidden:
            raise UnknownThingError("channel", one)

    try:
        return naming.whole(db, "channel", given, may)
    finally:
        db.close()


@pytest.mark.parametrize(
    ("given", "found"),
    [("c-b", "c-bbbb"), ("c-abcd", "c-abcd"), ("c-abce", "c-abce"), ("c-%", "c-%"), ("c-_", "c-_x")],
)
def test_a_beginning_that_is_ones_own_is_enough(given: str, found: str) -> None:
    assert whole(given) == found


@pytest.mark.parametrize("given", ["", "c", "c-", "main", "c-zzz", "C-B", "bbbb", "c-bbbbb", "' OR 1=1 --", "c-b\0"])
def test_what_begins_none_stays_as_it_is(given: str) -> None:
    assert whole(given) == given


def test_several_that_begin_so_are_named() -> None:
    with pytest.raises(BadInputError, match="2 begin with 'c-a'") as caught:
        whole("c-a")
    assert "c-abcd, c-abce" in caught.value.hint


def test_what_may_not_be_seen_does_not_count() -> None:
    assert whole("c-abc", hidden=("c-abce",)) == "c-abcd"
    assert whole("c-b", hidden=("c-bbbb",)) == "c-b"
