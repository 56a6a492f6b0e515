"""A database is brought up to date whole or not at all, and never backwards."""

from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest

from kai.model.errors import StoreError
from kai.store import migrate, opening
from kai.store.binding import Connection, Error
from kai.store.errors import CorruptDatabaseError, NewerDatabaseError
from kai.store.migrate import Migration
from tests.store.house import START

ONE = Migration(
    1, "0001_one.sql", "CREATE TABLE one (x TEXT) STRICT; -- it's; here\nCREATE TABLE also (x) ;\n-- the end"
)
TWO = Migration(
    2,
    "0002_two.sql",
    "ALTER TABLE one ADD COLUMN y TEXT;\nCREATE TRIGGER t AFTER INSERT ON one BEGIN\n  SELECT 1;\n  SELECT 2;\nEND;\n",
)
BROKEN = Migration(3, "0003_broken.sql", "CREATE TABLE three (x);\nINSERT INTO nowhere VALUES (1);")
DANGLING = Migration(
    3,
    "0003_dangling.sql",
    "CREATE TABLE up (x PRIMARY KEY);\nCREATE TABLE down (x REFERENCES up (x));\nINSERT INTO down VALUES (1);",
)


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "kai.db"


@pytest.fixture
def db(path: Path) -> Iterator[Connection]:
    with closing(opening.connect_to(path, busy_s=1)) as connection:
        yield connection


def tables(db: Connection) -> set[str]:
    return {row[0] for row in db.execute("SELECT name FROM sqlite_schema WHERE type = 'table'")}


def test_missing_migrations_are_applied_in_order_and_noted(db: Connection, path: Path) -> None:
    migrate.migrate(db, path, (ONE, TWO), START)
    assert migrate.version(db) == 2
    db.execute("INSERT INTO one (x, y) VALUES ('a', 'b')")
    assert [row["name"] for row in db.execute("SELECT name FROM migration ORDER BY number")] == [ONE.name, TWO.name]
    migrate.migrate(db, path, (ONE, TWO), START)
    assert not (path.parent / "backups").exists()


def test_a_backup_is_made_before_a_database_is_changed(db: Connection, path: Path) -> None:
    migrate.migrate(db, path, (ONE,), START)
    db.execute("INSERT INTO one VALUES ('precious')")
    migrate.migrate(db, path, (ONE, TWO), START)
    (backup,) = (path.parent / "backups").iterdir()
    assert backup.name == "kai-before-0002-20261130T174100.db"
    assert (backup.stat().st_mode & 0o777, backup.parent.stat().st_mode & 0o777) == (0o600, 0o700)
    with closing(opening.connect_to(backup, busy_s=1)) as copy:
        assert migrate.version(copy) == 1
        assert [tuple(row) for row in copy.execute("SELECT * FROM one")] == [("precious",)]


@pytest.mark.parametrize("bad", [BROKEN, DANGLING], ids=lambda migration: migration.name)
def test_a_migration_that_fails_leaves_the_database_as_it_was(db: Connection, path: Path, bad: Migration) -> None:
    migrate.migrate(db, path, (ONE,), START)
    before = tables(db)
    with pytest.raises((Error, CorruptDatabaseError)):
        migrate.migrate(db, path, (ONE, TWO, bad), START)
    assert migrate.version(db) == 2
    assert tables(db) == before
    assert not db.in_transaction


def test_a_newer_database_is_refused_untouched(db: Connection, path: Path) -> None:
    migrate.migrate(db, path, (ONE, TWO), START)
    with pytest.raises(NewerDatabaseError) as refused:
        migrate.migrate(db, path, (ONE,), START)
    assert refused.value.hint
    assert migrate.version(db) == 2


def test_a_migration_that_was_changed_after_it_was_applied_is_found_out(db: Connection, path: Path) -> None:
    migrate.migrate(db, path, (ONE,), START)
    other = Migration(1, ONE.name, "CREATE TABLE other (x);")
    with pytest.raises(CorruptDatabaseError, match=r"0001_one\.sql"):
        migrate.migrate(db, path, (other, TWO), START)
    assert migrate.version(db) == 1


def test_a_half_written_backup_never_bears_its_name(db: Connection, path: Path) -> None:
    migrate.migrate(db, path, (ONE,), START)
    target = path.parent / "backups" / "copy.db"
    db.execute("BEGIN")  # VACUUM is refused within a transaction
    with pytest.raises(Error):
        migrate.back_up(db, target)
    db.execute("ROLLBACK")
    assert list(target.parent.iterdir()) == []
    migrate.back_up(db, target)
    assert [file.name for file in target.parent.iterdir()] == ["copy.db"]


def test_the_shipped_migrations_are_numbered_from_one() -> None:
    shipped = migrate.shipped()
    assert [migration.number for migration in shipped] == list(range(1, len(shipped) + 1))


def test_an_incomplete_installation_is_said(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    (tmp_path / "migrations").mkdir()
    (tmp_path / "migrations" / "0002_late.sql").write_text("SELECT 1;")
    monkeypatch.setattr("kai.resources.folder", lambda _: tmp_path)
    with pytest.raises(StoreError):
        migrate.shipped()
