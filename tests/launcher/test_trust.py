"""Who could exchange what a path leads to."""

import os
from collections.abc import Iterator
from pathlib import Path

import pytest

from kai.launcher.trust import walk, weak_spot, writable_step
from tests.processes.os_users import needs_root, root_folder

pytestmark = needs_root
SOMEBODY = 65533


@pytest.fixture
def folder() -> Iterator[Path]:
    with root_folder() as one:
        yield one


def test_what_is_roots_all_the_way_has_no_weak_spot(folder: Path) -> None:
    (folder / "program").touch(0o755)
    (folder / "link").symlink_to("program")
    assert weak_spot(str(folder / "program")) == ""
    assert weak_spot(str(folder / "link")) == ""
    assert [step for step, _ in walk(str(folder / "link"))][-1] == str(folder / "program")


@pytest.mark.parametrize("mode", [0o757, 0o1777, 0o777])
def test_a_folder_that_everybody_may_write_to_is_one(folder: Path, mode: int) -> None:
    (folder / "open").mkdir()
    (folder / "open").chmod(mode)
    (folder / "open/program").touch()
    assert weak_spot(str(folder / "open/program")) == f"everybody may write to {folder}/open"


def test_whoever_owns_a_step_is_named_behind_a_link_too(folder: Path) -> None:
    (folder / "theirs").mkdir()
    os.chown(folder / "theirs", SOMEBODY, 0)
    (folder / "theirs/program").touch()
    (folder / "link").symlink_to("theirs/program")
    assert weak_spot(str(folder / "link")) == f"{folder}/theirs belongs to user {SOMEBODY}"


def test_a_group_that_may_write_is_named_and_roots_own_is_not(folder: Path) -> None:
    (folder / "program").touch()
    (folder / "program").chmod(0o775)
    assert weak_spot(str(folder / "program")) == ""
    os.chown(folder / "program", 0, SOMEBODY)
    assert weak_spot(str(folder / "program")) == f"group {SOMEBODY} may write to {folder}/program"


def test_what_is_not_there_or_no_path_is_told_apart(folder: Path) -> None:
    with pytest.raises(FileNotFoundError):
        weak_spot(str(folder / "nothing"))
    assert "no absolute path" in weak_spot("program")
    assert "no absolute path" in weak_spot("/bin/\0")
    (folder / "round").symlink_to("round")
    assert "one link too many" in weak_spot(str(folder / "round"))


def test_what_one_user_may_write_to_is_found(folder: Path) -> None:
    (folder / "theirs").mkdir(0o700)
    os.chown(folder / "theirs", SOMEBODY, SOMEBODY)
    assert writable_step(str(folder / "theirs"), SOMEBODY, []) == str(folder / "theirs")
    assert writable_step(str(folder), SOMEBODY, []) == ""
    assert writable_step("/tmp", SOMEBODY, []) == "", "what others have made there stays theirs"
