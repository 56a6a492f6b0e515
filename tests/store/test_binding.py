"""The binding is chosen in one place, and either one will do."""

import re
import subprocess
import sys
from pathlib import Path

from kai.store import binding

PACKAGE = Path(binding.__file__).parents[1]
WITHOUT_PYSQLITE3 = """
import sys
sys.modules["pysqlite3"] = None
from tests.store.house import empty_database, furnish
from kai.store import binding, search
assert binding.binding_name == "sqlite3"
db = empty_database()
db.execute("BEGIN")
house = furnish(db)
turn = house.queued("does the pump survive a power cut")
house.finish(turn, house.sent(turn))
assert len(search.search(house.db, house.main.channel, "pumps", 5)) == 1
house.db.execute("INSERT INTO message_index (message_index) VALUES ('integrity-check')")
print(binding.sqlite_version_info)
"""


def test_no_other_module_imports_a_binding() -> None:
    importing = re.compile(r"^\s*(import|from) (sqlite3|pysqlite3|aiosqlite)", re.MULTILINE)
    found = [path.name for path in PACKAGE.rglob("*.py") if importing.search(path.read_text(encoding="utf-8"))]
    assert found == ["binding.py"]


def test_the_standard_library_serves_where_there_is_no_wheel() -> None:
    done = subprocess.run(
        [sys.executable, "-c", WITHOUT_PYSQLITE3], cwd=PACKAGE.parent, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    assert done.stdout.startswith("(3, ")


def test_the_wheel_is_taken_where_there_is_one() -> None:
    assert binding.binding_name == "pysqlite3"
    assert binding.sqlite_version_info >= (3, 51, 3)
