"""Is it installed, new enough, logged in: with real programs, and none that can hold us up."""

import os
import sys
import time
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path

import pytest

from kai.catalog.discover import Installed, Versions, discover, is_older, login_state, run_program
from kai.model.backends import LaunchPlan, Login, Manifest, ProtocolName

MANIFEST = Manifest(
    "toy",
    "Toy",
    ProtocolName.ACP,
    LaunchPlan("toy", ()),
    "/nowhere",
    version_min="2.1.9",
    install="npm install -g toy",
    login=Login(files=(".toy/login.json",), env=("TOY_KEY",)),
)


@pytest.fixture
def home(tmp_path: Path) -> Path:
    (tmp_path / "home").mkdir()
    return tmp_path / "home"


def _program(folder: Path, script: str, name: str = "toy") -> str:
    folder.mkdir(exist_ok=True)
    (folder / name).write_text(f"#!/bin/sh\n{script}\n")
    (folder / name).chmod(0o755)
    return f"{folder}:/usr/bin:/bin"


def test_what_is_not_installed_says_how_to_install_it(tmp_path: Path, home: Path) -> None:
    found = discover(MANIFEST, path=str(tmp_path), home=home, env={})
    assert found == Installed(None, "", False, "toy is not installed; install it with: npm install -g toy")


def test_program_version_and_login_are_found(tmp_path: Path, home: Path) -> None:
    path = _program(tmp_path / "bin", "echo 'toy 2.1.10 (Toy Code)'")
    (home / ".toy").mkdir()
    (home / ".toy/login.json").write_text('{"a": 1}')
    found = discover(MANIFEST, path=path, home=home, env={})
    assert found == Installed(str(tmp_path / "bin/toy"), "2.1.10", True, "")


def test_the_program_behind_a_script_is_taken_where_it_is_found(tmp_path: Path, home: Path) -> None:
    """As npm leaves it: a link in a folder on the PATH, to a script in one package, beside the program in another."""
    script = tmp_path / "modules/@toy/toy/bin/toy.js"
    script.parent.mkdir(parents=True)
    script.write_text("#!/bin/sh\necho 9.0.0\n")
    script.chmod(0o755)
    (tmp_path / "bin").mkdir()
    (tmp_path / "bin/toy").symlink_to(script)
    path = f"{tmp_path}/bin:/usr/bin:/bin"
    native = replace(MANIFEST, launch=replace(MANIFEST.launch, native=("../native/toy", "../../toy-*/bin/toy")))
    assert discover(native, path=path, home=home, env={}).program == str(tmp_path / "bin/toy")
    (tmp_path / "modules/@toy/toy-x64").mkdir()
    _program(tmp_path / "modules/@toy/toy-x64/bin", "echo 9.9.9")
    found = discover(native, path=path, home=home, env={})
    assert (found.program, found.version) == (str(tmp_path / "modules/@toy/toy-x64/bin/toy"), "9.9.9")
    (tmp_path / "modules/@toy/toy-x64/bin/toy").chmod(0o644)
    assert discover(native, path=path, home=home, env={}).version == "9.0.0"


def test_an_old_version_is_told_with_what_is_needed(tmp_path: Path, home: Path) -> None:
    path = _program(tmp_path / "bin", "echo 2.1.8")
    found = discover(MANIFEST, path=path, home=home, env={})
    assert (found.version, found.logged_in, found.too_old) == ("2.1.8", False, True)
    assert "tells version 2.1.8; 2.1.9 or newer is needed; install it with" in found.problem


@pytest.mark.parametrize(
    ("node", "told"),
    [
        ("v22.18.1", "node is 22.18.1"),
        ("v20.20.2", "node is 20.20.2"),
        ("nonsense", "node is of an unknown version"),
        ("", "there is none on "),
        ("v22.19.0", ""),
        ("v24.1.0", ""),
    ],
)
def test_a_node_that_is_too_old_is_named_with_the_mend_before_the_script_is_started(
    tmp_path: Path, home: Path, node: str, told: str
) -> None:
    folder = tmp_path / "bin"
    _program(folder, "echo 9.9.9")
    script = folder / "toy"
    script.write_text(f"#!/usr/bin/env node\n// {script.read_text()}")
    if node:  # which tells its own version, and as the script's interpreter that of the script
        _program(folder, f'[ "$1" = --version ] && echo {node} || echo 9.9.9', name="node")
    path = f"{folder}:{tmp_path}/none"
    manifest = replace(MANIFEST, node_min="22.19")
    (folder / "sh").symlink_to("/bin/sh")
    found = discover(manifest, path=path, home=home, env={})
    if told:
        assert f"{script} needs Node 22.19 or newer, and " in found.problem
        assert told in found.problem
        assert "install a newer one, and put its folder first on the PATH" in found.problem
        assert found.too_old
    else:
        assert (found.problem, found.version) == ("", "9.9.9")


