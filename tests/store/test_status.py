"""Figures for the status."""

from kai.store import status
from tests.store.house import House


def test_everything_that_waits_is_counted(house: House) -> None:
    turn = house.queued()
    house.queued()
    house.ask(turn, house.sent(turn))
    counts = status.counts(house.db)
    assert counts.pop("bytes") > 0
    assert counts == {
        "people": 2,
        "channels": 1,
        "messages": 2,
        "turns": 2,
        "turns_queued": 1,
        "turns_live": 1,
        "questions_open": 1,
        "deliveries_pending": 1,
        "deliveries_claimed": 0,
        "deliveries_unknown": 0,
        "sessions_live": 1,
        "runs_open": 1,
    }
