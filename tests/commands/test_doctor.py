"""``kai doctor``."""

import json
from pathlib import Path

from tests.commands.conftest import Kai
from tests.fake_daemon import FakeDaemon

FINDING = {"name": "sqlite-old", "problem": "SQLite 3.40 can lose pages", "mend": "Install pysqlite3."}


def test_without_findings_everything_is_well(kai: Kai, fake: FakeDaemon) -> None:
    fake.canned["GET", "/v1/doctor"] = (200, [])
    assert kai("doctor") == (0, "Everything is well.\n", "")
    assert kai("doctor", "--json") == (0, "[]\n", "")


def test_every_finding_has_a_name_and_its_mend(kai: Kai, fake: FakeDaemon) -> None:
    fake.canned["GET", "/v1/doctor"] = (200, [FINDING])
    assert kai("doctor") == (1, "sqlite-old: SQLite 3.40 can lose pages\n    Install pysqlite3.\n", "")
    assert json.loads(kai("doctor", "--json")[1]) == [FINDING]


def test_a_bad_configuration_is_a_finding(kai: Kai, folders: list[str]) -> None:
    Path(folders[1], "kai.yaml").write_text("agnet: x\n")
    status, out, _ = kai("doctor")
    assert status == 1
    assert out.startswith("config: ")
    assert "kai.yaml:1:1" in out


def test_a_state_folder_that_others_may_write_in_is_a_finding(kai: Kai, folders: list[str]) -> None:
    Path(folders[3]).chmod(0o777)
    status, out, _ = kai("doctor")
    assert (status, out.split(":")[0]) == (1, "folders")


def test_a_daemon_that_refuses_is_a_finding(kai: Kai, fake: FakeDaemon) -> None:
    fake.canned["GET", "/v1/doctor"] = (503, {"title": "x", "detail": "The disk is full.", "hint": "Make room."})
    assert kai("doctor") == (1, "daemon: The disk is full.\n    Make room.\n", "")
