"""What goes into a column comes out the same."""

from dataclasses import dataclass
from datetime import UTC, datetime, timedelta, timezone

from hypothesis import given
from hypothesis import strategies as st

from kai.model.errors import FailureKind
from kai.model.events import Choice, ChoiceKind
from kai.store import columns
from kai.store.binding import Row, connect


@dataclass(frozen=True)
class Thing:
    at: datetime
    maybe_at: datetime | None
    kind: FailureKind | None
    is_open: bool
    lines: tuple[str, ...]
    choices: tuple[Choice, ...]
    count: int


moments = st.datetimes(datetime(1970, 1, 1), datetime(2200, 1, 1), timezones=st.just(UTC))  # noqa: DTZ001
texts = st.text(st.characters(exclude_categories=["Cs"]))
things = st.builds(
    Thing,
    moments,
    st.none() | moments,
    st.none() | st.sampled_from(FailureKind),
    st.booleans(),
    st.lists(texts).map(tuple),
    st.lists(st.builds(Choice, texts, texts, st.sampled_from(ChoiceKind))).map(tuple),
    st.integers(-(2**63), 2**63 - 1),
)


@given(things)
def test_a_thing_survives_its_row(thing: Thing) -> None:
    db = connect(":memory:", isolation_level=None)
    db.row_factory = Row
    db.execute("CREATE TABLE thing (at, maybe_at, kind, is_open, lines, choices, count)")
    columns.insert(db, "thing", **columns.values(thing))
    assert columns.read(Thing, db.execute("SELECT * FROM thing").fetchone()) == thing
    db.close()


@given(moments, moments)
def test_stamps_are_in_the_order_of_their_times(one: datetime, other: datetime) -> None:
    assert (columns.stamp(one) < columns.stamp(other)) is (one < other)


def test_a_time_of_any_zone_is_kept_as_the_same_moment() -> None:
    berlin = datetime(2026, 7, 1, 12, tzinfo=timezone(timedelta(hours=2)))
    assert columns.stamp(berlin) == columns.stamp(datetime(2026, 7, 1, 10, tzinfo=UTC))


def test_no_row_is_nothing() -> None:
    assert columns.maybe(Thing, None) is None


def test_fields_can_be_left_out() -> None:
    choice = Choice("1", "Yes", ChoiceKind.ALLOW_ONCE)
    assert columns.values(choice, "label") == {"key": "1", "kind": ChoiceKind.ALLOW_ONCE}
