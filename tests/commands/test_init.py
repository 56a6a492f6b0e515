"""``kai init``."""

import json
from pathlib import Path

from kai.commands.show import own_command
from tests.commands.conftest import Kai
from tests.fake_daemon import FakeDaemon

ANN = {"principal": "p-ann", "name": "Ann", "os_user": "ann", "is_you": True}


def test_the_first_run_writes_a_config_that_sets_nothing_and_says_what_is_next(
    kai: Kai, fake: FakeDaemon, folders: list[str]
) -> None:
    fake.canned["GET", "/v1/people"] = (200, [ANN])
    status, out, _ = kai("init")
    file = Path(folders[1], "kai.yaml")
    assert status == 0
    assert out.startswith(f"wrote  {file}\n")
    assert "found  Offline agent" in out
    assert "you    Ann (OS user ann)" in out
    assert f"Next: '{own_command()} chat' to talk" in out
    assert all(not line or line.lstrip().startswith("#") for line in file.read_text().split("\n"))
    assert "#backend: auto\n" in file.read_text()
    assert kai("check-config")[0] == 0


def test_the_second_run_overwrites_nothing(kai: Kai, fake: FakeDaemon, folders: list[str]) -> None:
    fake.canned["GET", "/v1/people"] = (200, [ANN])
    Path(folders[1], "kai.yaml").write_text("agent: house\n")
    found = json.loads(kai("init", "--json")[1])
    assert (found["is_new"], found["person"]) == (False, ANN)
    assert Path(folders[1], "kai.yaml").read_text() == "agent: house\n"


def test_the_first_person_gets_the_name_that_is_given(kai: Kai, fake: FakeDaemon) -> None:
    fake.canned["GET", "/v1/people"] = (200, [ANN])
    fake.canned["PATCH", "/v1/people/p-ann"] = (200, {**ANN, "name": "Anna"})
    assert "you    Anna" in kai("init", "--name", "Anna")[1]
    fake.canned["GET", "/v1/people"] = (200, [])
    fake.canned["POST", "/v1/people"] = (201, {**ANN, "name": "Bo"})
    assert "you    Bo" in kai("init", "--name", "Bo")[1]


def test_who_was_removed_is_made_anew_and_not_taken_for_another(kai: Kai, fake: FakeDaemon) -> None:
    fake.canned["GET", "/v1/people"] = (200, [{**ANN, "is_you": False}])
    fake.canned["POST", "/v1/people"] = (201, {**ANN, "name": "Bo"})
    assert "you    Bo" in kai("init", "--name", "Bo")[1]
