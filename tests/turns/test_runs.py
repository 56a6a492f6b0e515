"""A run is known by its process or by its token, of its own user alone, and for as long as it lives."""

import os
import stat
from pathlib import Path

import pytest

from kai.model.errors import DeniedError
from kai.model.ids import ChannelId, PrincipalId, RunId, SessionId
from kai.turns.runs import LiveRun, Runs

ONE, TWO = RunId("r-1"), RunId("r-2")
UID = os.geteuid()


def begun(runs: Runs, run: RunId = ONE, os_user: str = "") -> LiveRun:
    return runs.begin(
        run, session=SessionId("s-1"), channel=ChannelId("c-1"), principal=PrincipalId("p-1"), os_user=os_user
    )


def file_of(runs: Runs, run: RunId = ONE) -> Path:
    file = runs.token_file(run)
    assert file is not None
    return file


def token(runs: Runs, run: RunId = ONE) -> str:
    return file_of(runs, run).read_text()


def test_the_token_is_a_file_that_the_runs_user_alone_can_read(tmp_path: Path) -> None:
    runs = Runs(tmp_path / "runs")
    begun(runs)
    found = file_of(runs).stat()
    assert (stat.S_IMODE(found.st_mode), found.st_uid) == (0o600, UID)
    assert stat.S_IMODE(file_of(runs).parent.stat().st_mode) == 0o700
    assert len(token(runs)) >= 43  # 256 bits


def test_what_is_kept_of_a_token_is_no_token(tmp_path: Path) -> None:
    runs = Runs(tmp_path)
    live = begun(runs)
    assert token(runs) not in repr(vars(runs)) + repr(live)


def test_a_process_that_is_surely_of_a_run_needs_no_token(tmp_path: Path) -> None:
    runs = Runs(tmp_path)
    assert runs.of(UID, None if begun(runs) is None else ONE, "").run == ONE


def test_the_token_of_a_run_is_enough_where_its_process_tells_nothing(tmp_path: Path) -> None:
    runs = Runs(tmp_path)
    begun(runs)
    begun(runs, TWO)
    assert runs.of(UID, None, token(runs, TWO)).run == TWO


@pytest.mark.parametrize("uid", [UID + 1, 65_534, 0 if UID else 1])
def test_a_leaked_token_is_of_no_use_to_another_user(tmp_path: Path, uid: int) -> None:
    """The attack: another person's agent gets hold of the token, or of the run's name."""
    runs = Runs(tmp_path)
    begun(runs)
    for run, proof in ((None, token(runs)), (ONE, ""), (ONE, token(runs))):
        with pytest.raises(DeniedError):
            runs.of(uid, run, proof)


@pytest.mark.parametrize("proof", ["", " ", "x", "\ud800", "\0", "a" * 100_000])
def test_whoever_proves_nothing_is_refused(tmp_path: Path, proof: str) -> None:
    runs = Runs(tmp_path)
    begun(runs)
    with pytest.raises(DeniedError):
        runs.of(UID, None, proof)
    with pytest.raises(DeniedError):
        runs.of(UID, RunId("r-9"), proof)


def test_a_process_of_one_run_cannot_use_the_token_of_another(tmp_path: Path) -> None:
    """The attack: a run reads the token of its neighbour, who has the same user, and widens itself."""
    runs = Runs(tmp_path)
    begun(runs)
    begun(runs, TWO)
    with pytest.raises(DeniedError, match="another run's"):
        runs.of(UID, ONE, token(runs, TWO))


def test_a_token_dies_with_its_run(tmp_path: Path) -> None:
    runs = Runs(tmp_path)
    begun(runs)
    was = token(runs)
    runs.end(ONE)
    runs.end(ONE)
    assert list(tmp_path.iterdir()) == []
    for run in (None, ONE):
        with pytest.raises(DeniedError):
            runs.of(UID, run, was)


def test_no_token_is_left_where_another_user_could_have_put_a_link(tmp_path: Path) -> None:
    """The attack: a link at the place of the token, to have kai overwrite a file."""
    runs, victim = Runs(tmp_path), tmp_path / "victim"
    victim.write_text("precious")
    file_of(runs).parent.mkdir()
    file_of(runs).symlink_to(victim)
    with pytest.raises(FileExistsError):
        begun(runs)
    assert victim.read_text() == "precious"


@pytest.mark.skipif(UID != 0, reason="needs another OS user than the one that runs the test")
def test_for_another_os_user_no_token_is_written_by_the_daemon(tmp_path: Path) -> None:
    runs = Runs(tmp_path)
    assert begun(runs, os_user="nobody").uid == 65_534
    assert runs.token_file(ONE, "nobody") is None
    assert not file_of(runs).exists()


def test_an_os_user_that_is_gone_is_the_daemons_own(tmp_path: Path) -> None:
    assert begun(Runs(tmp_path), os_user="nobody-of-this-name").uid == UID
