"""A backup that differs from what its manifest says by anything is refused whole."""

import json
import os
from collections.abc import Callable
from pathlib import Path

import pytest

from kai.store import backup, manifest, restore
from kai.store.manifest import BackupError
from tests.store.house import START
from tests.store.state import make_state


@pytest.fixture
def made(tmp_path: Path) -> Path:
    return backup.make(make_state(tmp_path / "s"), START, keep=3, max_file_bytes=10**6).path


def of(made: Path, name: str) -> Path:
    (found,) = made.rglob(name)
    return found


def flip(path: Path) -> None:
    data = bytearray(path.read_bytes())
    data[len(data) // 2] ^= 1
    path.unlink()  # it may be a second name of a file of the state
    path.write_bytes(data)


def reseal(made: Path, **changes: object) -> None:
    said = json.loads((made / manifest.NAME).read_text())
    (made / manifest.NAME).write_text(json.dumps(said | changes))


def swap_for_a_link(path: Path) -> None:
    elsewhere = path.parents[4] / "elsewhere"
    path.rename(elsewhere)
    path.symlink_to(elsewhere)


HARMS: dict[str, Callable[[Path], object]] = {
    "a bit of the database": lambda made: flip(made / "kai.db"),
    "a bit of a person's files": lambda made: flip(of(made, "p-ann.tar")),
    "a bit of an attachment": lambda made: flip(of(made, "*.png")),
    "a bit of the manifest": lambda made: flip(made / manifest.NAME),
    "a cut manifest": lambda made: os.truncate(made / manifest.NAME, 100),
    "no manifest": lambda made: (made / manifest.NAME).unlink(),
    "a manifest that is no object": lambda made: (made / manifest.NAME).write_text("[" * 5000),
    "a missing file": lambda made: of(made, "p-bob.tar").unlink(),
    "a cut file": lambda made: os.truncate(of(made, "p-bob.tar"), 512),
    "a file too many": lambda made: (made / "people" / "p-eve.tar").touch(),
    "a folder of somebody else": lambda made: (made / "attachments" / "more").symlink_to("/etc"),
    "a link in a file's place": lambda made: swap_for_a_link(of(made, "p-bob.tar")),
    "another format": lambda made: reseal(made, format=99),
    "a changed owner": lambda made: reseal(made, owners={"p-ann": "root"}),
}


@pytest.mark.parametrize("harm", HARMS)
def test_what_was_tampered_with_is_refused_before_anything_is_touched(made: Path, harm: str, tmp_path: Path) -> None:
    restore.check(made)
    HARMS[harm](made)
    with pytest.raises(BackupError):
        restore.check(made)
    target = tmp_path / "new"
    target.mkdir()
    with pytest.raises(BackupError):
        restore.restore(target, made, START, replace=True)
    assert [path.name for path in target.iterdir()] == ["kai.db.lock"]


def test_a_path_that_leads_out_of_the_backup_is_refused_though_the_seal_fits(made: Path) -> None:
    said = manifest.read(made)
    (made / manifest.NAME).unlink()
    (made.parent / "outside").touch()
    empty = "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"
    manifest.write(made, manifest.Manifest("2026-11-30T00:00:00+00:00", said.kai, said.migration, said.owner,
        {**said.files, "../outside": (0, empty)}, said.owners))  # fmt: skip
    with pytest.raises(BackupError, match="leads out"):
        restore.check(made)


def test_the_seal_is_of_all_that_is_said(made: Path) -> None:
    said = manifest.read(made)
    assert said.seal == manifest.read(made).seal
    assert (
        said.size_bytes
        == sum(path.stat().st_size for path in made.rglob("*") if path.is_file())
        - (made / manifest.NAME).stat().st_size
    )
    assert set(manifest.names(made)) == set(said.files)
