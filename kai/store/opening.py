"""Opens the file: the lock, the first making, the checks, the settings of a connection. All of it blocks.

F151 rules here: while SQLite has the file open, nothing else opens it, and what was open before is closed after it; its
size and mode are asked by path.
"""

import errno
import fcntl
import os
from contextlib import ExitStack, closing, suppress
from datetime import datetime
from pathlib import Path

from kai.store import indexes
from kai.store.binding import Connection, Error, Row, connect
from kai.store.errors import (
    CorruptDatabaseError,
    DaemonRunningError,
    DiskFullError,
    UnfinishedRestoreError,
    UnusableDatabaseError,
    translate,
)
from kai.store.migrate import APPLICATION_ID, migrate, shipped, sync_folder, version

MARK = ".restoring.json"  # beside the database: a restore is taking its place
_WAL_PAGES = 4000  # a commit brings a log of this length into the file itself, 16 MB: there was no quiet moment
_WHOLLY_CHECKED_BYTES = 32 * 1024 * 1024
_WAL_BYTES = 16 * 1024 * 1024  # a log that grew beyond this under a long read is cut back


def open_connections(
    stack: ExitStack, path: Path, now: datetime, busy_s: float, readers: int
) -> tuple[Connection, list[Connection]]:
    """The writer and the readers of an up-to-date database, closed again by `stack`: readers, writer, then the lock."""
    try:
        stack.callback(os.close, take_lock(path))
        if path.with_name(MARK).exists():
            raise UnfinishedRestoreError(str(path.parent))
        _make(path, now)
        stack.callback(os.close, hold(path))
        writer = stack.enter_context(closing(connect_to(path, busy_s)))
        _check(writer, path)
        migrate(writer, path, shipped(), now)
        _settle(writer, path)
        indexes.refresh(writer)
        reading = [stack.enter_context(closing(connect_to(path, busy_s))) for _ in range(readers)]
        for reader in reading:
            reader.execute("PRAGMA query_only = ON")
    except Error as error:
        raise translate(error, path) from error
    except OSError as error:
        if error.errno in (errno.ENOSPC, errno.EDQUOT):
            raise DiskFullError(str(path)) from error
        raise UnusableDatabaseError(str(path), f"it cannot be opened ({error.strerror or error})") from error
    return writer, reading


def take_lock(path: Path) -> int:
    """The descriptor that holds the lock of the database at `path`, until it is closed or this process ends.

    The kernel holds it, so the file of a dead process does not hinder; children do not inherit it. Raises
    `DaemonRunningError`.
    """
    if not path.parent.is_dir():
        raise UnusableDatabaseError(str(path), "its folder is missing", "Make the folder, or mount the disk it is on.")
    lock_path = path.with_name(path.name + ".lock")
    descriptor = os.open(lock_path, os.O_RDWR | os.O_CREAT | os.O_NOFOLLOW, 0o600)
    with ExitStack() as closing_:
        closing_.callback(os.close, descriptor)
        if not _locks(descriptor):
            said = os.pread(descriptor, 32, 0).strip()
            raise DaemonRunningError(str(path), pid=int(said) if said.isdigit() else 0)
        if os.fstat(descriptor).st_nlink > 1:  # another file's second name: nothing is written to that
            raise UnusableDatabaseError(str(lock_path), "the lock has several names", "Remove it, then try again.")
        os.ftruncate(descriptor, 0)
        os.pwrite(descriptor, f"{os.getpid()}\n".encode(), 0)
        closing_.pop_all()
    return descriptor


