"""The command line, run in this process against a stand-in for the daemon."""

from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from kai.cli import run
from tests.fake_daemon import FakeDaemon

Ran = tuple[int, str, str]  # exit status, stdout, stderr
Kai = Callable[..., Ran]


@pytest.fixture
def folders(tmp_path: Path) -> list[str]:
    """The flags that name folders of the test's own."""
    for name in ("c", "s", "r"):
        (tmp_path / name).mkdir(mode=0o700)
    return ["--config", str(tmp_path / "c"), "--state", str(tmp_path / "s"), "--runtime", str(tmp_path / "r")]


@pytest.fixture
def kai(folders: list[str], capsys: pytest.CaptureFixture[str]) -> Kai:
    """Runs ``kai ARGS``."""

    def ran(*args: str) -> Ran:
        status = run([*folders, *args])
        out, err = capsys.readouterr()
        return status, out, err

    return ran


@pytest.fixture
def fake(folders: list[str]) -> Iterator[FakeDaemon]:
    with FakeDaemon(Path(folders[-1]) / "people.sock") as daemon:
        yield daemon
