"""Picks the SQLite binding. No other module imports ``sqlite3`` or ``pysqlite3``.

pysqlite3 carries a current SQLite; that of the system may be years old and lack the fix of the WAL-reset bug (3.51.3).
"""

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import sqlite3 as _driver

    binding_name = "sqlite3"
else:
    try:
        from pysqlite3 import dbapi2 as _driver

        binding_name = "pysqlite3"
    except ImportError:
        import sqlite3 as _driver

        binding_name = "sqlite3"

Connection = _driver.Connection
Row = _driver.Row
Error = _driver.Error
IntegrityError = _driver.IntegrityError
OperationalError = _driver.OperationalError
connect = _driver.connect
complete_statement = _driver.complete_statement
sqlite_version_info = _driver.sqlite_version_info
can_load_extensions = hasattr(_driver.Connection, "load_extension")

__all__ = [
    "Connection",
    "Error",
    "IntegrityError",
    "OperationalError",
    "Row",
    "binding_name",
    "can_load_extensions",
    "complete_statement",
    "connect",
    "sqlite_version_info",
]
