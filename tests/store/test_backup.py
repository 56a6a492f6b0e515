"""A backup is whole under its name or not there at all, whatever happens while it is made."""

import os
import signal
import time
from collections.abc import Mapping
from contextlib import ExitStack, closing
from datetime import timedelta
from pathlib import Path
from typing import BinaryIO

import pytest

from kai.launcher import archive
from kai.store import backup, opening, restore
from kai.store.binding import connect
from kai.store.errors import DiskFullError
from kai.store.manifest import BackupError
from tests.small_disk import fill_up
from tests.store.house import ANN, START
from tests.store.state import ME, make_state

MIB = 1024 * 1024


@pytest.fixture
def state(tmp_path: Path) -> Path:
    return make_state(tmp_path / "s")


def make(state: Path, minutes: int = 0, keep: int = 3, **more: object) -> backup.Backup:
    return backup.make(state, START + timedelta(minutes=minutes), keep=keep, max_file_bytes=MIB, **more)  # type: ignore[arg-type]


def test_a_backup_holds_database_attachments_persons_and_archives(state: Path) -> None:
    made = make(state)
    assert set(made.manifest.files) == {
        "kai.db",
        "people/p-ann.tar",
        "people/p-bob.tar",
        "shared/memory/MEMORY.md",
        "history.tar",
        *(f"attachments/{path.name}" for path in (state / "attachments").iterdir()),
    }
    assert made.manifest.left_out == ()
    assert made.manifest.owners == {"p-ann": ME, "p-bob": ME}
    assert made.path.stat().st_mode & 0o777 == 0o700
    assert {path.stat().st_mode & 0o777 for path in made.path.rglob("*.tar")} == {0o600}


def test_attachments_take_no_room_a_second_time(state: Path) -> None:
    (kept,) = (make(state).path / "attachments").iterdir()
    assert kept.stat().st_nlink == 2


def test_it_is_made_while_somebody_writes_and_is_of_one_moment(state: Path) -> None:
    with ExitStack() as stack:
        writer, _ = opening.open_connections(stack, state / "kai.db", START, 1, 1)
        writer.execute("BEGIN IMMEDIATE")
        writer.execute("UPDATE person SET email = 'half'")
        made = make(state)
        writer.execute("COMMIT")
    restore.check(made.path)
    with closing(connect(made.path / "kai.db")) as db:
        assert db.execute("SELECT DISTINCT email FROM person").fetchall() == [("",)]


def test_the_newest_are_kept_and_the_copies_of_migrations_too(state: Path) -> None:
    (state / "backups").mkdir()
    for number in range(5):
        (state / "backups" / f"kai-before-0002-2026010{number + 1}T000000.db").touch()
    (state / "backups" / "mine").touch()
    for number in range(5):
        make(state, number)
    names = sorted(path.name for path in (state / "backups").iterdir())
    assert names == [
        "kai-20261130T174300Z",
        "kai-20261130T174400Z",
        "kai-20261130T174500Z",
        "kai-before-0002-20260103T000000.db",
        "kai-before-0002-20260104T000000.db",
        "kai-before-0002-20260105T000000.db",
        "mine",
    ]
    assert [one.path.name for one in backup.listing(state)] == names[2::-1]


def test_two_backups_of_one_second_are_two(state: Path) -> None:
    assert len({make(state).path for _ in range(12)}) == 12
    listed = [path.name for path in backup.every(state)]
    assert listed[0].endswith("-12")


def test_files_of_another_user_are_left_out_and_named_unless_they_pack_them(
    state: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    if os.geteuid():
        pytest.skip("only root can give a file to another user")
    for kind in backup.KINDS:
        os.chown(state / kind / "p-bob", 65534, 65534)
    made = make(state)
    assert made.manifest.left_out == ("people/p-bob: it belongs to nobody",)

    def as_owner(owner: str, roots: Mapping[str, str], out: BinaryIO, most: int) -> list[str]:
        assert owner == "nobody"
        return [*archive.pack(roots, out, most), "one thing"]

    made = make(state, 1, as_owner=as_owner)
    assert made.manifest.left_out == ("one thing",)
    assert "people/p-bob.tar" in made.manifest.files

    def evil(owner: str, roots: Mapping[str, str], out: BinaryIO, most: int) -> list[str]:
        archive.pack({"homes/p-ann": str(state / "homes" / "p-ann")}, out, most)
        return []

    made = make(state, 2, as_owner=evil)
    assert "leads out" in made.manifest.left_out[0]
    assert "people/p-bob.tar" not in made.manifest.files
    restore.check(made.path)

    def endless(owner: str, roots: Mapping[str, str], out: BinaryIO, most: int) -> list[str]:
        while True:
            out.write(b"x" * MIB)

    monkeypatch.setattr(backup, "room", lambda _: 20 * MIB)
    assert "half of the room" in make(state, 3, as_owner=endless).manifest.left_out[0]


def test_a_folder_swapped_for_a_link_is_not_followed(state: Path) -> None:
    (state / "homes" / "p-bob" / "AGENTS.md").unlink()
    (state / "homes" / "p-bob").rmdir()
    (state / "homes" / "p-bob").symlink_to("/etc")
    assert make(state).path.joinpath("people", "p-bob.tar").stat().st_size < 20_000


def test_a_disk_without_room_is_refused_and_nothing_is_left(small_disk: Path) -> None:
    state = make_state(small_disk / "s")
    first = make(state)
    fill_up(state / "filler")
    with pytest.raises(DiskFullError):
        make(state, 1)
    assert [path.name for path in (state / "backups").iterdir()] == [first.path.name]
    (state / "filler").unlink()
    (state / "homes" / ANN / "big").write_bytes(os.urandom(MIB))
    with (state / "filler").open("wb") as filler:
        filler.write(b"\0" * int(backup.room(state) - 0.8 * MIB))
    with pytest.raises(DiskFullError, match="no room"):  # it looked as if there was enough
        make(state, 2)
    assert [path.name for path in (state / "backups").iterdir()] == [first.path.name]


def test_whoever_gives_it_up_leaves_nothing(state: Path) -> None:
    class GivenUpError(Exception):
        pass

    looks = 0

    def check() -> None:
        nonlocal looks
        looks += 1
        if looks == stop_at:
            raise GivenUpError

    stop_at = 0
    make(state, check=check)
    for stop_at in range(1, looks + 1):
        looks = 0
        with pytest.raises((GivenUpError, BackupError)):
            make(state, stop_at, check=check)
        assert len(list((state / "backups").iterdir())) == 1


def test_a_kill_at_any_moment_leaves_no_half_backup_and_no_harm(state: Path) -> None:
    dice = iter(range(200))
    whole = killed = 0
    while killed < 12 and whole < 6:
        number = next(dice)
        pid = os.fork()
        if pid == 0:
            make(state, number, keep=1000)
            os._exit(0)
        time.sleep(0.002 * number)
        os.kill(pid, signal.SIGKILL)
        _, status = os.waitpid(pid, 0)
        killed += os.WIFSIGNALED(status)
        whole += not os.WIFSIGNALED(status)
        for path in backup.every(state):
            restore.check(path)
    assert killed
    made = make(state, 999, keep=1)
    assert [path.name for path in (state / "backups").iterdir()] == [made.path.name]
    with ExitStack() as stack:
        opening.open_connections(stack, state / "kai.db", START, 1, 1)
