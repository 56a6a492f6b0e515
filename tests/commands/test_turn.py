"""``kai turn``."""

import json

from tests.commands.conftest import Kai
from tests.fake_daemon import FakeDaemon, end_row

TURN = {
    "turn": "t-9",
    "state": "failed",
    "failure": "quota",
    "backend": "claude",
    "queued_at": "2026-11-30T12:00:00+00:00",
    "text": "What\nnow?",
    "reason": "A usage limit was met.",
}
WHOLE = {
    **TURN,
    "answer_text": "Half \x1b[31man answer",
    "tool_lines": ["read x.py: ok"],
    "dispatches": [
        {
            "attempt": 1,
            "state": "settled",
            "dispatch": "d-1",
            "backend": "fake",
            "model": "m-7",
            "epoch": "e" * 64,
            "session": "s-1",
            "fresh": True,
            "sent_at": "2026-11-30T00:00:00+00:00",
            "settled_at": None,
        }
    ],
    "questions": [{"ask": "q-1", "title": "Run it?"}],
}


def test_turns_are_listed_with_the_reason_of_every_failure(kai: Kai, fake: FakeDaemon) -> None:
    fake.canned["GET", "/v1/turns"] = (200, [TURN])
    status, out, _ = kai("turn", "list", "--channel", "garden", "--limit", "7")
    assert status == 0
    assert "failed (quota)" in out
    assert "What now?" in out
    assert "A usage limit was met." in out
    assert fake.asked[-1].query == {"channel": ["garden"], "limit": ["7"]}
    assert json.loads(kai("turn", "list", "--json")[1]) == [TURN]


def test_a_turn_is_shown_whole_and_without_a_name_it_is_the_newest(kai: Kai, fake: FakeDaemon) -> None:
    fake.canned["GET", "/v1/turns"] = (200, [TURN])
    fake.canned["GET", "/v1/turns/t-9"] = (200, WHOLE)
    status, out, _ = kai("turn", "show")
    assert status == 0
    for part in (
        "> What\nnow?\n",
        "· read x.py: ok\n",
        "Half an answer\n",
        "q-1",
        "attempt 1  settled; fake m-7; a fresh session s-1; sent 20",
    ):
        assert part in out
    assert json.loads(kai("turn", "show", "t-9", "--json")[1]) == WHOLE


def test_where_there_is_no_turn_yet_that_is_said(kai: Kai, fake: FakeDaemon) -> None:
    fake.canned["GET", "/v1/turns"] = (200, [])
    assert kai("turn", "list") == (0, "No turn yet.\n", "")
    assert kai("turn", "show") == (1, "", "kai: There is no turn 'last'.\n")


def test_a_turn_is_stopped_and_run_again(kai: Kai, fake: FakeDaemon) -> None:
    fake.canned["POST", "/v1/turns/t-9/retry"] = (202, {"turn": "t-10"})
    fake.tell("t-9")
    assert kai("turn", "stop", "t-9")[1] == "Stopped after 0.1 s (interrupt); the session is kept.\n"
    said = "Queued as t-10; the answer goes where the message came from.\n"
    assert kai("turn", "retry", "t-9", "--no-wait") == (0, said, "")
    assert json.loads(kai("turn", "retry", "t-9", "--no-wait", "--json")[1]) == {"turn": "t-10"}
    fake.tell("t-10", end_row("The answer."))
    status, out, _ = kai("turn", "retry", "t-9")
    assert (status, out) == (0, "The answer.\n")
    assert fake.unconfirmed() == []
