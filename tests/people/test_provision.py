"""What root does for a person: told line by line, done once, and by nobody's link."""

import json
import os
import pwd
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

from kai.people.provision import Provision, ProvisionError
from tests.processes.os_users import _remove, needs_root, os_user, root_folder

pytestmark = needs_root
User = pwd.struct_passwd


@pytest.fixture(scope="module")
def users() -> Iterator[tuple[User, User, User]]:
    """The daemon's user and two persons'."""
    with os_user() as daemon, os_user() as ann, os_user() as bob:
        yield daemon, ann, bob


@pytest.fixture
def state(users: tuple[User, User, User]) -> Iterator[Path]:
    with root_folder() as root:
        path = root / "state"
        path.mkdir(mode=0o700)
        os.chown(path, users[0].pw_uid, users[0].pw_gid)
        yield path


def facts(path: Path) -> tuple[str, int]:
    return path.owner(), path.lstat().st_mode & 0o777


def test_folders_are_the_persons_below_roots_that_are_roots(state: Path, users: tuple[User, User, User]) -> None:
    daemon, ann, _ = users
    work = Provision(state)
    work.folders("p-ann", ann.pw_name)
    assert facts(state) == (daemon.pw_name, 0o711)
    for root in ("homes", "preferences", "memory"):
        assert facts(state / root) == ("root", 0o711)
        assert facts(state / root / "p-ann") == (ann.pw_name, 0o700)
    assert [step.did for step in work.steps] == ["changed", *["made"] * 6]


def test_again_it_does_nothing_and_mends_what_was_changed(state: Path, users: tuple[User, User, User]) -> None:
    ann = users[1].pw_name
    Provision(state).folders("p-ann", ann)
    again = Provision(state)
    again.folders("p-ann", ann)
    assert {step.did for step in again.steps} == {"kept"}
    (state / "memory/p-ann").chmod(0o755)
    mended = Provision(state)
    mended.folders("p-ann", ann)
    assert [step.what for step in mended.steps if step.did == "changed"] == [f"{state}/memory/p-ann (0700, {ann})"]
    assert facts(state / "memory/p-ann") == (ann, 0o700)


def test_a_dry_run_tells_the_same_and_does_nothing(state: Path, users: tuple[User, User, User]) -> None:
    before = facts(state)
    dry = Provision(state, dry=True)
    dry.folders("p-ann", users[1].pw_name)
    assert (facts(state), list(state.iterdir())) == (before, [])
    wet = Provision(state)
    wet.folders("p-ann", users[1].pw_name)
    assert wet.steps == dry.steps


@pytest.mark.parametrize("name", ["homes", "homes/p-ann"])
def test_a_link_in_the_daemons_folder_is_not_followed(state: Path, users: tuple[User, User, User], name: str) -> None:
    """The attack: a daemon that was taken over lets root chown what its link leads to."""
    outside = state.parent / "outside"
    outside.mkdir()
    if "/" in name:
        (state / "homes").mkdir(mode=0o711)
    (state / name).symlink_to(outside)
    with pytest.raises(ProvisionError, match="a link or a file"):
        Provision(state).folders("p-ann", users[1].pw_name)
    assert facts(outside)[0] == "root"
    assert list(outside.iterdir()) == []


@pytest.mark.parametrize("whose", ["..", ".", "", "a/b", "../etc", "a\\0b", "-rf x", "x" * 200])
def test_an_id_that_could_lead_elsewhere_is_none(state: Path, users: tuple[User, User, User], whose: str) -> None:
    with pytest.raises(ProvisionError, match="none that a folder may be named by"):
        Provision(state).folders(whose, users[1].pw_name)


def test_what_the_daemon_kept_for_a_person_is_handed_over_and_a_second_name_is_not(
    state: Path, users: tuple[User, User, User]
) -> None:
    daemon, ann, _ = users
    home = state / "homes/p-ann"
    (home / "sub").mkdir(parents=True)
    (home / "AGENTS.md").write_text("hers")
    (state / "kai.db").write_text("everybody's")
    (home / "sub/db").hardlink_to(state / "kai.db")
    (home / "sub/link").symlink_to(state / "kai.db")
    for path in (state / "homes", home, *home.rglob("*")):
        os.chown(path, daemon.pw_uid, daemon.pw_gid, follow_symlinks=False)
    work = Provision(state)
    work.folders("p-ann", ann.pw_name)
    assert facts(home / "AGENTS.md")[0] == facts(home / "sub")[0] == ann.pw_name
    assert (state / "kai.db").owner() == daemon.pw_name
    assert any("sub/db is not the daemon's alone" in step.what for step in work.steps)


