"""What is tried on the database can be taken back, and nothing is thrown away."""

import os
import subprocess
import sys
from contextlib import closing
from pathlib import Path

import pytest

from kai.store import opening, safekeeping
from kai.store.migrate import Migration, migrate
from tests.store.house import START

ONE = Migration(1, "0001_one.sql", "CREATE TABLE one (x TEXT) STRICT;")
TWO = Migration(2, "0002_two.sql", "CREATE TABLE two (x TEXT) STRICT;")


@pytest.fixture
def path(tmp_path: Path) -> Path:
    path = tmp_path / "kai.db"
    change(path, (ONE,), "INSERT INTO one VALUES ('precious')")
    return path


def change(path: Path, migrations: tuple[Migration, ...], sql: str = "SELECT 1") -> None:
    with closing(opening.connect_to(path, busy_s=1)) as db:
        migrate(db, path, migrations, START)
        db.execute("PRAGMA journal_mode = WAL")
        db.execute(sql)


def rows(path: Path, table: str) -> list[str]:
    with closing(opening.connect_to(path, busy_s=1)) as db:
        return [row[0] for row in db.execute(f"SELECT x FROM {table}")]


def test_a_database_that_was_changed_is_put_back_and_the_changed_one_kept(path: Path, tmp_path: Path) -> None:
    copy = tmp_path / "backups/before.db"
    safekeeping.keep(path, copy)
    change(path, (ONE, TWO), "INSERT INTO two VALUES ('later')")
    assert "back" in safekeeping.put_back(path, copy)
    assert rows(path, "one") == ["precious"]
    assert rows(tmp_path / "before.after", "two") == ["later"]
    change(path, (ONE,))


def test_a_database_of_the_same_version_stays_with_all_that_came_since(path: Path, tmp_path: Path) -> None:
    copy = tmp_path / "backups/before.db"
    safekeeping.keep(path, copy)
    change(path, (ONE,), "INSERT INTO one VALUES ('accepted since')")
    safekeeping.put_back(path, copy)
    assert rows(path, "one") == ["precious", "accepted since"]


def test_where_there_is_no_database_nothing_is_copied_and_nothing_put_back(tmp_path: Path) -> None:
    assert "no database" in safekeeping.keep(tmp_path / "kai.db", tmp_path / "copy")
    assert "nothing" in safekeeping.put_back(tmp_path / "kai.db", tmp_path / "copy")


def test_a_database_in_use_is_not_touched(path: Path, tmp_path: Path) -> None:
    lock = opening.take_lock(path)
    argv = [sys.executable, "-m", "kai.store.safekeeping", "keep", str(path), str(tmp_path / "copy")]
    done = subprocess.run(argv, capture_output=True, text=True)
    os.close(lock)
    assert done.returncode == 1
    assert "using this database" in done.stderr
    assert subprocess.run(argv, capture_output=True, text=True).returncode == 0
