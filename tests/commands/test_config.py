"""``kai config``."""

import json
from pathlib import Path

from tests.commands.conftest import Kai
from tests.fake_daemon import FakeDaemon


def test_every_setting_is_shown_and_with_why_where_it_comes_from(kai: Kai, folders: list[str]) -> None:
    file = Path(folders[1], "kai.yaml")
    file.write_text("permissions: bypass\n")
    plain, why = kai("config", "show")[1], kai("config", "show", "--why")[1]
    assert plain.startswith("SETTING")
    line = next(line for line in why.splitlines() if line.startswith("permissions"))
    assert line.split() == ["permissions", "bypass", f"{file}:1:14"]
    assert next(line for line in why.splitlines() if line.startswith("backend")).split() == [
        "backend",
        "auto",
        "default",
    ]
    found = {one["setting"]: one for one in json.loads(kai("config", "show", "--json")[1])}
    assert found["folder.config"] == {"setting": "folder.config", "value": folders[1], "source": "flag"}


def test_a_bad_configuration_is_an_error_with_its_position(kai: Kai, folders: list[str]) -> None:
    Path(folders[1], "kai.yaml").write_text("agnet: x\n")
    status, out, err = kai("config", "show")
    assert (status, out) == (1, "")
    assert "kai.yaml:1:1" in err


HELD = {
    "settings": [
        {"setting": "permissions", "value": "ask", "source": "default"},
        {"setting": "backend", "value": "auto", "source": "default"},
        {"setting": "persons.ann.zone", "value": "UTC", "source": "people.yaml:1:1"},
    ],
    "changed": ["kai.yaml"],
    "problems": [],
}


def test_a_running_daemon_says_what_is_in_force_and_where_the_file_says_otherwise(
    kai: Kai, fake: FakeDaemon, folders: list[str]
) -> None:
    Path(folders[1], "kai.yaml").write_text("permissions: bypass\n")
    fake.canned["GET", "/v1/config"] = 200, HELD
    status, out, _ = kai("config", "show", "--why")
    assert status == 0
    shown = {line.split()[0]: line for line in out.splitlines() if line.strip()}
    assert "ask (the file says bypass, and was not read)" in shown["permissions"]
    assert "auto" in shown["backend"]
    assert "the file says" not in shown["backend"]
    assert "UTC (the file says -, and was not read)" in shown["persons.ann.zone"]
    assert "has not read kai.yaml as it is now: 'kai reload'" in out
    status, out, err = kai("config", "show", "--json")
    found = {one["setting"]: one for one in json.loads(out)}
    assert found["permissions"]["in_file"] == "bypass"
    assert "in_file" not in found["backend"]
    assert "kai reload" in err


def test_a_file_that_the_daemon_refused_is_told_beside_what_is_in_force(
    kai: Kai, fake: FakeDaemon, folders: list[str]
) -> None:
    Path(folders[1], "kai.yaml").write_text("agnet: x\n")
    fake.canned["GET", "/v1/config"] = 200, {**HELD, "problems": ["kai.yaml:1:1: agnet: no such setting"]}
    status, out, _ = kai("config", "show")
    assert status == 1
    assert "permissions" in out
    assert "The file is refused, the last good configuration is in force: kai.yaml:1:1" in out


def test_who_may_not_know_what_is_in_force_sees_what_the_files_say(kai: Kai, fake: FakeDaemon) -> None:
    fake.canned["GET", "/v1/config"] = 403, {"title": "Not allowed", "status": 403, "detail": "no", "hint": ""}
    status, out, _ = kai("config", "show", "--why")
    assert status == 0
    assert "permissions" in out
