"""The launcher that asks the privileged spawner: what every launcher keeps, as another OS user, and what is its own."""

from collections.abc import AsyncIterator, Iterator

import pytest

from kai.processes.spawner import SpawnerLauncher
from tests.processes.conformance import Conformance
from tests.processes.os_users import PROGRAMS, AsDaemon, ForAlice, Machine, a_machine, needs_root

pytestmark = [pytest.mark.anyio, needs_root]


@pytest.fixture(scope="module")
def machine() -> Iterator[Machine]:
    with a_machine(PROGRAMS, env=["ODD", "RAW", "A", "B"]) as one:
        yield one


class TestSpawner(ForAlice, Conformance):
    @pytest.fixture
    async def launcher(self, machine: Machine) -> AsyncIterator[SpawnerLauncher]:
        one = AsDaemon(machine.spawner.socket, machine.daemon)
        assert await one.look()
        yield one
        one.aclose()