def test_a_program_that_is_no_script_for_node_needs_none(tmp_path: Path, home: Path) -> None:
    path = _program(tmp_path / "bin", "echo 9.9.9")
    assert discover(replace(MANIFEST, node_min="22.19"), path=path, home=home, env={}).problem == ""


def test_a_program_that_cannot_start_is_told_in_its_own_words(tmp_path: Path, home: Path) -> None:
    path = _program(tmp_path / "bin", "echo \"env: 'node': No such file or directory\" >&2; exit 127")
    found = discover(MANIFEST, path=path, home=home, env={})
    assert "env: 'node': No such file or directory" in found.problem
    assert not found.too_old, "where no version is told nothing is known of its age"
    (tmp_path / "bin/toy").write_text("#!/nowhere/at/all\n")
    assert "cannot be run" in discover(MANIFEST, path=path, home=home, env={}).problem


def test_the_version_is_asked_in_a_clean_environment_with_the_backends_own_variables(
    tmp_path: Path, home: Path
) -> None:
    path = _program(tmp_path / "bin", "echo 3.0.0; env > $HOME/env; pwd >> $HOME/env; cat >> $HOME/env")
    launch = replace(MANIFEST.launch, set_env=(("QUIET", "{backend_dir}/q"),))
    found = discover(replace(MANIFEST, launch=launch), path=path, home=home, env={"SECRET": "x"})
    assert found.problem == ""
    seen = dict(line.split("=", 1) for line in (home / "env").read_text().splitlines() if "=" in line)
    assert seen["QUIET"] == "/nowhere/q"
    assert not {"SECRET", "CLAUDECODE", "VIRTUAL_ENV"} & set(seen)
    assert "/" in (home / "env").read_text().splitlines()


def test_another_program_can_be_named_by_a_variable(tmp_path: Path, home: Path) -> None:
    _program(tmp_path / "bin", "echo 9.9.9", name="other")
    manifest = replace(MANIFEST, launch=replace(MANIFEST.launch, program_env="KAI_TOY"))
    env = {"KAI_TOY": str(tmp_path / "bin/other")}
    assert discover(manifest, path="/usr/bin:/bin", home=home, env=env).version == "9.9.9"


def test_python_and_the_backends_folder_are_filled_in(tmp_path: Path, home: Path) -> None:
    (tmp_path / "agent.py").write_text("print('agent 1.2')")
    manifest = replace(
        MANIFEST,
        launch=LaunchPlan("{python}", ()),
        version_argv=("{backend_dir}/agent.py",),
        version_min="",
        folder=str(tmp_path),
    )
    assert discover(manifest, path="", home=home, env={}) == Installed(sys.executable, "1.2", False, "")


@pytest.mark.parametrize("error", [TimeoutError(), PermissionError(13, "Permission denied")])
def test_a_program_that_does_not_answer_or_run_is_a_problem_and_no_exception(
    tmp_path: Path, home: Path, error: OSError
) -> None:
    asked: list[float] = []

    def run(_argv: Sequence[str], _env: Mapping[str, str], limit_s: float) -> str:
        asked.append(limit_s)
        raise error

    path = _program(tmp_path / "bin", "")
    found = discover(MANIFEST, path=path, home=home, env={}, run=run)
    assert found.program == str(tmp_path / "bin/toy")
    assert ("did not tell" if isinstance(error, TimeoutError) else "Permission denied") in found.problem
    assert asked == [20.0]


