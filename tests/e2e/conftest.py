"""A house with a running daemon."""

from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from tests.e2e.house import House, Kai


@pytest.fixture
def house(tmp_path: Path) -> House:
    return House(tmp_path)


@pytest.fixture
async def kai(house: House) -> AsyncIterator[Kai]:
    async with house.open() as running:
        yield running
