"""The launcher that asks the privileged spawner: what every launcher keeps, as another OS user, and what is its own."""

import os
import pwd
import shutil
import socket
import threading
from collections.abc import AsyncIterator, Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest

from kai.processes.spawner import SpawnerLauncher
from tests.processes.conformance import Conformance
from tests.processes.os_users import PYTHON, Spawner, needs_root, os_user, spawner

pytestmark = [pytest.mark.anyio, needs_root]
PROGRAMS = ["/bin/sh", "/bin/cat", "/bin/true", "/bin/pwd", "/usr/bin/env", "/bin/sleep", PYTHON]


class AsDaemon(SpawnerLauncher):
    """Connects as the daemon's user, which the test is not."""

    def __init__(self, path: Path, who: pwd.struct_passwd) -> None:
        super().__init__(path)
        self._who = who
        self._alone = threading.Lock()  # the ids of a process are those of all its threads

    def dial(self) -> socket.socket:
        with self._alone:
            os.setegid(self._who.pw_gid)
            os.seteuid(self._who.pw_uid)
            try:
                return super().dial()
            finally:
                os.seteuid(0)
                os.setegid(0)


@dataclass
class Machine:
    """A machine with a daemon's user, two persons and a spawner."""

    daemon: pwd.struct_passwd
    alice: pwd.struct_passwd
    bob: pwd.struct_passwd
    spawner: Spawner


@pytest.fixture(scope="module")
def machine() -> Iterator[Machine]:
    with os_user() as daemon, os_user() as alice, os_user() as bob:
        users = [alice.pw_name, bob.pw_name]
        with spawner(daemon.pw_name, users, PROGRAMS, env=["ODD", "RAW", "A", "B"]) as one:
            own = [str(one.folder / f"programs/{name}") for name in ("agent", "agent/agent")]
            one.write({**one.policy, "programs": [*PROGRAMS, *own]})
            yield Machine(daemon, alice, bob, one)


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
