"""``kai status``."""

import json

from tests.commands.conftest import Kai
from tests.fake_daemon import FakeDaemon

STATUS = {
    "uptime_s": 3.5,
    "pid": 42,
    "sessions": [{"session": "s-1", "backend": "claude", "idle_s": 2.0}],
    "running": [{"turn": "t-1", "state": "running"}],
    "counts": {"turns_queued": 2},
    "config_problems": [],
}


def test_what_runs_is_shown_by_name(kai: Kai, fake: FakeDaemon) -> None:
    fake.canned["GET", "/v1/status"] = (200, STATUS)
    status, out, _ = kai("status")
    assert status == 0
    assert "uptime s  3.5\n" in out
    assert "turns queued: 2" in out
    assert "SESSION  BACKEND  IDLE S\ns-1      claude   2.0\n" in out
    found = json.loads(kai("status", "--json")[1])
    assert (found["running"], found["turns"]) == (True, STATUS["running"])


def test_no_daemon_is_exit_status_1(kai: Kai) -> None:
    status, out, _ = kai("status")
    assert (status, out.startswith("No daemon runs (")) == (1, True)
    assert json.loads(kai("status", "--json")[1])["running"] is False


def test_a_refused_configuration_is_told(kai: Kai, fake: FakeDaemon) -> None:
    fake.canned["GET", "/v1/status"] = (200, {**STATUS, "config_problems": ["kai.yaml:1:1: 'x' is unknown"]})
    status, out, _ = kai("status")
    assert status == 1
    assert "the last good one holds: kai.yaml:1:1: 'x' is unknown" in out
