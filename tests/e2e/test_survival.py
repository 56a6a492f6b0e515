"""The daemon is killed in mid-turn, and the answer goes on: no token of it is lost, and nobody is told of a restart."""

import os
import signal
import sys
from collections.abc import AsyncIterator, Iterator
from pathlib import Path
from typing import Any

import anyio
import pytest
from anyio.to_thread import run_sync

from kai.client import Client
from kai.model.errors import ApiError, UnreachableError
from kai.model.messages import InboundMessage
from kai.people.provision import Provision
from tests.e2e.house import House
from tests.e2e.protected import furnish
from tests.fd_store import FdStore, end
from tests.processes.os_users import PYTHON, Machine, a_machine, needs_root, root_folder

pytestmark = [pytest.mark.anyio, needs_root, pytest.mark.timeout(150)]
ROOT = Path(__file__).resolve().parents[2]
_LIVE = ("queued", "running", "asking")
SLOW = "FAKE:slow=40,0.05"


@pytest.fixture(scope="module")
def machine() -> Iterator[Machine]:
    with a_machine([PYTHON]) as one:
        yield one


class Service:
    """A daemon of its own process, below a service manager that keeps descriptors."""

    def __init__(self, house: House, machine: Machine, store: FdStore | None) -> None:
        self.house, self.machine, self.store = house, machine, store
        self.pid = 0
        self.sent = 0

    async def start(self) -> None:
        argv = [sys.executable, "-m", "tests.e2e.kept_daemon", self.machine.daemon.pw_name, PYTHON]
        argv.append(str(self.house.root / "errand.py"))
        env = {**self.house.environment, "PYTHONPATH": str(ROOT)}
        if self.store is not None:
            self.pid = await run_sync(self.store.start, argv, env)
        else:
            self.pid = await run_sync(lambda: os.posix_spawn(argv[0], argv, env))
        with anyio.fail_after(40):
            while not await self._answers():  # noqa: ASYNC110 - another process is waited for
                await anyio.sleep(0.02)

    async def _answers(self) -> bool:
        try:
            async with Client(self.house.folders.runtime / "people.sock") as client:
                await client.status()
        except (UnreachableError, ApiError):
            return False
        return True

    async def kill(self) -> None:
        await run_sync(end, self.pid, signal.SIGKILL)
        self.pid = 0

    async def stop(self) -> None:
        if self.pid:
            await run_sync(end, self.pid)

    async def say(self, client: Client, text: str) -> str:
        self.sent += 1
        accepted = await client.receive(InboundMessage("", "shell", "", "", f"x-{self.sent}", text))
        assert accepted.turn is not None
        return accepted.turn

    async def ended(self, client: Client, turn: str) -> dict[str, Any]:
        with anyio.fail_after(40):
            while (found := await client.turn(turn))["state"] in _LIVE:  # noqa: ASYNC110 - as above
                await anyio.sleep(0.05)
        return found

    async def until_said(self, client: Client, turn: str, count: int) -> None:
        """`count` pieces of the answer have come."""
        with anyio.fail_after(40):
            async for event in client.events(turn):
                count -= event["type"] == "text"
                if count <= 0:
                    return


@pytest.fixture
def house(machine: Machine, monkeypatch: pytest.MonkeyPatch) -> Iterator[House]:
    with root_folder() as root:
        people = f"alice: {{os_user: {machine.alice.pw_name}}}\n"
        yield furnish(root, machine, monkeypatch, files="deferred", people=people)


@pytest.fixture(params=[True, False], ids=["kept", "not kept"])
async def service(machine: Machine, house: House, request: pytest.FixtureRequest) -> AsyncIterator[Service]:
    store = await run_sync(FdStore, house.root) if request.param else None
    one = Service(house, machine, store)
    await one.start()
    await folders(house, machine)
    try:
        yield one
    finally:
        await one.stop()
    if store is not None:
        assert store.names == set(), "nothing of an ended run is kept"
        await run_sync(store.close)


def as_alice(house: House) -> Client:
    return Client(house.folders.runtime / "people.sock", as_person="alice")


async def folders(house: House, machine: Machine) -> None:
    """As root's `kai person add` makes them."""
    async with as_alice(house) as client:
        (alice,) = [person for person in await client.people() if person["name"] == "alice"]
    state, user = house.folders.state, machine.alice.pw_name
    await run_sync(lambda: Provision(state).folders(alice["principal"], user, shared=False))


async def test_a_turn_survives_the_kill_of_the_daemon_where_its_pipes_are_kept(service: Service) -> None:
    async with as_alice(service.house) as client:
        whole = await service.ended(client, await service.say(client, SLOW))
        assert whole["state"] == "done"
        running = await service.say(client, SLOW)
        behind = await service.say(client, "and then?")
        await service.until_said(client, running, 5)
    await service.kill()
    await service.start()
    async with as_alice(service.house) as client:
        turn = await service.ended(client, running)
        later = await service.ended(client, behind)
        again = await service.ended(client, await service.say(client, "still there?"))
    if service.store is not None:
        assert (turn["state"], turn["answer_text"]) == ("done", whole["answer_text"])
        assert later["dispatches"][0]["session"] == turn["dispatches"][0]["session"]
    else:
        assert (turn["state"], turn["reason"][:20]) == ("interrupted", "kai was restarted wh")
    assert [later["state"], again["state"]] == ["done", "done"]
    assert again["answer_text"] == "echo: still there?"