def test_a_folder_of_somebody_else_is_left_to_them(state: Path, users: tuple[User, User, User]) -> None:
    _, ann, bob = users
    Provision(state).folders("p-bob", bob.pw_name)
    with pytest.raises(ProvisionError, match=f"belongs to uid {bob.pw_uid}") as caught:
        Provision(state).folders("p-bob", ann.pw_name)
    assert "chown -R" in caught.value.hint


def test_the_spawners_policy_names_the_user_and_forgets_them(state: Path) -> None:
    policy = state.parent / "spawner.json"
    policy.write_text(json.dumps({"daemon_user": "kai", "users": ["zoe"], "programs": ["/bin/true"]}))
    policy.chmod(0o644)
    Provision(state, policy=policy).allow("ann")
    Provision(state, policy=policy).allow("ann")
    assert json.loads(policy.read_text()) == {"daemon_user": "kai", "users": ["zoe", "ann"], "programs": ["/bin/true"]}
    assert (policy.stat().st_mode & 0o777, policy.owner()) == (0o644, "root")
    Provision(state, policy=policy).allow("ann", allowed=False)
    assert json.loads(policy.read_text())["users"] == ["zoe"]


@pytest.mark.parametrize(("text", "mode", "why"), [("[", 0o644, "cannot be read"), ("{}", 0o646, "cannot be trusted")])
def test_a_policy_that_is_none_or_that_others_may_write_is_not_touched(
    state: Path, text: str, mode: int, why: str
) -> None:
    policy = state.parent / "spawner.json"
    policy.write_text(text)
    policy.chmod(mode)
    with pytest.raises(ProvisionError, match=why):
        Provision(state, policy=policy).allow("ann")
    assert policy.read_text() == text


def test_without_a_spawner_nothing_is_to_be_allowed(state: Path) -> None:
    work = Provision(state, policy=state.parent / "none.json")
    work.allow("ann")
    assert [step.did for step in work.steps] == ["kept"]


def test_an_os_user_is_made_and_taken_away_and_its_files_are_closed(state: Path) -> None:
    name = f"kait{os.getpid()}x9000"
    dry = Provision(state, dry=True)
    dry.user(name, "Ann: the, first")
    assert subprocess.run(["id", name], capture_output=True).returncode != 0
    try:
        Provision(state).user(name, "Ann: the, first")
        entry = pwd.getpwnam(name)
        assert (entry.pw_gecos, facts(Path(entry.pw_dir))) == ("Ann the first (kai)", (name, 0o700))
        again = Provision(state)
        again.user(name, "Ann")
        assert [step.did for step in again.steps] == ["kept"]
        Provision(state).folders("p-ann", name)
        work = Provision(state)
        work.take_away(name, ["p-ann", ""])
        for path in (Path(entry.pw_dir), state / "homes/p-ann", state / "memory/p-ann"):
            assert facts(path) == ("root", 0o700)
        assert [step.did for step in work.steps] == ["removed", *["changed"] * 4]
        with pytest.raises(KeyError):
            pwd.getpwnam(name)
    finally:
        if subprocess.run(["id", name], capture_output=True).returncode == 0:
            _remove(pwd.getpwnam(name))
        subprocess.run(["rm", "-rf", f"/home/{name}"])


def test_the_home_of_a_user_that_was_there_is_closed_to_others(state: Path, users: tuple[User, User, User]) -> None:
    home = Path(users[2].pw_dir)
    home.chmod(0o755)
    work = Provision(state)
    work.user(users[2].pw_name, "Bob")
    assert ([step.did for step in work.steps], facts(home)) == (["kept", "changed"], (users[2].pw_name, 0o700))


def test_an_os_user_that_kai_did_not_make_is_not_taken_away(state: Path, users: tuple[User, User, User]) -> None:
    with pytest.raises(ProvisionError, match="was not made by kai"):
        Provision(state).take_away(users[1].pw_name, ["p-ann"])


@pytest.mark.parametrize(
    ("name", "why"), [("Ann", "is no name"), ("-x", "is no name"), ("root", "is root"), ("daemon", "system")]
)
def test_a_user_that_may_not_be_a_persons_is_refused(state: Path, name: str, why: str) -> None:
    with pytest.raises(ProvisionError, match=why):
        Provision(state).user(name, "Ann")


def test_without_a_state_folder_it_says_where_it_looked(tmp_path: Path) -> None:
    with pytest.raises(ProvisionError, match="no such state folder"):
        Provision(tmp_path / "none")
