"""The launcher that asks the privileged spawner: what every launcher keeps, as another OS user, and what is its own."""

import os
import shutil
from collections.abc import AsyncIterator, Iterator
from pathlib import Path

import pytest

from kai.processes.spawner import SpawnerLauncher
from tests.processes.conformance import Conformance
from tests.processes.os_users import PYTHON, AsDaemon, Machine, a_machine, needs_root

pytestmark = [pytest.mark.anyio, needs_root]
PROGRAMS = ["/bin/sh", "/bin/cat", "/bin/true", "/bin/pwd", "/usr/bin/env", "/bin/sleep", PYTHON]


@pytest.fixture(scope="module")
def machine() -> Iterator[Machine]:
    with a_machine(PROGRAMS, env=["ODD", "RAW", "A", "B"]) as one:
        own = [str(one.spawner.folder / f"programs/{name}") for name in ("agent", "agent/agent")]
        one.spawner.write({**one.spawner.policy, "programs": [*PROGRAMS, *own]})
        yield one


class TestSpawner(Conformance):
    @pytest.fixture
    async def launcher(self, machine: Machine) -> AsyncIterator[SpawnerLauncher]:
        one = AsDaemon(machine.spawner.socket, machine.daemon)
        assert await one.look()
        yield one
        one.aclose()

    @pytest.fixture
    def user(self, machine: Machine) -> str:
        return machine.alice.pw_name

    @pytest.fixture
    def home(self, machine: Machine) -> str:
        return machine.alice.pw_dir

    @pytest.fixture
    def tmp_path(self, machine: Machine) -> Iterator[Path]:
        """The person's own."""
        path = Path(machine.alice.pw_dir) / "work"
        path.mkdir()
        os.chown(path, machine.alice.pw_uid, machine.alice.pw_gid)
        yield path
        shutil.rmtree(path)

    @pytest.fixture
    def programs(self, machine: Machine) -> Iterator[Path]:
        path = machine.spawner.folder / "programs"
        path.mkdir()
        yield path
        shutil.rmtree(path)
