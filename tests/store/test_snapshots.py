"""The exact block of every dispatch comes back byte for byte; each distinct text is stored once."""

from datetime import timedelta

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from kai.model.context import ContextBlock, Disposition, Section, Verdict
from kai.model.errors import UnknownThingError
from kai.model.ids import DispatchId
from kai.model.states import DispatchState, TurnState
from kai.model.turns import Outcome
from kai.store import snapshots, turns
from tests.store.house import ANN, START, House

texts = st.text(st.characters(exclude_categories=["Cs"])) | st.sampled_from(["\0", "a\r\nb", "\u2028", "\u202eabc", ""])
sections = st.builds(Section, st.sampled_from(["agent", "session", "words"]), texts, st.booleans(), st.booleans())
dispositions = st.builds(
    Disposition,
    texts,
    texts,
    texts,
    st.integers(0, 9),
    st.integers(0, 10**6),
    st.integers(0, 10**6),
    st.sampled_from(Verdict),
    texts,
)
blocks = st.builds(
    ContextBlock,
    st.lists(sections, max_size=5).map(tuple),
    texts,
    st.lists(dispositions, max_size=5).map(tuple),
    st.integers(0, 10**6),
    st.booleans(),
)


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], deadline=None)
@given(blocks)
def test_a_snapshot_gives_back_the_very_block(house: House, block: ContextBlock) -> None:
    turn = house.queued()
    dispatch = house.begin(turn, block=block)
    kept = snapshots.snapshot(house.db, dispatch)
    assert kept == block
    assert kept.text.encode() == block.text.encode()
    assert snapshots.dispositions(house.db, dispatch) == block.dispositions
    house.finish(turn, dispatch)


def blobs(house: House) -> int:
    count: int = house.db.execute("SELECT count(*) FROM blob").fetchone()[0]
    return count


def turn_with(house: House, *parts: str) -> DispatchId:
    sections = tuple(Section(str(at), text, True, stable=at == 0) for at, text in enumerate(parts))
    block = ContextBlock(sections, "words", (), 1)
    turn = house.queued()
    dispatch = house.sent(turn, block=block)
    house.finish(turn, dispatch)
    return dispatch


def test_a_text_that_goes_along_every_time_is_stored_once(house: House) -> None:
    for at in range(5):
        turn_with(house, "the agent section " * 100, f"the clock says {at}")
    assert blobs(house) == 1


def test_a_stored_text_is_small(house: House) -> None:
    turn_with(house, "the agent section " * 1000)
    turn_with(house, "", "the session section " * 1000)
    lengths = "SELECT max(length(packed)), max(length(texts)) FROM blob, snapshot"
    assert max(house.db.execute(lengths).fetchone()) < 1000


DAY = 24 * 60  # minutes


def test_purging_erases_old_texts_and_keeps_what_newer_snapshots_share(house: House) -> None:
    old = turn_with(house, "shared", "only in the old one")
    turn_with(house, "only in another old one")
    house.minutes += 2 * DAY
    new = turn_with(house, "shared", "only in the new one")
    before = START + timedelta(days=1)
    assert snapshots.purge(house.db, before) == 2
    assert snapshots.purge(house.db, before) == 0
    with pytest.raises(UnknownThingError):
        snapshots.snapshot(house.db, old)
    assert snapshots.dispositions(house.db, old) == ()
    assert snapshots.dispatch(house.db, old).frame_sha256 == "f" * 64
    assert [section.text for section in snapshots.snapshot(house.db, new).sections] == ["shared", "only in the new one"]
    assert blobs(house) == 1
    assert house.db.execute("SELECT count(*) FROM snapshot").fetchone()[0] == 1


def test_a_shared_text_stays_as_long_as_one_that_is_not_over_may_have_used_it(house: House) -> None:
    block = ContextBlock((Section("agent", "shared", True, True),), "words", (), 1)
    live = house.sent(house.queued(), block=block)
    house.minutes += 9 * DAY
    assert snapshots.purge(house.db, START + timedelta(days=5)) == 0
    assert snapshots.snapshot(house.db, live) == block


def test_erasing_takes_the_texts_that_no_other_snapshot_has(house: House) -> None:
    secret, other = turn_with(house, "a secret", "more"), turn_with(house, "common")
    again = turn_with(house, "common")
    held = snapshots.holding(house.db, [], ANN, {"secret"})
    assert held == [secret]
    snapshots.erase(house.db, [*held, again])
    assert blobs(house) == 1
    assert snapshots.snapshot(house.db, other).sections[0].text == "common"
    with pytest.raises(UnknownThingError):
        snapshots.snapshot(house.db, secret)


def test_purging_goes_in_steps_and_spares_what_is_not_over(house: House) -> None:
    for at in range(5):
        turn_with(house, str(at))
    live = house.sent(house.queued())
    late = START + timedelta(days=9)
    steps = [snapshots.purge(house.db, late, limit=2) for _ in range(4)]
    assert steps == [2, 2, 1, 0]
    assert snapshots.snapshot(house.db, live).words == "words"


def test_attempts_are_listed_first_to_last(house: House) -> None:
    turn = house.queued()
    first = house.sent(turn)
    turns.settle(house.db, first, house.now)
    second = house.begin(turn)
    listed = snapshots.dispatches(house.db, turn)
    assert [dispatch.dispatch for dispatch in listed] == [first, second]
    assert [dispatch.state for dispatch in listed] == [DispatchState.SETTLED, DispatchState.PREPARED]
    assert [dispatch.fresh for dispatch in listed] == [True, False]
    assert listed[0].sent_at is not None
    house.finish(turn, second, Outcome(TurnState.STOPPED))
    assert snapshots.dispatch(house.db, second).state is DispatchState.SETTLED


def test_all_that_a_session_was_sent_is_listed(house: House) -> None:
    session = house.session()
    first, second = house.queued(), house.queued()
    for turn in (first, second):
        house.finish(turn, house.sent(turn, session))
    other = house.queued()
    house.finish(other, house.sent(other))
    assert [dispatch.turn for dispatch in snapshots.of_session(house.db, session)] == [first, second]


def test_what_is_not_there_is_said_to_be_unknown(house: House) -> None:
    for give in (snapshots.snapshot, snapshots.dispatch):
        with pytest.raises(UnknownThingError):
            give(house.db, DispatchId("d-none"))
