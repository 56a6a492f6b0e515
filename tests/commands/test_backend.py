"""``kai backend``."""

import json
import os
from pathlib import Path
from typing import Any

import pytest

from tests.commands.conftest import Kai
from tests.fake_daemon import FakeDaemon
from tests.processes.os_users import needs_root, os_user


def backend(**more: Any) -> dict[str, Any]:
    known = {"id": "claude", "title": "Claude Code", "version": "2.1", "logged_in": True, "problem": "", "login": ""}
    can = {"resume": True, "steer": False, "images": True}
    return {**known, "program": "/usr/bin/claude", "can": can, "tried": True, **more}


def test_backends_are_listed_and_shown(kai: Kai, fake: FakeDaemon) -> None:
    missing = {"program": None, "version": "", "logged_in": None, "problem": "It is not installed.", "tried": False}
    fake.canned["GET", "/v1/backends"] = (200, [backend(), backend(id="goose", **missing)])
    headings, claude, goose = (line.split() for line in kai("backend", "list")[1].splitlines())
    assert headings == ["ID", "INSTALLED", "VERSION", "LOGIN", "CAN", "PROBLEM"]
    assert claude == ["claude", "yes", "2.1", "yes", "resume,", "images", "-"]
    assert goose == ["goose", "no", "-", "-", "untried", "It", "is", "not", "installed."]
    assert json.loads(kai("backend", "show", "claude", "--json")[1])["program"] == "/usr/bin/claude"
    assert (
        kai("backend", "show", "clade")[2]
        == "kai: There is no backend 'clade'.\n     Did you mean 'claude'? Known: claude, goose.\n"
    )


def test_a_check_that_fails_is_exit_status_1_with_what_to_do(kai: Kai, fake: FakeDaemon) -> None:
    fake.canned["POST", "/v1/backends/claude/check"] = (200, {"id": "claude", "problem": "", "hint": "", "ready": True})
    assert kai("backend", "check", "claude")[0] == 0
    found = {"id": "claude", "problem": "It is not logged in.", "hint": "Log in.", "ready": False}
    fake.canned["POST", "/v1/backends/claude/check"] = (200, found)
    assert kai("backend", "check", "claude")[:2] == (1, "claude: It is not logged in.\nLog in.\n")
    assert kai("backend", "check", "claude", "--json")[0] == 1
    broken = {**found, "problem": "It ended.", "hint": "", "stderr": ["It ended", "fatal: no"], "notes": ["Untried."]}
    fake.canned["POST", "/v1/backends/claude/check"] = (200, broken)
    assert kai("backend", "check", "claude")[1] == "claude: It ended.\nfatal: no\nUntried.\n"


@pytest.mark.parametrize(("command", "status"), [("true", 0), ("sh -c 'exit 3'", 1)])
def test_a_login_runs_the_clis_own_command_here(kai: Kai, fake: FakeDaemon, command: str, status: int) -> None:
    fake.canned["GET", "/v1/backends"] = (200, [backend(login=command)])
    assert kai("backend", "login", "claude")[0] == status


def test_a_login_is_looked_for_beside_the_backend_and_a_missing_one_is_named(
    kai: Kai, fake: FakeDaemon, tmp_path: Path
) -> None:
    for name, script in (("toy", "exit 0"), ("toy-login", f"echo $PATH > {tmp_path}/path")):
        (tmp_path / name).write_text(f"#!/bin/sh\n{script}\n")
        (tmp_path / name).chmod(0o755)
    toy = {"program": str(tmp_path / "toy")}
    fake.canned["GET", "/v1/backends"] = (200, [backend(login="toy-login now", **toy)])
    assert kai("backend", "login", "claude")[0] == 0
    assert (tmp_path / "path").read_text().startswith(f"{tmp_path}:")
    fake.canned["GET", "/v1/backends"] = (200, [backend(login="toy-gone now", **toy)])
    status, out, _ = kai("backend", "login", "claude")
    assert (status, "claude: toy-gone is not installed for" in out) == (1, True)


@needs_root
def test_root_logs_a_person_in_as_their_own_os_user_with_nothing_of_roots_own(
    kai: Kai, fake: FakeDaemon, monkeypatch: pytest.MonkeyPatch
) -> None:
    with os_user() as alice:
        own = Path(alice.pw_dir) / ".local/bin"
        own.mkdir(parents=True)
        (own / "toy").write_text('#!/bin/sh\n{ id -un; id -G; pwd; umask; env; } > "$HOME/seen"\n')
        (own / "toy").chmod(0o755)
        monkeypatch.setenv("ROOTS_SECRET", "x")
        fake.canned["GET", "/v1/people/Ann"] = (200, {"os_user": alice.pw_name})
        fake.canned["GET", "/v1/backends"] = (200, [backend(login="toy login", program="/usr/bin/true")])
        fake.canned["POST", "/v1/reload"] = (200, {"loaded": True, "problems": []})
        assert kai("backend", "login", "claude", "--as", "Ann")[0] == 0
        name, groups, folder, umask, *env = (Path(alice.pw_dir) / "seen").read_text().splitlines()
        assert (name, folder, umask) == (alice.pw_name, alice.pw_dir, "0077")
        assert "0" not in groups.split()
        assert f"HOME={alice.pw_dir}" in env
        assert not [line for line in env if "ROOTS_SECRET" in line]


def test_a_login_of_another_os_user_is_not_tried(kai: Kai, fake: FakeDaemon) -> None:
    fake.canned["GET", "/v1/backends"] = (200, [backend(login="false")])
    fake.canned["GET", "/v1/people/Ann"] = (200, {"os_user": "someone-else"})
    status, _, err = kai("backend", "login", "claude", "--as", "Ann")
    assert status == 1
    wanted = "sudo kai backend login claude --as Ann" if os.geteuid() else "There is no OS user 'someone-else'"
    assert wanted in err


def test_a_backend_without_a_login_or_a_program_says_so(kai: Kai, fake: FakeDaemon) -> None:
    fake.canned["GET", "/v1/backends"] = (200, [backend()])
    assert kai("backend", "login", "claude")[:2] == (0, "Claude Code needs no login, or tells of none.\n")
    fake.canned["GET", "/v1/backends"] = (200, [backend(login="true", program=None, problem="It is not installed.")])
    assert kai("backend", "login", "claude")[:2] == (1, "claude: It is not installed.\n")


def test_new_is_among_the_verbs_and_only_loaded_when_it_is_used(kai: Kai) -> None:
    assert "  new " in kai("backend", "--help")[1]