def test_a_grandchild_that_keeps_the_output_open_holds_nobody_up_and_does_not_stay(tmp_path: Path) -> None:
    mark = tmp_path / "pid"
    _program(tmp_path / "bin", f"sleep 1000 & echo $! > {mark}; echo 1.0")
    began = time.monotonic()
    assert run_program([str(tmp_path / "bin/toy")], {"PATH": "/usr/bin:/bin"}, 15.0) == "1.0\n"
    assert time.monotonic() - began < 10
    assert _is_gone(int(mark.read_text()))


def test_a_program_that_never_ends_is_ended_with_its_whole_group(tmp_path: Path) -> None:
    mark = tmp_path / "pid"
    _program(tmp_path / "bin", f"trap '' TERM; sleep 1000 & echo $! > {mark}; wait")
    with pytest.raises(TimeoutError, match=r"more than 0\.5 s"):
        run_program([str(tmp_path / "bin/toy")], {"PATH": "/usr/bin:/bin"}, 0.5)
    assert _is_gone(int(mark.read_text()))


def _is_gone(pid: int) -> bool:
    deadline = time.monotonic() + 10
    while time.monotonic() < deadline:
        try:
            if Path(f"/proc/{pid}/stat").read_text().rpartition(") ")[2].startswith("Z"):
                return True
        except (FileNotFoundError, ProcessLookupError):
            return True
    return False


def test_a_flood_of_output_is_cut(tmp_path: Path) -> None:
    _program(tmp_path / "bin", "echo 1.0; head -c 1000000 /dev/zero")
    assert len(run_program([str(tmp_path / "bin/toy")], {"PATH": "/usr/bin:/bin"}, 15.0)) <= 16 * 1024


def test_a_login_is_seen_by_file_or_variable_and_not_listed_is_not_known(home: Path) -> None:
    assert login_state(Login(), home, {"TOY_KEY": "x"}) is None
    assert login_state(MANIFEST.login, home, {"TOY_KEY": "x"}) is True
    assert login_state(MANIFEST.login, home, {"TOY_KEY": ""}) is False
    (home / ".toy").mkdir()
    for nothing in ("", "{}", "{}\n"):  # some CLIs make their file before anybody logs in
        (home / ".toy/login.json").write_text(nothing)
        assert login_state(MANIFEST.login, home, {}) is False
    (home / ".toy/login.json").write_text('{"a": 1}')
    assert login_state(MANIFEST.login, home, {}) is True


def test_a_home_that_may_not_be_entered_is_not_taken_for_logged_out(home: Path) -> None:
    if os.getuid() != 0:
        home.chmod(0)
        assert login_state(MANIFEST.login, home, {}) is None
        home.chmod(0o700)
    assert login_state(MANIFEST.login, home / "gone", {}) is None


@pytest.mark.parametrize(
    ("version", "least", "older"),
    [
        ("2.1.10", "2.1.9", False),
        ("2.1.9", "2.1.10", True),
        ("2.1", "2.1.0", True),
        ("", "1", True),
        ("10.0", "9.9.9", False),
    ],
)
def test_versions_are_compared_as_numbers(version: str, least: str, older: bool) -> None:
    assert is_older(version, least) is older


def test_a_version_is_asked_again_only_when_the_file_has_changed(tmp_path: Path, home: Path) -> None:
    path, versions = _program(tmp_path / "bin", f"echo x >> {tmp_path}/asked; echo 3.0.0"), Versions()

    def look() -> tuple[str, int]:
        version = discover(MANIFEST, path=path, home=home, env={}, run=versions).version
        return version, len((tmp_path / "asked").read_text().split())

    assert [look(), look()] == [("3.0.0", 1), ("3.0.0", 1)]
    at = (tmp_path / "bin/toy").stat()
    _program(tmp_path / "bin", f"echo x >> {tmp_path}/asked; echo 4.0.0")
    os.utime(tmp_path / "bin/toy", ns=(at.st_atime_ns, at.st_mtime_ns))  # as npm does: of the same size, too
    assert look() == ("4.0.0", 2)


def test_a_program_that_told_no_version_is_asked_again(tmp_path: Path, home: Path) -> None:
    path, versions = _program(tmp_path / "bin", f"echo x >> {tmp_path}/asked; echo busy"), Versions()
    for _ in range(2):
        assert discover(MANIFEST, path=path, home=home, env={}, run=versions).version == ""
    assert (tmp_path / "asked").read_text().split() == ["x", "x"]
