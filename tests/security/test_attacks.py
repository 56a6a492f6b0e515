"""As person A's agent, really as that user and through the spawner: every attempt is refused, and printed with why."""

import json
import os
import shutil
import subprocess
from collections.abc import AsyncIterator, Iterator
from pathlib import Path
from typing import Any

import pytest
from anyio.to_thread import run_sync

from kai.model.errors import LaunchError
from kai.processes.launcher import LaunchSpec
from kai.processes.spawner import SpawnerLauncher
from tests.processes.conformance import everything, spec
from tests.processes.os_users import PROGRAMS, PYTHON, AsDaemon, Machine, a_machine, needs_root
from tests.processes.seen import eventually, is_alive, pids_in

pytestmark = [pytest.mark.anyio, needs_root]
ATTACKS = sorted(path for path in (Path(__file__).parent / "attacks").glob("*.py") if path.stem != "attempt")
TITLES = {path: path.read_text().splitlines()[0].strip('"') for path in ATTACKS}


@pytest.fixture(scope="module")
def machine() -> Iterator[Machine]:
    with a_machine(PROGRAMS) as one:
        yield one


@pytest.fixture(scope="module")
def house(machine: Machine) -> Iterator[dict[str, Any]]:
    """What there is to attack: B's files, kai's state, processes of the daemon's user; as an installer leaves them."""
    root = machine.spawner.folder
    shutil.copytree(Path(__file__).parent / "attacks", root / "tests/security/attacks")
    state = root / "state"
    for folder, owner, mode in (
        (state, machine.daemon, 0o711),
        (state / "attachments", machine.daemon, 0o700),
        (state / "homes", None, 0o711),
        (state / "homes/p-b", machine.bob, 0o700),
        (root / "token", None, 0o711),
    ):
        folder.mkdir()
        folder.chmod(mode)
        if owner is not None:
            os.chown(folder, owner.pw_uid, owner.pw_gid)
    files = [Path(machine.bob.pw_dir) / "diary", state / "homes/p-b/AGENTS.md", root / "token/r-b"]
    for file, owner in ((state / "kai.db", machine.daemon), *((file, machine.bob) for file in files)):
        file.write_text("secret")
        file.chmod(0o600)
        os.chown(file, owner.pw_uid, owner.pw_gid)
    become_root = root / "become-root"
    shutil.copy("/bin/sh", become_root)
    become_root.chmod(0o4755)
    daemon = subprocess.Popen(["/bin/sleep", "1000"], user=machine.daemon.pw_uid, group=machine.daemon.pw_gid)
    yield {
        "files_of_b": [str(file) for file in files],
        "state": str(state),
        "spawner": str(machine.spawner.socket),
        "b": machine.bob.pw_name,
        "pids": {"daemon": daemon.pid, "spawner": machine.spawner.process.pid},
        "setuid_programs": [str(become_root)],
    }
    daemon.kill()
    daemon.wait()


@pytest.fixture
async def launcher(machine: Machine) -> AsyncIterator[SpawnerLauncher]:
    one = AsDaemon(machine.spawner.socket, machine.daemon)
    assert await one.look()
    yield one
    one.aclose()


@pytest.mark.parametrize("attack", ATTACKS, ids=lambda path: path.stem)
async def test_every_attempt_is_refused(
    launcher: SpawnerLauncher, machine: Machine, house: dict[str, Any], attack: Path
) -> None:
    victim = await launcher.spawn(spec("/bin/sleep", "1000", user=machine.bob.pw_name, cwd=machine.bob.pw_dir))
    own = await launcher.spawn(spec("/bin/sleep", "1000", user=machine.alice.pw_name))
    groups = (await run_sync(Path(f"/proc/{victim.pid}/cgroup").read_text)).rpartition("::")[2].strip()
    places = {
        **house,
        "pid_of_b": victim.pid,
        "pids": {**house["pids"], "keeper": own.keeper_pid},
        "groups": launcher.groups if "/run-" in groups else "",
    }
    script = machine.spawner.folder / "tests/security/attacks" / attack.name
    played = await launcher.spawn(
        spec(PYTHON, "-I", "-S", str(script), json.dumps(places), user=machine.alice.pw_name, cwd=machine.alice.pw_dir)
    )
    try:
        lines = (await everything(played)).decode().splitlines()
        said = await played.read_err()
        assert (await played.wait()).code == 0, said
        assert (await victim.stats()).processes == 1, "B's agent lives"
        assert (await own.stats()).processes == 1
    finally:
        for run in (played, victim, own):
            await run.aclose()
    assert is_alive(house["pids"]["daemon"])
    title = TITLES[attack]
    attempts = [json.loads(line) for line in lines]
    print(f"\n{title}\n" + table(attempts))
    assert attempts
    assert [what for what, refused, _ in attempts if not refused] == []


def table(attempts: list[tuple[str, bool, str]]) -> str:
    return "\n".join(f"  {'refused' if refused else 'DONE   '}  {what:50} {why}" for what, refused, why in attempts)


async def refused(launcher: SpawnerLauncher, asked: LaunchSpec) -> str:
    with pytest.raises(LaunchError) as caught:
        await launcher.spawn(asked)
    return caught.value.reason


async def test_a_working_folder_that_became_a_link_leads_nowhere(launcher: SpawnerLauncher, machine: Machine) -> None:
    """A puts a link to B's home, or to root's, where its own working folder was."""
    link = Path(machine.alice.pw_dir) / "work"
    for target in (machine.bob.pw_dir, "/root"):
        link.symlink_to(target)
        why = await refused(launcher, spec("/bin/true", user=machine.alice.pw_name, cwd=str(link)))
        print(f"\n  refused  start in a link to {target}: {why}")
        assert f"{machine.alice.pw_name} may not enter the folder" in why
        link.unlink()


async def test_no_variable_reaches_the_loader(launcher: SpawnerLauncher, machine: Machine) -> None:
    """Whatever got into the environment that the daemon makes: the spawner lets none of these through."""
    for name in ("LD_PRELOAD", "LD_LIBRARY_PATH", "PYTHONSTARTUP", "BASH_ENV", "NODE_OPTIONS", "GCONV_PATH"):
        why = await refused(launcher, spec("/bin/true", env={name: "/tmp/x"}, user=machine.alice.pw_name))
        print(f"\n  refused  {name}: {why}")
        assert name in why


async def test_nothing_of_a_run_outlives_it(launcher: SpawnerLauncher, machine: Machine) -> None:
    """A's agent leaves processes behind in sessions of their own, deaf to every signal."""
    work = Path(machine.alice.pw_dir) / "left"
    work.mkdir()
    os.chown(work, machine.alice.pw_uid, machine.alice.pw_gid)
    deaf = "trap '' TERM HUP INT; echo $$ > pid-$1; exec sleep 1000"
    command = f'for n in 1 2 3; do (setsid sh -c "{deaf.replace("$", chr(92) + "$")}" x $n &) & done; exit 0'
    run = await launcher.spawn(spec("/bin/sh", "-c", command, user=machine.alice.pw_name, cwd=str(work)))
    await eventually(lambda: len(pids_in(work)) == 3)
    pids = pids_in(work)
    await run.aclose()
    assert not any(map(is_alive, pids.values()))
    shutil.rmtree(work)


def test_the_scripts_say_what_they_play() -> None:
    for attack in ATTACKS:
        assert TITLES[attack].startswith("As A's agent: ")
