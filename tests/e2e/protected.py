"""A house whose people are real OS users: agents start through a real spawner, folders are made as root makes them."""

import pwd
import shutil
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

import pytest
from anyio.to_thread import run_sync

import kai.daemon
import kai.turns.work
from kai.client import Client
from kai.people.provision import Provision
from kai.processes.errands import Errands
from kai.resources import module_file
from tests.e2e.house import FAKE_AGENT, House, Kai
from tests.processes.os_users import PYTHON, AsDaemon, Machine


def furnish(root: Path, machine: Machine, patch: pytest.MonkeyPatch, *, files: str = "as_owner", **house: str) -> House:
    """Folders as an installer leaves them: everybody may pass through the state folder, and see nothing in it.

    What other OS users run is copied to where they may read it: a checkout may be closed to them.
    """
    for name in ("fake_agent", "__init__.py"):
        source = FAKE_AGENT.parents[1] / name
        (shutil.copytree if source.is_dir() else shutil.copy)(source, root / "tests" / name)
    shutil.copy(module_file("launcher/archive.py"), root / "archive.py")
    errand = Path(shutil.copy(module_file("launcher/errand.py"), root / "errand.py"))
    for name, mode in (("sessions", 0o1777), ("state", 0o711)):
        (root / name).mkdir()
        (root / name).chmod(mode)
    (root / "fake.log").touch()
    (root / "fake.log").chmod(0o666)
    patch.setattr(kai.daemon, "launcher", lambda kind, socket: AsDaemon(Path(socket), machine.daemon))
    patch.setattr(kai.turns.work, "Errands", partial(Errands, python=PYTHON, program=str(errand)))
    return House(
        root,
        yaml=f"launcher: {{kind: spawner, socket: {machine.spawner.socket}}}\npeople: {{files: {files}}}\n",
        python=PYTHON,
        agent=root / "tests/fake_agent/__main__.py",
        **house,  # type: ignore[arg-type]
    )


async def settle(one: Kai, name: str, user: pwd.struct_passwd) -> str:
    """A person with an OS user and folders, as root's `kai person add` does it; gives their id."""
    known = {person["name"]: person for person in await one.client.people()}
    person: dict[str, Any] = known.get(name) or await one.client.add_person(name, user.pw_name)
    await folders(one, person["principal"], user)
    changed = await one.client.change_person(person["principal"], {"os_user": user.pw_name})
    assert changed["problem"] == ""
    return str(person["principal"])


async def folders(one: Kai, whose: str, user: pwd.struct_passwd, *, shared: bool = False) -> None:
    state = one.house.folders.state
    await run_sync(lambda: Provision(state).folders(whose, user.pw_name, shared=shared))


@asynccontextmanager
async def speaking(one: Kai, name: str) -> AsyncIterator[Kai]:
    """The same kai, spoken to as a person."""
    async with Client(one.daemon.socket, as_person=name) as client:
        yield replace(one, client=client)
