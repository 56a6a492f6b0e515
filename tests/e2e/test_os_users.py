"""Two people, each with an OS user of their own: their agents start through the spawner, and are those users."""

import os
import pwd
import signal
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager
from functools import partial
from pathlib import Path
from typing import Any

import pytest
from anyio.to_thread import run_sync

from kai.client import Client
from kai.store import people
from tests.e2e.house import House, Kai
from tests.e2e.protected import furnish, settle
from tests.processes.os_users import PYTHON, Machine, a_machine, needs_root, root_folder
from tests.processes.seen import eventually

pytestmark = [pytest.mark.anyio, needs_root]

PEOPLE = """\
alice: {{os_user: {alice}}}
bob: {{os_user: {bob}}}
"""


@pytest.fixture(scope="module")
def machine() -> Iterator[Machine]:
    with a_machine([PYTHON]) as one:
        yield one


@pytest.fixture
def house(machine: Machine, monkeypatch: pytest.MonkeyPatch) -> Iterator[House]:
    with root_folder() as root:
        people = PEOPLE.format(alice=machine.alice.pw_name, bob=machine.bob.pw_name)
        yield furnish(root, machine, monkeypatch, files="deferred", people=people)


@asynccontextmanager
async def as_person(one: Kai, name: str) -> AsyncIterator[Client]:
    async with Client(one.daemon.socket, as_person=name) as client:
        yield client


async def provision(one: Kai) -> dict[str, str]:
    """Folders for everybody, as root makes them; principals by name."""
    everybody = await one.client.people()
    return {person["name"]: await settle(one, person["name"], pwd.getpwnam(person["os_user"])) for person in everybody}


def owner_of(pid: int) -> int:
    return Path(f"/proc/{pid}").stat().st_uid


def pid_in(turn: dict[str, Any]) -> int:
    assert turn["state"] == "done", turn
    return int(turn["answer_text"].removeprefix("pid "))


async def test_each_persons_agent_is_that_persons_os_user(house: House, machine: Machine) -> None:
    async with house.open() as one:
        principals = await provision(one)
        for name, user in (("alice", machine.alice), ("bob", machine.bob)):
            async with as_person(one, name) as client:
                pid = pid_in(await one.ask("FAKE:pid", client=client))
                assert owner_of(pid) == user.pw_uid
                run = await run_sync(one.daemon.parts.launcher.run_of, pid)
                assert run is not None
                assert run in {live.run for live in one.daemon.parts.pool.every()}
                wanted = {"HOME": user.pw_dir, "USER": user.pw_name, "LOGNAME": user.pw_name}
                for variable, value in wanted.items():
                    assert value in (await one.ask(f"FAKE:env={variable}", client=client))["answer_text"]
                home = str(house.folders.state / "homes" / principals[name])
                assert home in (await one.ask("FAKE:cwd", client=client))["answer_text"]
        assert await run_sync(one.daemon.parts.launcher.run_of, os.getpid()) is None
        assert await one.client.doctor() == []
        status = await one.client.status()
        assert (status["launcher"], status["degraded"]) == ("spawner", "")


async def test_a_key_of_the_daemon_does_not_override_the_login_of_a_person_whose_home_is_closed_to_it(
    house: House, machine: Machine, monkeypatch: pytest.MonkeyPatch
) -> None:
    # What a daemon that is not root sees of a home.
    monkeypatch.setattr("kai.processes.environment.has_login_file", lambda *_: False)
    monkeypatch.setenv("FAKE_KEY", "not-hers")
    manifest = house.folders.config / "backends/fake/backend.yaml"
    keys = "launch:\n  pass_env: [FAKE_KEY]\n  strip_env: [FAKE_KEY]\n"
    login = "login: {command: fake login, files: [.fake/auth.json], env: [FAKE_KEY]}\n"
    manifest.write_text(manifest.read_text().replace("launch:\n", keys) + login)
    home = Path(machine.alice.pw_dir)
    (home / ".fake").mkdir(exist_ok=True)
    (home / ".fake/auth.json").write_text('{"token": "hers"}')
    async with house.open() as one:
        await provision(one)
        async with as_person(one, "alice") as client:
            turn = await one.ask("FAKE:env=FAKE_KEY", client=client)
        assert turn["state"] == "done", "with it the spawner's policy would refuse the run"
        assert "not-hers" not in turn["answer_text"]


async def test_a_killed_spawner_costs_the_running_turn_and_nothing_else(house: House, machine: Machine) -> None:
    async with house.open() as one:
        await provision(one)
        async with as_person(one, "alice") as client:
            running = await one.say("FAKE:slow=200,0.1", client=client)
            await one.until(running, "text")
            await run_sync(machine.spawner.end, signal.SIGKILL)
            turn = await one.end(running)
            assert (turn["state"], turn["failure"]) == ("failed", "crash")
            await eventually(lambda: one.daemon.parts.launcher.problem)
            assert [found["name"] for found in await one.client.doctor()] == ["spawner-lost"]
            assert "cannot be reached" in (await one.client.status())["degraded"]
            await run_sync(machine.spawner.start)
            assert pid_in(await one.ask("FAKE:pid", client=client))
            assert (await one.client.status())["degraded"] == ""


@pytest.mark.parametrize("who", ["root", "two", "nobody's"])
async def test_an_unfit_os_user_gets_no_agent_and_the_doctor_says_why(house: House, machine: Machine, who: str) -> None:
    async with house.open() as one:
        await provision(one)
        person = next(person for person in await one.client.people() if person["name"] == "alice")
        os_user, finding, why = {
            "root": ("root", "os-user-unfit", "root is root"),
            "two": (machine.bob.pw_name, "one-trust-domain", "have one OS user"),
            "nobody's": (machine.daemon.pw_name, "", "not one of the users"),
        }[who]
        # The door would refuse it: the machine may change behind its back.
        await one.daemon.parts.store.write(partial(people.change, principal=person["principal"], os_user=os_user))
        async with as_person(one, "alice") as client:
            turn = await one.ask("hello", client=client)
        assert (turn["state"], turn["failure"]) == ("failed", "launch")
        assert why in turn["reason"]
        assert finding in [*(found["name"] for found in await one.client.doctor()), ""]
