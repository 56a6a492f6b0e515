"""A database is brought up to date whole or not at all, and never backwards."""

import zlib
from collections.abc import Iterator
from contextlib import closing
from datetime import date
from hashlib import sha256
from pathlib import Path

import pytest

from kai.model.context import ContextBlock, Disposition, Section, Verdict
from kai.model.errors import StoreError, UnknownThingError
from kai.model.ids import DispatchId
from kai.store import migrate, opening, snapshots
from kai.store.binding import Connection, Error
from kai.store.columns import insert, values
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
ITEMS = (
    Disposition("memory", "record", 'a "b" \u2028', 2, 10, 3, Verdict.SUBMITTED, parts="1 + 2"),
    Disposition("words", "words", "t-1", 0, 11, 4, Verdict.OMITTED_BUDGET, "too large"),
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


def test_what_was_sent_before_snapshots_were_one_row_is_shown_as_it_was(db: Connection, path: Path) -> None:
    shipped = migrate.shipped()
    migrate.migrate(db, path, shipped[:7], START)
    db.execute("PRAGMA foreign_keys = OFF")
    day = START.date().toordinal() - date(1970, 1, 1).toordinal()
    insert(db, "person", principal="p", name="Ann", name_key="ann", os_user="ann", added_at=START)
    insert(db, "channel", channel="c", kind="private", title="", created_at=START)
    insert(db, "address", address="x", bridge="b", chat="1", thread="", channel="c")
    whose = {"channel": "c", "principal": "p"}
    insert(db, "session", session="k", **whose, backend="b", epoch="e", workspace="/", state="ended",
           created_at=START, used_at=START)  # fmt: skip
    insert(db, "run", run="r", session="k", started_at=START)
    for at, dispatch in enumerate(("d-2", "d-1", "d-purged")):
        turn, message = f"t-{at}", f"m-{at}"
        insert(db, "message", message=message, **whose, number=at, author="person", name="", text="", created_at=START)
        insert(db, "turn", turn=turn, **whose, message=message, address="x", state="done", queued_at=START)
        insert(db, "dispatch", dispatch=dispatch, turn=turn, attempt=1, state="settled", backend="b", model="m",
               session="k", run="r", epoch="e", fresh=0, bare=0, tokens=7, prepared_at=START)  # fmt: skip
    for dispatch, texts in (("d-2", ("the words", "who", "now 2")), ("d-1", ("other words", "who", "now 1"))):
        for position, text in enumerate(texts, -1):
            digest = sha256(text.encode()).digest()
            db.execute("INSERT OR IGNORE INTO blob VALUES (?, ?, ?)", (digest, 1, zlib.compress(text.encode())))
            row = dispatch, position, ["words", "agent", "now"][position + 1], 1, position == 0, digest
            db.execute("INSERT INTO snapshot_section VALUES (?, ?, ?, ?, ?, ?)", row)
        for position, item in enumerate(ITEMS):
            insert(db, "disposition", dispatch=dispatch, position=position, **values(item))
    migrate.migrate(db, path, shipped, START)
    sections = Section("agent", "who", True, True), Section("now", "now 1", True, False)
    assert snapshots.snapshot(db, DispatchId("d-1")) == ContextBlock(sections, "other words", ITEMS, 7)
    assert snapshots.snapshot(db, DispatchId("d-2")).words == "the words"
    with pytest.raises(UnknownThingError):
        snapshots.snapshot(db, DispatchId("d-purged"))
    assert [row[0] for row in db.execute("SELECT DISTINCT used_on FROM blob")] == [day]