def hold(path: Path) -> int:
    """The descriptor that holds the database itself: the lock beside it can be removed, and then locks nobody out.

    Linux keeps this kind of lock apart from those that SQLite sets within the file. Raises `DaemonRunningError`.
    """
    descriptor = os.open(path, os.O_RDWR)
    if not _locks(descriptor):
        inode = str(os.fstat(descriptor).st_ino)
        os.close(descriptor)
        with suppress(OSError):  # 1: FLOCK  ADVISORY  WRITE 4711 08:02:1234 0 EOF
            for line in Path("/proc/locks").read_text().splitlines():
                _, kind, *_, pid, place, _, _ = line.split()
                if kind == "FLOCK" and place.rpartition(":")[2] == inode and pid.isdigit():
                    raise DaemonRunningError(str(path), pid=int(pid))
        raise DaemonRunningError(str(path))
    return descriptor


def _locks(descriptor: int) -> bool:
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    return True


def _make(path: Path, now: datetime) -> None:
    """Make the database when there is none: whole under its name, or not there. A kill in between leaves a draft."""
    if path.is_symlink() and not path.exists():
        raise UnusableDatabaseError(str(path), "this is a link to a file that is not there", "Bring its disk back.")
    if path.exists():
        if not path.is_file():
            raise UnusableDatabaseError(str(path), "this is not a file", "Check the path in the settings.")
        if path.stat().st_size == 0:
            raise CorruptDatabaseError(str(path), "the database is damaged (the file is empty)")
        path.chmod(0o600)
        return
    if path.with_name(path.name + "-wal").exists():
        raise CorruptDatabaseError(str(path), "the database is gone, but its log (-wal) is still there")
    draft = path.with_name(path.name + ".new")
    for leftover in (draft, draft.with_name(draft.name + "-journal")):
        leftover.unlink(missing_ok=True)
    os.close(os.open(draft, os.O_CREAT | os.O_EXCL | os.O_WRONLY, 0o600))
    with closing(connect_to(draft, 0)) as db:
        migrate(db, draft, shipped(), now)
    draft.rename(path)
    sync_folder(path.parent)


def connect_to(path: Path, busy_s: float) -> Connection:
    """A connection that may cross threads, in autocommit, with rows that know their columns' names."""
    db = connect(path, timeout=busy_s, isolation_level=None, check_same_thread=False, cached_statements=256)
    db.row_factory = Row
    db.execute("PRAGMA foreign_keys = ON")
    db.execute("PRAGMA temp_store = MEMORY")
    db.execute("PRAGMA mmap_size = 0")
    return db


def _check(db: Connection, path: Path) -> None:
    """Refuse a file that is not ours or is damaged, before anything is written to it."""
    if db.execute("PRAGMA application_id").fetchone()[0] != APPLICATION_ID or version(db) == 0:
        raise CorruptDatabaseError(str(path), "this is not a database of kai", "Check the path in the settings.")
    if path.stat().st_size <= _WHOLLY_CHECKED_BYTES:
        found = damage(db)
    else:  # seconds in a house's years of talk: the rest is the doctor's, and is met when it is read
        found = " ".join(
            damage(db, table) for table in ("person", "account", "channel", "membership", "address")
        ).strip()
    if found:
        raise CorruptDatabaseError(str(path), f"the database is damaged ({found})")


def damage(db: Connection, table: str = "") -> str:
    """What is wrong with the file, or with one table; empty when nothing is. Reads all of it: about 40 MB a second."""
    found: str = db.execute(f"PRAGMA quick_check({table or 1})").fetchone()[0]
    return "" if found == "ok" else " ".join(found.split())


def _settle(db: Connection, path: Path) -> None:
    """The settings of the writer. WAL is kept in the file; readers find it there."""
    mode = db.execute("PRAGMA journal_mode = WAL").fetchone()[0]
    if mode != "wal":
        raise UnusableDatabaseError(
            str(path), f"this disk cannot hold it (journal mode {mode} instead of wal)", "Use a local disk."
        )
    db.execute("PRAGMA foreign_keys = ON")
    db.execute("PRAGMA synchronous = FULL")
    db.execute(f"PRAGMA wal_autocheckpoint = {_WAL_PAGES}")
    db.execute(f"PRAGMA journal_size_limit = {_WAL_BYTES}")
