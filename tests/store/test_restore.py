"""What was backed up is back, whole; what was there is kept; nothing that may have been done is done again."""

import os
import pwd
import shutil
import signal
from collections.abc import Callable
from contextlib import ExitStack, closing
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest

from kai.launcher import archive
from kai.model.states import TurnState
from kai.store import backup, deliveries, migrate, opening, restore, turns
from kai.store.errors import (
    CorruptDatabaseError,
    DaemonRunningError,
    DiskFullError,
    UnfinishedRestoreError,
    UnusableDatabaseError,
)
from kai.store.manifest import BackupError
from tests.small_disk import fill_up
from tests.store.house import START
from tests.store.state import files, make_state, rows

LATER = START + timedelta(days=1)


@pytest.fixture
def state(tmp_path: Path) -> Path:
    return make_state(tmp_path / "s")


@pytest.fixture
def made(state: Path) -> Path:
    return backup.make(state, START, keep=3, max_file_bytes=10**6).path


def go_on(state: Path) -> None:
    """The state as it is some time after the backup."""
    (state / "homes" / "p-ann" / "AGENTS.md").write_text("changed since")
    (state / "homes" / "p-ann" / "new.txt").write_text("made since")
    with ExitStack() as stack:
        writer, _ = opening.open_connections(stack, state / "kai.db", START, 1, 0)
        writer.execute("UPDATE person SET email = 'since'")


def test_the_state_of_the_backup_takes_the_place_and_the_former_one_is_kept(state: Path, made: Path) -> None:
    before = files(state)
    go_on(state)
    since = files(state)
    done = restore.restore(state, made, LATER, replace=True)
    assert files(state) == before
    assert rows(state, "SELECT DISTINCT email FROM person") == [("",)]
    assert done.aside is not None
    assert files(done.aside) == since
    assert rows(done.aside, "SELECT DISTINCT email FROM person") == [("since",)]
    assert not list(state.glob(".restor*"))
    with ExitStack() as stack:
        opening.open_connections(stack, state / "kai.db", LATER, 1, 1)


def test_a_new_machine_gets_everything(state: Path, made: Path, tmp_path: Path) -> None:
    target = tmp_path / "new"
    target.mkdir()
    done = restore.restore(target, made, LATER, replace=False)
    assert done.aside is None
    assert files(target) == files(state)
    modes = {path.name: path.stat().st_mode & 0o777 for path in target.iterdir()}
    assert modes["kai.db"] == 0o600
    assert modes["attachments"] == 0o700
    assert {path.stat().st_mode & 0o777 for path in (target / "homes").iterdir()} == {0o700}


def test_nothing_that_was_underway_is_done_again_and_each_is_told_once(state: Path, made: Path) -> None:
    restore.restore(state, made, LATER, replace=True)
    assert rows(state, "SELECT state, count(*) FROM turn GROUP BY state ORDER BY state") == [
        ("done", 1),
        ("interrupted", 1),
        ("stopped", 1),
    ]
    assert {row[0] for row in rows(state, "SELECT state FROM dispatch")} <= {"settled", "unknown"}
    owed = rows(state, "SELECT state, kind, text, number FROM delivery ORDER BY number")
    assert [(row[0], row[1]) for row in owed] == [("unknown", "answer"), *[("pending", "notice")] * 3]
    for _, _, text, number in owed[1:]:
        assert "restored from a backup of 2026-11-30" in str(text)
        assert int(str(number)) >= LATER.timestamp() * 1000
    assert rows(state, "SELECT DISTINCT state FROM session") == [("retired",)]
    with ExitStack() as stack:
        writer, _ = opening.open_connections(stack, state / "kai.db", LATER, 1, 0)
        assert turns.recover(writer, LATER) == ()
        assert turns.queued_channels(writer) == ()
        assert len(deliveries.claim(writer, "telegram", LATER, 10)) == 3
        (stopped,) = [one for one in turns.listing(writer, limit=9) if one.state is TurnState.STOPPED]
        turns.retry(writer, stopped.turn, LATER)


def test_a_state_in_the_way_is_refused_until_it_may_be_replaced(state: Path, made: Path) -> None:
    before = files(state)
    with pytest.raises(restore.StateInTheWayError, match=r"kai\.db") as refused:
        restore.restore(state, made, LATER, replace=False)
    assert "--replace" in refused.value.hint
    assert files(state) == before


