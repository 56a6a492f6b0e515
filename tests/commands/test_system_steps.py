"""A step is done where it is needed, whole or not at all, and says what became of it."""

import os
import pwd
import stat
from pathlib import Path

import pytest

from kai.commands.system_steps import StepFailedError, Steps
from kai.model.errors import DeniedError


@pytest.fixture
def told() -> list[str]:
    return []


@pytest.fixture
def steps(told: list[str]) -> Steps:
    return Steps(tell=told.append)


def test_a_file_is_made_kept_and_changed(steps: Steps, told: list[str], tmp_path: Path) -> None:
    path = tmp_path / "deep/file"
    assert steps.file(path, "one", 0o600)
    assert not steps.file(path, "one", 0o600)
    assert steps.file(path, "two", 0o600)
    assert steps.file(path, "two", 0o644)
    assert [line.split()[0] for line in told] == ["made", "kept", "changed", "changed"]
    assert (path.read_text(), stat.S_IMODE(path.stat().st_mode)) == ("two", 0o644)
    assert list(path.parent.iterdir()) == [path]


def test_a_link_in_the_place_of_a_file_is_replaced_and_not_followed(steps: Steps, tmp_path: Path) -> None:
    (tmp_path / "other").write_text("other")
    (tmp_path / "file").symlink_to(tmp_path / "other")
    steps.file(tmp_path / "file", "mine")
    assert (tmp_path / "other").read_text() == "other"
    assert not (tmp_path / "file").is_symlink()


def test_a_dry_step_does_nothing(told: list[str], tmp_path: Path) -> None:
    steps = Steps(is_dry=True, tell=told.append)
    steps.file(tmp_path / "file", "one")
    steps.link(tmp_path / "link", tmp_path)
    assert steps.run("touch", tmp_path / "ran") == ""
    assert list(tmp_path.iterdir()) == []
    assert all(line.startswith("would be ") for line in told)


def test_what_a_program_said_when_it_failed_is_in_the_error(steps: Steps) -> None:
    with pytest.raises(StepFailedError, match="so it is") as failed:
        steps.run("sh", "-c", "echo so it is >&2; exit 3")
    assert failed.value.hint
    with pytest.raises(StepFailedError, match="No such file"):
        steps.run("/nowhere/at/all")


def test_a_program_may_be_run_as_another_user_with_no_group_of_ours(steps: Steps) -> None:
    if os.geteuid() != 0:
        pytest.skip("only root can")
    assert steps.run("id", "-un", user="nobody").strip() == "nobody"
    assert steps.run("id", "-G", user="nobody").split() == [str(pwd.getpwnam("nobody").pw_gid)]


def test_only_root_may_but_anybody_may_look(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("os.geteuid", lambda: 1000)
    with pytest.raises(DeniedError):
        Steps().must_be_root()
    Steps(is_dry=True).must_be_root()
