"""What stands between the people of one machine: refusals of an OS user, and what the doctor says of it."""

from collections.abc import Sequence

from anyio import to_thread

from kai.model.errors import LaunchError
from kai.model.people import Person
from kai.people.os_users import unfit
from kai.processes.guard import program_objection
from kai.store import people
from kai.turns.machine import finding
from kai.turns.parts import Parts
from kai.turns.views import View

_OWN_EACH = "Give everybody an OS user of their own: as root, 'kai person add NAME --os-user USER'."


async def refuse_shared(parts: Parts, user: str) -> None:
    """Where everybody has an OS user of their own, two persons or seats with one are refused. Raises `LaunchError`."""
    if parts.launcher.name == "direct":
        return
    others = await parts.store.read(people.owners_of, user)
    if len(others) > 1:
        reason = f"{' and '.join(sorted(others))} have one OS user, {user}, and would read each other's files"
        raise LaunchError("The agent", reason, remedy=_OWN_EACH)


async def protection(parts: Parts, everybody: Sequence[Person], own_user: str) -> list[View]:
    """Findings about the launcher and the OS users of people."""
    found, launcher = [], parts.launcher
    if launcher.problem:
        mend = "systemctl status kai-spawner.socket kai-spawner.service; then 'systemctl start kai-spawner.socket'."
        found.append(finding("spawner-lost", f"{launcher.problem}: no agent can be started", mend))
    if launcher.name == "sudo":
        problem = (
            "agents are started by sudo: one that kills its keeper can leave processes behind and pass for a person"
        )
        found.append(finding("sudo-leaks", problem, "Install the spawner, 'kai system install'; set launcher.kind."))
    if launcher.name != "direct":
        for person in everybody:
            found += await _of_person(parts, person)
    users = [person.os_user for person in everybody]
    for person in everybody:
        if users.count(person.os_user) > 1:
            problem = f"{person.name}'s agents run as {person.os_user}, as others do: they can read each other's files"
            found.append(finding("one-trust-domain", problem, f"{_OWN_EACH} That needs the spawner."))
        if launcher.name == "direct" and person.os_user != own_user:
            problem = f"{person.name}'s agents should run as {person.os_user}, but only {own_user} can be had here"
            mend = "Use the spawner ('kai system install'; launcher.kind), or set their OS user to the daemon's."
            found.append(finding("launcher", problem, mend))
    return found


async def _of_person(parts: Parts, person: Person) -> list[View]:
    if problem := await to_thread.run_sync(unfit, person.os_user):
        mend = f"Give {person.name} a user who is nothing but that; 'kai person add' makes one."
        return [finding("os-user-unfit", f"no agent runs for {person.name}: {problem}", mend)]
    found = []
    for backend, installed in (await parts.backends.every(person.os_user)).items():
        program = installed.program or ""
        if program and (problem := await to_thread.run_sync(program_objection, person.os_user, program)):
            mend = f"Install {backend} as root, where {person.os_user} may write to nothing on the way to it."
            found.append(finding("program-exchangeable", f"{backend} does not run for {person.name}: {problem}", mend))
    return found
