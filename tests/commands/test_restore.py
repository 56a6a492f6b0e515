"""``kai restore``: says what it did, and refuses with what to do."""

import json
from pathlib import Path

import pytest

from kai.store import backup, restore
from tests.commands.conftest import Kai
from tests.store.house import START
from tests.store.state import make_state


@pytest.fixture
def made(folders: list[str]) -> Path:
    state = Path(folders[3])
    state.rmdir()
    return backup.make(make_state(state), START, keep=2, max_file_bytes=10**6).path


def test_a_backup_is_proven_refused_and_put_in_its_place(kai: Kai, made: Path) -> None:
    assert "is whole" in kai("restore", "--check", "newest")[1]
    status, _, err = kai("restore", "newest")
    assert (status, "--replace" in err) == (1, True)
    status, out, _ = kai("restore", made.name, "--replace")
    assert status == 0
    assert "2026-11-30 17:41 UTC" in out
    assert "before-restore-" in out
    said = json.loads(kai("restore", str(made), "--replace", "--json")[1])
    assert Path(said["aside"]).is_dir()
    assert json.loads(kai("restore", "--check", "--json", "newest")[1])["whole"] is True


def test_without_a_state_it_makes_one(kai: Kai, made: Path, tmp_path: Path) -> None:
    status, out, _ = kai("--state", str(tmp_path / "new" / "state"), "restore", str(made))
    assert status == 0
    assert "before" not in out
    assert (tmp_path / "new" / "state" / "kai.db").is_file()
    assert (tmp_path / "new" / "state").stat().st_mode & 0o777 == 0o700


def test_one_that_was_cut_is_finished_and_finishing_needs_one(kai: Kai, made: Path) -> None:
    assert kai("restore")[0] == 2
    assert kai("restore", "newest", "--finish")[0] == 2
    assert "no restore was cut" in kai("restore", "--finish")[2]
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(restore, "_move", lambda _: (_ for _ in ()).throw(KeyboardInterrupt))
        kai("restore", "newest", "--replace")
    assert "kai restore --finish" in kai("doctor")[1]
    assert kai("restore", "--finish")[0] == 0
    assert "--finish" not in kai("doctor")[1]
