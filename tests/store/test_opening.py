"""A database that cannot be used is refused with what to do, and left as it is: never an empty one in its place."""

import os
import subprocess
import sys
from collections.abc import Callable
from contextlib import ExitStack, closing
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest

from kai.model.errors import StoreError
from kai.model.people import Person
from kai.store import opening, people
from kai.store.binding import Connection, connect
from kai.store.errors import (
    CorruptDatabaseError,
    DaemonRunningError,
    DatabaseLockedError,
    NewerDatabaseError,
    UnusableDatabaseError,
)
from tests.store.house import ANN, START

ROOT = Path(opening.__file__).parents[2]


@pytest.fixture
def path(tmp_path: Path) -> Path:
    """Where a database with one person is, closed."""
    path = tmp_path / "kai.db"
    with ExitStack() as stack:
        writer, _ = opening.open_connections(stack, path, START, 1, 0)
        people.add(writer, Person(ANN, "Ann", "ann"), START)
    return path


def open_and_count(path: Path, busy_s: float = 0.1) -> int:
    with ExitStack() as stack:
        _, (reader,) = opening.open_connections(stack, path, START, busy_s, 1)
        return len(people.every(reader))


def test_a_database_is_made_for_its_owner_only_and_found_again(path: Path) -> None:
    assert open_and_count(path) == 1
    with ExitStack() as stack:
        opening.open_connections(stack, path, START, 1, 1)
        modes = {file.name: file.stat().st_mode & 0o777 for file in path.parent.iterdir()}
    assert modes == {"kai.db": 0o600, "kai.db-wal": 0o600, "kai.db-shm": 0o600, "kai.db.lock": 0o600}


def test_a_database_that_others_may_read_is_closed_to_them(path: Path) -> None:
    path.chmod(0o644)
    open_and_count(path)
    assert path.stat().st_mode & 0o777 == 0o600


