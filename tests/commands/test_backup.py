"""``kai backup``: through the daemon when one runs, under its lock when none does."""

import json
import os
from pathlib import Path

import pytest

from tests.commands.conftest import Kai
from tests.store.state import make_state

VIEW = {
    "path": "/s/backups/kai-1",
    "name": "kai-1",
    "made_at": "2026-11-30T17:41:00+00:00",
    "kai": "0.1.0",
    "size_bytes": 5000,
    "files": 3,
    "left_out": [],
    "digest": "ab" * 32,
}


def test_without_a_daemon_a_backup_is_made_listed_and_copied(kai: Kai, folders: list[str], tmp_path: Path) -> None:
    status, _, err = kai("backup")
    assert (status, "nothing to back up" in err) == (1, True)
    state = Path(folders[3])
    state.rmdir()
    make_state(state)
    assert kai("backup", "--list")[1] == "There is no backup yet.\n"
    status, out, _ = kai("backup", "--json", "--to", str(tmp_path / "usb"))
    made = json.loads(out)
    assert status == 0
    assert (Path(made["copy"]) / "manifest.json").read_bytes() == (Path(made["path"]) / "manifest.json").read_bytes()
    assert [path.name for path in (tmp_path / "usb").iterdir()] == [made["name"]]
    assert made["name"] in kai("backup", "--list")[1]
    assert json.loads(kai("backup", "--list", "--json")[1])[0]["digest"] == made["digest"]


def test_settings_that_are_not_sound_keep_nobody_from_a_backup(kai: Kai, folders: list[str]) -> None:
    state = Path(folders[3])
    state.rmdir()
    make_state(state)
    (Path(folders[1]) / "kai.yaml").write_text("nonsense: [")
    assert kai("backup")[0] == 0


def test_a_state_of_another_user_is_not_touched_without_a_daemon(kai: Kai, folders: list[str]) -> None:
    if os.geteuid():
        pytest.skip("only root can give a folder to another user")
    state = Path(folders[3])
    state.rmdir()
    make_state(state)
    os.chown(state, 65534, 65534)
    status, _, err = kai("backup")
    assert (status, "sudo -u nobody kai backup" in err) == (1, True)
    assert not (state / "backups").exists()
