"""Brings a database up to date: numbered files, forward only, each in one transaction with its number and checksum."""

import os
import re
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime
from hashlib import sha256
from pathlib import Path

from kai import resources
from kai.model.errors import StoreError
from kai.store.binding import Connection, complete_statement
from kai.store.columns import moment, stamp
from kai.store.errors import CorruptDatabaseError, NewerDatabaseError

APPLICATION_ID = 0x6B61_6921  # "kai!" in the file's header: another program's database is never taken for ours
_NAME = re.compile(r"(\d{4})_[a-z0-9_]+\.sql")


@dataclass(frozen=True, slots=True)
class Migration:
    """One numbered file."""

    number: int
    name: str
    sql: str

    @property
    def sha256(self) -> str:
        return sha256(self.sql.encode()).hexdigest()


def shipped() -> tuple[Migration, ...]:
    """The migrations of this version of kai, in order. Raises `StoreError` when the installation is incomplete."""
    folder = resources.folder("data") / "migrations"
    found = [
        Migration(int(match[1]), path.name, path.read_text(encoding="utf-8"))
        for path in sorted(folder.iterdir())
        if (match := _NAME.fullmatch(path.name))
    ]
    if not found or [migration.number for migration in found] != list(range(1, len(found) + 1)):
        raise StoreError(str(folder), "the migrations are not numbered 1, 2, 3, …", "Install kai again.")
    return tuple(found)


def version(db: Connection) -> int:
    """How many migrations this database has had."""
    number: int = db.execute("PRAGMA user_version").fetchone()[0]
    return number


def made_at(db: Connection) -> datetime:
    """When this database was made."""
    return moment(db.execute("SELECT min(applied_at) FROM migration").fetchone()[0])


def migrate(db: Connection, path: Path, migrations: tuple[Migration, ...], now: datetime) -> None:
    """Apply what is missing, after a backup when there is anything to lose. Foreign keys are off while it runs.

    Raises `NewerDatabaseError`, or `CorruptDatabaseError` when a migration was changed after it was applied.
    """
    have = version(db)
    if have > len(migrations):
        raise NewerDatabaseError(str(path))
    _check_applied(db, path, migrations[:have])
    if have == len(migrations):
        return
    if have:
        back_up(db, path.parent / "backups" / f"{path.stem}-before-{have + 1:04}-{now:%Y%m%dT%H%M%S}.db")
    db.execute("PRAGMA foreign_keys = OFF")
    for migration in migrations[have:]:
        _apply(db, path, migration, now)


def back_up(db: Connection, target: Path) -> None:
    """A whole and checked copy, complete under its name or not there at all.

    By `VACUUM INTO`: opening the live file in any other way would drop SQLite's locks on it.
    """
    target.parent.mkdir(mode=0o700, exist_ok=True)
    draft = target.with_name(target.name + ".new")
    draft.unlink(missing_ok=True)
    descriptor = os.open(draft, os.O_CREAT | os.O_EXCL | os.O_WRONLY, 0o600)
    try:
        db.execute("VACUUM INTO ?", (str(draft),))
        os.fsync(descriptor)
        draft.rename(target)
    finally:
        os.close(descriptor)
        draft.unlink(missing_ok=True)
    sync_folder(target.parent)


def sync_folder(folder: Path) -> None:
    """Make a rename in `folder` survive a power cut."""
    descriptor = os.open(folder, os.O_RDONLY | os.O_DIRECTORY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


def _check_applied(db: Connection, path: Path, applied: tuple[Migration, ...]) -> None:
    if not applied:
        return
    kept = {row["number"]: row["sha256"] for row in db.execute("SELECT number, sha256 FROM migration")}
    for migration in applied:
        if kept.get(migration.number) != migration.sha256:
            raise CorruptDatabaseError(
                str(path),
                f"migration {migration.name} is not the one that made this database",
                "Install the version of kai that last wrote this database.",
            )


def _apply(db: Connection, path: Path, migration: Migration, now: datetime) -> None:
    db.execute("BEGIN IMMEDIATE")
    try:
        for statement in _statements(migration.sql):
            db.execute(statement)
        if db.execute("PRAGMA foreign_key_check").fetchone():
            raise CorruptDatabaseError(str(path), f"migration {migration.name} would leave rows that refer to nothing")
        db.execute(
            "CREATE TABLE IF NOT EXISTS migration (number INTEGER PRIMARY KEY, name TEXT NOT NULL, "
            "sha256 TEXT NOT NULL, applied_at INTEGER NOT NULL) STRICT"
        )
        db.execute(
            "INSERT INTO migration VALUES (?, ?, ?, ?)",
            (migration.number, migration.name, migration.sha256, stamp(now)),
        )
        db.execute(f"PRAGMA application_id = {APPLICATION_ID}")
        db.execute(f"PRAGMA user_version = {migration.number}")
        db.execute("COMMIT")
    finally:
        if db.in_transaction:
            db.execute("ROLLBACK")


def _statements(sql: str) -> Iterator[str]:
    """The statements of a file, one by one: a script run whole would commit by itself."""
    statement = ""
    for line in sql.splitlines(keepends=True):
        statement += line
        if complete_statement(statement):
            yield statement
            statement = ""
    if statement.strip():
        yield statement
