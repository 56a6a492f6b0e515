"""The environment of an agent."""

import getpass
import os
import pwd
import sys
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kai.model.errors import LaunchError
from kai.model.ids import RunId
from kai.processes.environment import Owner, environment, search_path
from tests.processes.manifests import manifest

SOCKET = Path("/run/kai/agents.sock")


def build(
    home: Path,
    inherited: dict[str, str],
    *,
    permissions: str = "ask",
    os_user: str = "root",
    has_login: bool | None = None,
    **changes: Any,
) -> tuple[dict[str, str], tuple[str, ...]]:
    return environment(
        manifest(**changes),
        run=RunId("r-1"),
        permissions=permissions,
        owner=Owner(os_user, home, "/usr/bin:/bin"),
        socket_path=SOCKET,
        inherited=inherited,
        has_login=has_login,
    )


def test_the_environment_is_built_from_nothing(tmp_path: Path) -> None:
    """Kind of F170: whatever shell the daemon was started in, nothing of it is there that nobody named."""
    stranger = {
        "CLAUDECODE": "1",
        "CLAUDE_CODE_ENTRYPOINT": "cli",
        "KAI_STATE": "/secret",
        "TELEGRAM_TOKEN": "secret",
        "LD_PRELOAD": "/evil.so",
        "NOTIFY_SOCKET": "/run/systemd/notify",
        "CREDENTIALS_DIRECTORY": "/run/credentials",
        "PYTHONPATH": "/x",
        "LC_": "x",
        "HOME": "/daemon",
        "PATH": "/daemon/bin",
        "SHELL": "/bin/daemon",
    }
    env, notes = build(tmp_path, stranger)
    assert env == {
        "HOME": str(tmp_path),
        "USER": "root",
        "LOGNAME": "root",
        "SHELL": pwd.getpwnam("root").pw_shell,
        "PATH": "/usr/bin:/bin",
        "LANG": "C.UTF-8",
        "NO_UPDATE": "1",
        "POLICY": f"/backends/agent/{sys.executable}",
        "MODE": "ask",
        "KAI_RUN": "r-1",
        "KAI_SOCKET": str(SOCKET),
    }
    assert notes == ()


@given(st.dictionaries(st.text(min_size=1), st.text()))
def test_no_variable_gets_in_by_its_own_name(inherited: dict[str, str]) -> None:
    allowed = {"LANG", "LANGUAGE", "TERM", "TZ", "TMPDIR", "AGENT_KEY", "AGENT_HOME", "AGENT_URL"}
    if any(sign in value for value in inherited.values() for sign in "\r\n\0"):
        return
    fixed = set(build(Path("/nowhere"), {})[0])
    found = set(build(Path("/nowhere"), inherited)[0])
    assert {name for name in found - fixed if not name.startswith("LC_")} <= allowed


def test_language_zone_and_terminal_are_passed_on(tmp_path: Path) -> None:
    inherited = {"LC_TIME": "de_DE.UTF-8", "LC_ALL": "C", "TERM": "dumb", "TZ": "Europe/Berlin", "TMPDIR": "/var/tmp"}
    env, _ = build(tmp_path, inherited)
    assert inherited.items() <= env.items()
    assert "LANG" not in env, "a language is chosen only where there is none"


def test_permissions_choose_their_variables(tmp_path: Path) -> None:
    assert build(tmp_path, {}, permissions="bypass")[0]["MODE"] == "all"
    assert build(tmp_path, {}, permissions="ask")[0]["MODE"] == "ask"


def test_a_key_of_the_daemon_is_passed_on_while_there_is_no_login(tmp_path: Path) -> None:
    env, notes = build(tmp_path, {"AGENT_KEY": "secret", "AGENT_URL": ""})
    assert env["AGENT_KEY"] == "secret"
    assert "AGENT_URL" not in env, "an empty variable is not the same as none to every program"
    assert notes == ()


def test_a_key_that_would_override_a_login_is_kept_back_and_said(tmp_path: Path) -> None:
    (tmp_path / ".agent").mkdir()
    (tmp_path / ".agent/auth.json").write_text("{}\n")
    assert "AGENT_KEY" in build(tmp_path, {"AGENT_KEY": "secret"})[0], "what a CLI writes before anybody logs in"
    (tmp_path / ".agent/auth.json").write_text('{"token": "x"}')
    env, notes = build(tmp_path, {"AGENT_KEY": "secret", "AGENT_URL": "http://x"})
    assert "AGENT_KEY" not in env
    assert env["AGENT_URL"] == "http://x"
    assert notes == ("AGENT_KEY is set for the daemon and was kept back: it would override root's own login.",)
    assert "secret" not in notes[0]


