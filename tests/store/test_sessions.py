"""A session is resumed only where it is known to work, and only by whom it belongs to."""

from dataclasses import replace

import pytest

from kai.model.ids import ChannelId, PrincipalId, RunId
from kai.model.people import ChannelKind
from kai.model.states import TurnState
from kai.model.turns import Outcome, SessionRow
from kai.store import channels, sessions
from tests.store.house import ANN, BLOCK, BOB, House


def latest(house: House, **other: str) -> SessionRow | None:
    wanted = {
        "channel": house.main.channel,
        "principal": ANN,
        "backend": "claude",
        "epoch": "e1",
        "workspace": "/home/ann",
        **other,
    }
    return sessions.latest(
        house.db,
        ChannelId(wanted["channel"]),
        PrincipalId(wanted["principal"]),
        wanted["backend"],
        wanted["epoch"],
        wanted["workspace"],
    )


def turn_of(house: House, session: str, outcome: Outcome, *, bare: bool = False) -> None:
    turn = house.queued()
    block = replace(BLOCK, sections=(), bare=True) if bare else BLOCK
    house.finish(turn, house.sent(turn, session, block), outcome)  # type: ignore[arg-type]


@pytest.mark.parametrize("state", [TurnState.DONE, TurnState.STOPPED])
def test_a_turn_that_worked_makes_its_session_resumable(house: House, state: TurnState) -> None:
    session = house.session()
    assert latest(house) is None
    turn_of(house, session, Outcome(state, "text", native_id="native-1"))
    found = latest(house)
    assert found is not None
    assert (found.session, found.native_id, found.turns) == (session, "native-1", 1)


@pytest.mark.parametrize("state", [TurnState.FAILED, TurnState.INTERRUPTED])
def test_an_id_from_a_turn_that_did_not_work_is_not_kept(house: House, state: TurnState) -> None:
    turn_of(house, house.session(), Outcome(state, native_id="native-1"))
    assert latest(house) is None


def test_a_good_id_is_overwritten_by_a_good_one_only(house: House) -> None:
    session = house.session()
    turn_of(house, session, Outcome(TurnState.DONE, "text", native_id="good"))
    turn_of(house, session, Outcome(TurnState.DONE, "text", native_id=""))
    turn_of(house, session, Outcome(TurnState.FAILED, native_id="fresh but unusable"))
    found = latest(house)
    assert found is not None
    assert (found.native_id, found.turns) == ("good", 2)
    turn_of(house, session, Outcome(TurnState.DONE, "text", native_id="better"))
    found = latest(house)
    assert found is not None
    assert found.native_id == "better"


@pytest.mark.parametrize(
    "other",
    [{"principal": BOB}, {"backend": "gemini"}, {"epoch": "e2"}, {"workspace": "/srv"}, {"channel": "c-2"}],
    ids=str,
)
def test_a_session_of_another_person_channel_backend_epoch_or_folder_is_never_resumed(
    house: House, other: dict[str, str]
) -> None:
    turn_of(house, house.session(), Outcome(TurnState.DONE, "text", native_id="native-1"))
    assert latest(house, **other) is None


def test_the_session_used_last_is_resumed(house: House) -> None:
    old, new = house.session(), house.session()
    for session in (new, old, new):
        turn_of(house, session, Outcome(TurnState.DONE, "text", native_id=f"of {session}"))
    found = latest(house)
    assert found is not None
    assert found.session == new
    sessions.touch(house.db, old, house.now)
    found = latest(house)
    assert found is not None
    assert found.session == old


def test_a_lost_session_is_retired_and_an_ended_one_is_not(house: House) -> None:
    session = house.session()
    turn_of(house, session, Outcome(TurnState.DONE, "text", native_id="native-1"))
    sessions.end(house.db, session, "ended")
    assert latest(house) is not None
    turn_of(house, session, Outcome(TurnState.FAILED, session_lost=True))
    assert latest(house) is None
    sessions.end(house.db, session, "ended")
    found = sessions.get(house.db, session)
    assert found is not None
    assert found.state == "retired"


def test_a_new_conversation_retires_every_session_of_its_channel_only(house: House) -> None:
    side = channels.create(house.db, ChannelKind.PRIVATE, "Garden", ANN, (), house.now)
    elsewhere = house.session(channel=side.channel)
    for _ in range(2):
        turn_of(house, house.session(), Outcome(TurnState.DONE, "text", native_id="native-1"))
    assert sessions.retire_all(house.db, house.main.channel) == 2
    assert latest(house) is None
    kept = sessions.get(house.db, elsewhere)
    assert kept is not None
    assert kept.state == "live"


def owed(house: House, session: str) -> bool:
    row = sessions.get(house.db, session)  # type: ignore[arg-type]
    assert row is not None
    return row.compacted


def test_the_session_block_is_owed_from_a_compaction_until_a_turn_with_a_block_worked(house: House) -> None:
    session = house.session()
    turn_of(house, session, Outcome(TurnState.DONE, "text", compacted=True))
    assert owed(house, session)
    turn_of(house, session, Outcome(TurnState.DONE, "text"), bare=True)
    assert owed(house, session)
    turn_of(house, session, Outcome(TurnState.FAILED, "text"))
    assert owed(house, session)
    turn_of(house, session, Outcome(TurnState.DONE, "text"))
    assert not owed(house, session)


def test_a_native_command_as_first_message_leaves_the_session_block_owed(house: House) -> None:
    session = house.session()
    turn_of(house, session, Outcome(TurnState.DONE, "text"), bare=True)
    assert owed(house, session)


def test_opening_a_known_session_again_keeps_its_id_and_turns(house: House) -> None:
    session = house.session()
    turn_of(house, session, Outcome(TurnState.DONE, "text", native_id="native-1"))
    sessions.end(house.db, session, "ended")
    row = sessions.get(house.db, session)
    assert row is not None
    sessions.open(house.db, replace(row, native_id="", turns=0, state="live"))
    again = sessions.get(house.db, session)
    assert again is not None
    assert (again.native_id, again.turns, again.state) == ("native-1", 1, "live")


def test_a_run_is_noted_from_launch_to_end_and_the_first_end_holds(house: House) -> None:
    session, run = house.session(), RunId("r-1")
    sessions.run_started(house.db, run, session, house.now, os_user="ann", pid=4711)
    sessions.run_ended(house.db, run, house.now, signal=9, reason="killed")
    sessions.run_ended(house.db, run, house.now, code=0)
    sessions.end_all(house.db, house.now, "daemon restarted")
    row = house.db.execute("SELECT * FROM run WHERE run = ?", (run,)).fetchone()
    assert (row["os_user"], row["pid"], row["exit_code"], row["exit_signal"]) == ("ann", 4711, None, 9)
    assert row["reason"] == "killed"


def test_at_a_start_no_session_is_live_and_no_run_is_open(house: House) -> None:
    session = house.session()
    sessions.run_started(house.db, RunId("r-1"), session, house.now)
    sessions.end_all(house.db, house.now, "daemon restarted")
    row = sessions.get(house.db, session)
    assert row is not None
    assert row.state == "ended"
    assert house.db.execute("SELECT count(*) FROM run WHERE ended_at IS NULL").fetchone()[0] == 0
