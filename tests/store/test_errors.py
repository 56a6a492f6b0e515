"""Every way the database can fail names the file, says what happened and what to do."""

from dataclasses import fields
from pathlib import Path

import pytest

from kai.model.errors import StoreError
from kai.store import errors
from kai.store.binding import OperationalError

PATH = Path("/var/lib/kai/kai.db")


def error(name: str) -> OperationalError:
    made = OperationalError("as SQLite says it")
    made.sqlite_errorname = name
    return made


@pytest.mark.parametrize(
    ("name", "kind"),
    [
        ("SQLITE_FULL", errors.DiskFullError),
        ("SQLITE_BUSY", errors.DatabaseLockedError),
        ("SQLITE_BUSY_SNAPSHOT", errors.DatabaseLockedError),
        ("SQLITE_LOCKED", errors.DatabaseLockedError),
        ("SQLITE_CORRUPT", errors.CorruptDatabaseError),
        ("SQLITE_CORRUPT_VTAB", errors.CorruptDatabaseError),
        ("SQLITE_NOTADB", errors.CorruptDatabaseError),
        ("SQLITE_CANTOPEN", errors.UnusableDatabaseError),
        ("SQLITE_READONLY", errors.UnusableDatabaseError),
        ("SQLITE_IOERR_WRITE", errors.UnusableDatabaseError),
        ("SQLITE_CONSTRAINT", StoreError),
    ],
)
def test_an_error_of_sqlite_becomes_a_situation(name: str, kind: type[StoreError]) -> None:
    story = errors.translate(error(name), PATH)
    assert type(story) is kind
    assert story.path == str(PATH)
    assert str(PATH) in story.sentence
    assert story.hint


@pytest.mark.parametrize("kind", StoreError.__subclasses__())
def test_a_situation_needs_no_more_than_the_path(kind: type[StoreError]) -> None:
    story = kind("/x/kai.db")  # type: ignore[call-arg]
    assert story.sentence.startswith("/x/kai.db: ")
    assert story.hint
    assert {field.name for field in fields(story)} >= {"path", "problem", "remedy"}


def test_the_process_that_has_the_database_is_named_where_it_is_known() -> None:
    assert "4711" in errors.DaemonRunningError("/x/kai.db", pid=4711).sentence
    assert "process" not in errors.DaemonRunningError("/x/kai.db").sentence