def test_where_only_its_owner_can_look_for_the_login_what_they_see_counts(tmp_path: Path) -> None:
    env, notes = build(tmp_path, {"AGENT_KEY": "secret"}, has_login=True)
    assert ("AGENT_KEY" in env, len(notes)) == (False, 1)
    (tmp_path / ".agent").mkdir()
    (tmp_path / ".agent/auth.json").write_text('{"token": "x"}')
    assert build(tmp_path, {"AGENT_KEY": "secret"}, has_login=False)[0]["AGENT_KEY"] == "secret"


def test_a_default_folder_is_never_exported(tmp_path: Path) -> None:
    """Kind of F169: a CLI that is told its default folder looks elsewhere for its login."""
    env, notes = build(tmp_path, {"AGENT_HOME": f"{tmp_path}/.agent/"})
    assert "AGENT_HOME" not in env
    assert "AGENT_HOME" in notes[0]
    env, notes = build(tmp_path, {"AGENT_HOME": "/elsewhere/.agent"})
    assert (env["AGENT_HOME"], notes) == ("/elsewhere/.agent", ())
    env, _ = build(tmp_path, {"AGENT_HOME": str(tmp_path)})
    assert env["AGENT_HOME"] == str(tmp_path), "the home itself is a choice"


@pytest.mark.parametrize("sign", ["\n", "\r", "\0", "\r\n"])
def test_a_key_with_a_line_break_is_refused_now_not_hours_later(tmp_path: Path, sign: str) -> None:
    """Kind of F214: it would surface as a connection error in the middle of a turn."""
    with pytest.raises(LaunchError) as caught:
        build(tmp_path, {"AGENT_KEY": f"top-secret{sign}"})
    assert "AGENT_KEY holds a line break" in caught.value.sentence
    assert "top-secret" not in caught.value.sentence + caught.value.hint + repr(caught.value)
    with pytest.raises(LaunchError, match="LC_ALL"):
        build(tmp_path, {"LC_ALL": f"C{sign}"})


def test_a_user_without_a_shell_gets_a_plain_one(tmp_path: Path) -> None:
    assert build(tmp_path, {}, os_user="no-such-user")[0]["SHELL"] == "/bin/sh"
    without = next((e.pw_name for e in pwd.getpwall() if e.pw_shell.endswith(("nologin", "/false"))), "no-such-user")
    assert build(tmp_path, {}, os_user=without)[0]["SHELL"] == "/bin/sh"


def test_the_daemons_own_environment_is_the_default(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TZ", "Asia/Tokyo")
    owner = Owner(getpass.getuser(), tmp_path, "/bin")
    env, _ = environment(manifest(), run=RunId("r-1"), permissions="ask", owner=owner, socket_path=SOCKET)
    assert env["TZ"] == "Asia/Tokyo"
    monkeypatch.setenv("PATH", "/only/here")
    assert search_path(tmp_path).startswith("/only/here:")


def test_programs_are_looked_up_where_a_person_installs_them(tmp_path: Path) -> None:
    """Kind of F173: a service's PATH has none of the folders that npm, pip and nvm install into."""
    for version in ("v8.17.0", "v20.9.1", "v20.10.0", "iojs-3"):
        (tmp_path / ".nvm/versions/node" / version / "bin").mkdir(parents=True)
    assert search_path(tmp_path, {}).split(":") == [
        f"{tmp_path}/.local/bin",
        f"{tmp_path}/.npm-global/bin",
        f"{tmp_path}/.nvm/versions/node/v20.10.0/bin",
        "/usr/local/bin",
        "/usr/bin",
        "/bin",
    ]


def test_a_relative_place_is_none_and_none_is_named_twice(tmp_path: Path) -> None:
    path = search_path(tmp_path, {"PATH": "/bin::.:node_modules/.bin:/opt/x:/bin:" + str(tmp_path / ".local/bin")})
    assert path.split(":") == [
        "/bin",
        "/opt/x",
        f"{tmp_path}/.local/bin",
        f"{tmp_path}/.npm-global/bin",
        "/usr/local/bin",
        "/usr/bin",
    ]
    assert all(entry.startswith("/") for entry in path.split(os.pathsep))