def test_a_running_daemon_is_not_restored_under(state: Path, made: Path) -> None:
    with ExitStack() as stack:
        opening.open_connections(stack, state / "kai.db", START, 1, 1)
        with pytest.raises(DaemonRunningError):
            restore.restore(state, made, LATER, replace=True)
        (state / "kai.db.lock").unlink()
        with pytest.raises(DaemonRunningError):
            restore.restore(state, made, LATER, replace=True)


def test_a_backup_of_a_newer_kai_is_refused(state: Path, made: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(restore, "shipped", lambda: migrate.shipped()[:-1])
    with pytest.raises(BackupError, match="newer"):
        restore.restore(state, made, LATER, replace=True)


def test_a_backup_of_an_older_kai_is_brought_up_to_date(tmp_path: Path) -> None:
    target = tmp_path / "new"
    target.mkdir()
    folder = tmp_path / "old"
    folder.mkdir()
    with closing(opening.connect_to(folder / "kai.db", 1)) as db:
        migrate.migrate(db, folder / "kai.db", migrate.shipped()[:-1], START)
    made = backup.make(folder, START, keep=1, max_file_bytes=1000).path
    restore.restore(target, made, LATER, replace=False)
    assert rows(target, "PRAGMA user_version") == [(len(migrate.shipped()),)]


def test_a_database_that_is_damaged_inside_is_refused_though_every_sum_fits(state: Path, tmp_path: Path) -> None:
    original = migrate.back_up

    def damaged(db: Any, target: Path) -> None:
        original(db, target)
        with target.open("r+b") as file:
            file.seek(3 * 4096)
            file.write(b"\xff" * 4096)

    target = tmp_path / "new"
    target.mkdir()
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(backup, "back_up", damaged)
        made = backup.make(state, START, keep=1, max_file_bytes=10**6).path
    with pytest.raises(CorruptDatabaseError):
        restore.restore(target, made, LATER, replace=False)
    assert [path.name for path in target.iterdir()] == ["kai.db.lock"]


def test_a_disk_without_room_keeps_the_state(small_disk: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    made = backup.make(make_state(tmp_path / "s"), START, keep=1, max_file_bytes=10**6).path
    state = make_state(small_disk / "s")
    go_on(state)
    before = files(state)
    fill_up(small_disk / "filler")
    with pytest.raises(DiskFullError):
        restore.restore(state, made, LATER, replace=True)
    assert files(state) == before
    (small_disk / "filler").unlink()
    monkeypatch.setattr(backup, "room", lambda _: 10**9)
    for room in range(4096, 400_000, 50_000):  # it looks as if there was enough
        fill_up(small_disk / "filler")
        os.truncate(small_disk / "filler", (small_disk / "filler").stat().st_size - room)
        with pytest.raises(DiskFullError):
            restore.restore(state, made, LATER, replace=True)
        assert sorted(path.name for path in state.glob(".*")) == []
    assert files(state) == before
    (small_disk / "filler").unlink()
    restore.restore(state, made, LATER, replace=True)


def test_files_are_given_to_their_owners_by_root_and_refused_to_anybody_else(
    state: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    if os.geteuid():
        pytest.skip("only root can give a file to another user")
    for kind in backup.KINDS:
        (state / kind).chmod(0o711)
        for path in (state / kind / "p-bob", *(state / kind / "p-bob").iterdir()):
            os.chown(path, 65534, 65534)
    pack = lambda _, *more: archive.pack(*more)  # noqa: E731
    made = backup.make(state, START, keep=1, max_file_bytes=10**6, as_owner=pack).path
    target = tmp_path / "new"
    target.mkdir()
    with monkeypatch.context() as nobody:
        nobody.setattr(os, "geteuid", lambda: 4711)
        with pytest.raises(BackupError, match="belong to nobody"):
            restore.restore(target, made, LATER, replace=False)
    restore.restore(target, made, LATER, replace=False)
    assert {path.stat().st_uid for path in (target / "homes" / "p-bob").rglob("*")} == {65534}
    assert (target / "homes" / "p-ann").stat().st_uid == 0
    assert (target / "homes").stat().st_mode & 0o777 == 0o711
    monkeypatch.setattr(pwd, "getpwnam", lambda _: (_ for _ in ()).throw(KeyError))
    with pytest.raises(BackupError, match="no user nobody"):
        restore.restore(target, made, LATER, replace=True)


def test_root_prepares_the_state_of_another_user_where_they_cannot_reach(state: Path, tmp_path: Path) -> None:
    if os.geteuid():
        pytest.skip("only root can give a folder to another user")
    made = backup.make(state, START, keep=1, max_file_bytes=10**6).path
    kept = made.rename(tmp_path / "kept")
    for path in (state, *state.rglob("*")):
        os.chown(path, 65534, 65534, follow_symlinks=False)
    (state / restore.STAGE).symlink_to("/etc")
    (state / f"{opening.MARK}.new").symlink_to(tmp_path / "victim")
    done = restore.restore(state, kept, LATER, replace=True)
    assert done.aside is not None
    assert done.aside.parent == tmp_path / "s-restored"
    assert not (tmp_path / "victim").exists()
    assert {path.lstat().st_uid for path in (state / "kai.db", state / "attachments")} == {65534}
    (state / "kai.db.lock").unlink()
    (state / "kai.db.lock").hardlink_to(kept / "manifest.json")
    with pytest.raises(UnusableDatabaseError, match="several names"):
        restore.restore(state, kept, LATER, replace=True)
    assert restore.check(kept)


def killed_at(number: int, work: Callable[[], object]) -> bool:
    """Run `work` in a fork that dies just before its n-th change of a name; whether it died."""
    pid = os.fork()
    if pid == 0:
        left = number

        def guarded(function: Callable[..., Any]) -> Callable[..., Any]:
            def call(*args: Any, **kwargs: Any) -> Any:
                nonlocal left
                left -= 1
                if left < 0:
                    os.kill(os.getpid(), signal.SIGKILL)
                return function(*args, **kwargs)

            return call

        for name in ("rename", "unlink", "mkdir", "touch"):
            setattr(Path, name, guarded(getattr(Path, name)))
        try:
            work()
            os._exit(0)
        finally:
            os._exit(9)
    _, status = os.waitpid(pid, 0)
    assert os.WIFSIGNALED(status) or os.WEXITSTATUS(status) == 0
    return os.WIFSIGNALED(status)


@pytest.mark.timeout(150)
def test_a_kill_at_any_step_leaves_the_old_state_or_one_that_is_finished(
    state: Path, made: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(restore, "_sync", lambda _: None)  # a kill is no power cut
    restored = files(state)
    go_on(state)
    old = files(state)
    number, cut, died = 0, 0, True
    while died:
        again = tmp_path / f"again-{number}"
        shutil.copytree(state, again, symlinks=True)
        inside = again / "backups" / made.name
        died = killed_at(number, lambda: restore.restore(again, inside, LATER, replace=True))  # noqa: B023
        if (again / opening.MARK).exists():
            cut += 1
            with ExitStack() as stack, pytest.raises(UnfinishedRestoreError):
                opening.open_connections(stack, again / "kai.db", LATER, 1, 1)
            while killed_at(1, lambda: restore.finish(again)):  # noqa: B023 - and cut again, at every step
                pass
            if (again / opening.MARK).exists():
                restore.finish(again)
            assert files(again) == restored
        else:
            assert files(again) == (old if died else restored)
        with ExitStack() as stack:
            opening.open_connections(stack, again / "kai.db", LATER, 1, 1)
        with pytest.raises(BackupError, match="no restore"):
            restore.finish(again)
        shutil.rmtree(again)
        number += 2 if cut else 4
    assert cut > 4


def test_a_backup_is_found_by_name_by_path_and_as_the_newest(state: Path, made: Path) -> None:
    assert restore.find(state, "newest") == made
    assert restore.find(state, made.name) == made
    assert restore.find(state, str(made)) == made
    with pytest.raises(BackupError, match="no folder"):
        restore.find(state, "kai-nothing")
    shutil.rmtree(state / "backups")
    with pytest.raises(BackupError, match="no backup"):
        restore.find(state, "newest")
