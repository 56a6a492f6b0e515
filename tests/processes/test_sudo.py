"""The launcher by sudo: what every launcher keeps, as another OS user, and what it cannot do."""

import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest
from anyio.to_thread import run_sync

from kai.model.errors import LaunchError
from kai.processes.sudo import SudoLauncher
from tests.processes.conformance import Conformance, spec
from tests.processes.os_users import PROGRAMS, PYTHON, SHIM, ForAlice, Machine, a_machine, needs_root, os_user

pytestmark = [pytest.mark.anyio, needs_root]


@pytest.fixture(scope="module")
def machine() -> Iterator[Machine]:
    if shutil.which("sudo") is None:
        pytest.skip("sudo is not installed: scripts/setup-tests brings it")
    with a_machine(PROGRAMS) as one:
        shutil.copytree(SHIM.parent, one.spawner.folder / "kai/launcher")  # the checkout may lie where only root may go
        yield one


class TestSudo(ForAlice, Conformance):
    @pytest.fixture
    def launcher(self, machine: Machine) -> SudoLauncher:
        return SudoLauncher(keeper=(PYTHON, "-I", "-S", str(machine.spawner.folder / "kai/launcher/shim.py")))


async def launcher(sudo: str = "") -> SudoLauncher:
    return await run_sync(lambda: SudoLauncher(sudo=sudo))


async def test_what_sudo_says_is_the_reason(machine: Machine, tmp_path: Path) -> None:
    refusing = tmp_path / "sudo"
    refusing.write_text("#!/bin/sh\necho 'sudo: a password is required' >&2\nexit 1\n")
    refusing.chmod(0o755)
    with pytest.raises(LaunchError, match="a password is required"):
        await (await launcher(str(refusing))).spawn(spec("/bin/true", user=machine.alice.pw_name))


async def test_without_sudo_it_says_so(machine: Machine, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(shutil, "which", lambda _: None)
    with pytest.raises(LaunchError, match="sudo is not installed"):
        await (await launcher()).spawn(spec("/bin/true", user=machine.alice.pw_name))


async def test_whoever_may_become_root_gets_no_agent(machine: Machine) -> None:
    with os_user("--groups", "sudo") as ruler, pytest.raises(LaunchError, match="may become root"):
        await (await launcher("/bin/false")).spawn(spec("/bin/true", user=ruler.pw_name))
    with pytest.raises(LaunchError, match="root is root"):
        await (await launcher("/bin/false")).spawn(spec("/bin/true", user="root"))
    with pytest.raises(LaunchError, match="no user"):
        await (await launcher("/bin/false")).spawn(spec("/bin/true", user="no-such-user"))


async def test_a_program_that_the_person_could_exchange_is_refused(machine: Machine) -> None:
    program = Path(machine.alice.pw_dir) / "agent"
    program.write_text("#!/bin/sh\n")
    program.chmod(0o755)
    with pytest.raises(LaunchError, match="exchange the program"):
        await (await launcher("/bin/false")).spawn(spec(str(program), user=machine.alice.pw_name))
