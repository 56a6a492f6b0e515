"""A furnished database in memory."""

from collections.abc import Iterator
from contextlib import closing

import pytest

from tests.store.house import House, empty_database, furnish


@pytest.fixture
def house() -> Iterator[House]:
    """Ann, Bob, Ann's channel and its door, in a database that nobody else sees, within one transaction."""
    with closing(empty_database()) as db:
        db.execute("BEGIN")
        yield furnish(db)
        db.execute("COMMIT")  # what was put off until now must hold