def truncate(path: Path) -> None:
    os.truncate(path, path.stat().st_size // 2)


def overwrite_a_page(path: Path) -> None:
    with path.open("r+b") as file:
        file.seek(4096)
        file.write(os.urandom(4096))


def replace_by_text(path: Path) -> None:
    path.write_text("this is no database\n" * 1000)


def empty(path: Path) -> None:
    path.write_bytes(b"")


def replace_by_anothers(path: Path) -> None:
    path.unlink()
    with closing(connect(path)) as db:
        db.execute("CREATE TABLE bookmarks (url)")
        db.commit()


def lose_the_file_but_not_its_log(path: Path) -> None:
    path.rename(path.with_name("kai.db-wal"))


@pytest.mark.parametrize(
    "harm", [truncate, overwrite_a_page, replace_by_text, empty, replace_by_anothers, lose_the_file_but_not_its_log]
)
def test_a_damaged_or_foreign_file_is_refused_and_left_as_it_is(path: Path, harm: Callable[[Path], None]) -> None:
    harm(path)
    files = {file: file.read_bytes() for file in path.parent.glob("kai.db*") if not file.name.endswith(".lock")}
    with pytest.raises(CorruptDatabaseError) as refused:
        open_and_count(path)
    assert refused.value.path == str(path)
    assert refused.value.hint
    assert {file: file.read_bytes() for file in files} == files


def test_an_empty_file_is_told_from_another_programs_database(path: Path) -> None:
    empty(path)
    with pytest.raises(CorruptDatabaseError, match="the file is empty"):
        open_and_count(path)
    replace_by_anothers(path)
    with pytest.raises(CorruptDatabaseError, match="not a database of kai"):
        open_and_count(path)


def test_a_database_of_a_newer_kai_is_refused(path: Path) -> None:
    with closing(connect(path, isolation_level=None)) as db:
        db.execute("PRAGMA user_version = 99")
    with pytest.raises(NewerDatabaseError):
        open_and_count(path)


def test_a_database_that_another_program_holds_is_refused(path: Path) -> None:
    with closing(connect(path, isolation_level=None)) as db:
        db.execute("PRAGMA locking_mode = EXCLUSIVE")
        db.execute("BEGIN EXCLUSIVE")
        with pytest.raises(DatabaseLockedError) as refused:
            open_and_count(path)
    assert refused.value.hint
    assert open_and_count(path) == 1


@pytest.mark.parametrize("place", ["missing/kai.db", "folder"])
def test_a_path_where_no_database_can_be_is_refused(tmp_path: Path, place: str) -> None:
    (tmp_path / "folder").mkdir()
    with pytest.raises(UnusableDatabaseError) as refused:
        open_and_count(tmp_path / place)
    assert refused.value.hint
    assert not (tmp_path / "missing").exists()


AS_NOBODY = """
import os, sys
from pathlib import Path
path = Path(sys.argv[1])
sys.path.insert(0, sys.argv[2])
from contextlib import ExitStack
from datetime import UTC, datetime
from kai.model.errors import StoreError
from kai.store.opening import open_connections
os.setgid(65534); os.setuid(65534)
try:
    open_connections(ExitStack(), path, datetime.now(UTC), 0.1, 1)
except StoreError as error:
    print(type(error).__name__, error.sentence, error.hint)
"""


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can become another user")
@pytest.mark.parametrize("mode", ["unreadable file", "unwritable folder"])
def test_a_file_that_kai_may_not_open_is_refused(mode: str) -> None:
    with TemporaryDirectory() as folder:
        path = Path(folder) / "kai.db"
        open_and_count(path)
        path.parent.chmod(0o777 if mode == "unreadable file" else 0o755)
        path.with_name("kai.db.lock").unlink()
        done = as_nobody(path)
    assert done.stdout.startswith("UnusableDatabaseError"), done.stderr
    assert str(path) in done.stdout
    assert "user that runs kai" in done.stdout


def as_nobody(path: Path) -> "subprocess.CompletedProcess[str]":
    return subprocess.run(
        [sys.executable, "-c", AS_NOBODY, str(path), str(ROOT)], cwd="/", capture_output=True, text=True, check=False
    )


def test_a_second_opening_is_refused_with_the_process_that_has_it(path: Path) -> None:
    with ExitStack() as stack:
        opening.open_connections(stack, path, START, 1, 0)
        with pytest.raises(DaemonRunningError) as refused:
            open_and_count(path)
    assert refused.value.pid == os.getpid()
    assert open_and_count(path) == 1


def test_the_lock_of_a_dead_process_does_not_hinder_even_when_its_pid_lives(path: Path) -> None:
    path.with_name("kai.db.lock").write_text("1\n")
    assert open_and_count(path) == 1


def test_a_lock_without_a_pid_is_still_a_lock(path: Path) -> None:
    with ExitStack() as stack:
        opening.open_connections(stack, path, START, 1, 0)
        path.with_name("kai.db.lock").write_text("")
        with pytest.raises(DaemonRunningError) as refused:
            open_and_count(path)
    assert refused.value.pid == 0


ANOTHER = """
import os, sys
from pathlib import Path
path = Path(sys.argv[1])
sys.path.insert(0, sys.argv[2])
from contextlib import ExitStack
from datetime import UTC, datetime
from kai.model.errors import StoreError
from kai.store.opening import open_connections
try:
    open_connections(ExitStack(), path, datetime.now(UTC), 0.1, 1)
    print("opened")
except StoreError as error:
    print(type(error).__name__, error.sentence)
"""


def another_opening(path: Path) -> str:
    argv = [sys.executable, "-c", ANOTHER, str(path), str(ROOT)]
    return subprocess.run(argv, capture_output=True, text=True, check=True).stdout.strip()


def test_removing_the_lock_lets_no_second_daemon_in_and_the_first_is_still_named(path: Path) -> None:
    with ExitStack() as stack:
        writer, _ = opening.open_connections(stack, path, START, 1, 1)
        for _ in range(2):  # the second time, the lock beside it is of the one that was refused
            path.with_name("kai.db.lock").unlink()
            said = another_opening(path)
            assert said.startswith("DaemonRunningError"), said
            assert f"(process {os.getpid()})" in said
        writer.execute("BEGIN IMMEDIATE")
        writer.execute("ROLLBACK")
    assert another_opening(path) == "opened"


def test_children_do_not_inherit_the_lock(path: Path) -> None:
    with ExitStack() as stack:
        opening.open_connections(stack, path, START, 1, 0)
        script = (
            "import os\nfor fd in range(256):\n  try: print(os.readlink(f'/proc/self/fd/{fd}'))\n  except OSError: 0"
        )
        done = subprocess.run([sys.executable, "-c", script], stdout=subprocess.PIPE, close_fds=False, check=True)
    assert b"pipe:" in done.stdout
    assert b"kai.db" not in done.stdout


def test_a_first_start_that_was_cut_is_made_again(tmp_path: Path) -> None:
    path = tmp_path / "kai.db"
    path.with_name("kai.db.new").write_bytes(b"half a database")
    assert open_and_count(path) == 0
    assert not path.with_name("kai.db.new").exists()


def test_a_large_database_is_checked_where_people_and_channels_are(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(opening, "_WHOLLY_CHECKED_BYTES", 0)
    assert open_and_count(path) == 1
    with closing(connect(path, isolation_level=None)) as db:
        page = db.execute("SELECT rootpage FROM sqlite_schema WHERE name = 'person'").fetchone()[0]
    with path.open("r+b") as file:
        file.seek((page - 1) * 4096)
        file.write(b"\xff" * 4096)
    with pytest.raises(CorruptDatabaseError):
        open_and_count(path)


def test_a_sound_database_has_no_damage(path: Path) -> None:
    with closing(opening.connect_to(path, 1)) as db:
        assert opening.damage(db) == ""


def test_readers_cannot_write(path: Path) -> None:
    with ExitStack() as stack:
        _, (reader,) = opening.open_connections(stack, path, START, 1, 1)
        with pytest.raises(Exception, match="readonly"):
            reader.execute("DELETE FROM person")


def test_a_disk_that_cannot_hold_a_log_is_refused(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """As on a network share, where SQLite keeps to its old journal."""
    with closing(connect(path, isolation_level=None)) as db:
        db.execute("PRAGMA journal_mode = DELETE")
    connect_to = opening.connect_to

    def on_a_share(at: Path, busy_s: float) -> Connection:
        return connect_to(Path(f"file:{at}?vfs=unix-none"), busy_s) if at == path else connect_to(at, busy_s)

    monkeypatch.setattr(opening, "connect", lambda name, **how: connect(str(name), uri=True, **how))
    monkeypatch.setattr(opening, "connect_to", on_a_share)
    with pytest.raises(UnusableDatabaseError, match="wal"):
        open_and_count(path)


def test_every_refusal_lets_the_lock_go(path: Path) -> None:
    good = path.read_bytes()
    path.write_bytes(b"")
    with pytest.raises(StoreError):
        open_and_count(path)
    path.write_bytes(good)
    assert open_and_count(path) == 1


def test_a_link_to_a_file_that_is_not_there_is_never_replaced(tmp_path: Path) -> None:
    path = tmp_path / "kai.db"
    path.symlink_to(tmp_path / "unmounted" / "kai.db")
    with pytest.raises(StoreError, match="a link to a file that is not there"):
        opening._make(path, START)
    assert path.is_symlink()
