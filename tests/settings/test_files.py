"""Reading files of the configuration: absent is fine where it may be, "not allowed" is never taken for absent."""

import os
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest

from kai.settings.files import children, lacking, read, user_name
from kai.settings.problems import Problem

NOBODY = 65534


def test_an_optional_file_may_be_absent_and_a_required_one_may_not(tmp_path: Path) -> None:
    assert read(tmp_path / "gone", optional=True, max_bytes=10) is None
    problem = read(tmp_path / "gone", optional=False, max_bytes=10)
    assert isinstance(problem, Problem)
    assert problem.message == "there is no such file"


def test_no_more_is_read_than_shows_the_excess(tmp_path: Path) -> None:
    (tmp_path / "big").write_bytes(b"x" * 100)
    assert read(tmp_path / "big", optional=False, max_bytes=10) == b"x" * 11


@pytest.mark.parametrize("name", ["x\0y", "x" * 5000])
def test_a_path_that_can_be_none_is_a_problem_and_no_exception(tmp_path: Path, name: str) -> None:
    assert isinstance(read(tmp_path / name, optional=True, max_bytes=10), Problem)


def _as_nobody(code: str, *arguments: object) -> str:
    if os.getuid() != 0:
        pytest.skip("only root can become another user")
    script = f"import os, sys; from kai.settings.files import *; from pathlib import Path; os.setuid({NOBODY}); {code}"
    return subprocess.run(
        [sys.executable, "-c", script, *map(str, arguments)], check=True, capture_output=True, text=True
    ).stdout


@pytest.fixture
def public() -> Iterator[Path]:
    """A folder that every user may enter: those of pytest are closed to others."""
    with tempfile.TemporaryDirectory() as name:
        Path(name).chmod(0o755)
        yield Path(name)


def test_an_unreadable_file_says_who_lacks_what(public: Path) -> None:
    secret = public / "kai.yaml"
    secret.write_text("x")
    secret.chmod(0o600)
    told = _as_nobody("print(read(Path(sys.argv[1]), optional=True, max_bytes=10))", secret)
    assert f"user {user_name(NOBODY)} may not read it (it belongs to root, mode 0600)" in told


def test_a_folder_that_may_not_be_entered_is_the_one_that_is_named(public: Path) -> None:
    closed = public / "closed"
    (closed / "deeper").mkdir(parents=True)
    (closed / "deeper" / "kai.yaml").touch()
    closed.chmod(0o700)
    told = _as_nobody("print(read(Path(sys.argv[1]), optional=True, max_bytes=10))", closed / "deeper" / "kai.yaml")
    assert f"may not enter {closed}" in told
    problems = _as_nobody("p = []; children(Path(sys.argv[1]), p); print(p[0])", closed / "deeper")
    assert f"may not enter {closed}" in problems


def test_a_folder_is_listed_by_name_and_a_missing_one_holds_nothing(tmp_path: Path) -> None:
    problems: list[Problem] = []
    (tmp_path / "b").touch()
    (tmp_path / "a").touch()
    assert [path.name for path in children(tmp_path, problems)] == ["a", "b"]
    assert children(tmp_path / "gone", problems) == []
    assert problems == []


def test_a_folder_that_is_none_is_a_problem(tmp_path: Path) -> None:
    problems: list[Problem] = []
    (tmp_path / "file").touch()
    (tmp_path / "link").symlink_to("gone")
    assert children(tmp_path / "file", problems) == children(tmp_path / "link", problems) == []
    assert [problem.message for problem in problems] == [
        "this folder cannot be listed: Not a directory", "a link to gone, which is not there",
    ]  # fmt: skip


def test_an_unknown_user_is_named_by_number() -> None:
    assert user_name(4_000_000_000) == "4000000000"
    assert lacking(Path("/nowhere/at/all"))[0].startswith("user ")
