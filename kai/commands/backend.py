"""``kai backend``."""

import getpass
import shlex
import subprocess
from dataclasses import dataclass

import click

from kai.client import Client, View
from kai.commands.connect import FolderFlags, ask
from kai.commands.show import as_json_option, as_person_option, facts, json_of, rows
from kai.model.errors import KaiError, UnknownThingError
from kai.settings.problems import nearest
from kai.text.safe import safe

_COLUMNS = {
    "id": lambda backend: backend["id"],
    "title": lambda backend: backend["title"],
    "version": lambda backend: backend["version"],
    "logged in": lambda backend: backend["logged_in"],
    "problem": lambda backend: backend["problem"],
}


@dataclass
class OtherUserError(KaiError):
    """A login has to be made by the OS user whom the agent runs as."""

    os_user: str
    command: str

    @property
    def sentence(self) -> str:
        return f"This login belongs to the OS user {self.os_user}, and you are another one."

    @property
    def hint(self) -> str:
        return f"Run it as that user: sudo -iu {self.os_user} {self.command}"


@click.group()
def command() -> None:
    """The agent CLIs that kai can drive."""


@command.command("list")
@as_json_option
@click.pass_obj
def list_(flags: FolderFlags, as_json: bool) -> None:
    """List every backend, and whether it can be used here."""
    rows(ask(flags, "", lambda client: client.backends()), _COLUMNS, as_json=as_json, nothing="No backend.")


@command.command()
@click.argument("backend")
@as_json_option
@click.pass_obj
def show(flags: FolderFlags, backend: str, as_json: bool) -> None:
    """Show one backend: its program, version, login and what it can."""
    facts(ask(flags, "", lambda client: _named(client, backend)), as_json=as_json)


@command.command()
@click.argument("backend")
@as_person_option
@as_json_option
@click.pass_obj
def check(flags: FolderFlags, backend: str, as_person: str, as_json: bool) -> int:
    """Start a backend, wait until it is ready, end it. Exit status 1 when that fails."""
    found = ask(flags, as_person, lambda client: client.check_backend(backend))
    if as_json:
        json_of(found)
    elif found["problem"]:
        click.echo(safe(f"{backend}: {found['problem']}"))
        click.echo(safe(found.get("hint") or ""))
    else:
        facts(found, as_json=False, leave_out=("problem", "hint"))
    return 1 if found["problem"] else 0


@command.command()
@click.argument("backend")
@as_person_option
@click.pass_obj
def login(flags: FolderFlags, backend: str, as_person: str) -> int:
    """Run the CLI's own login in this terminal, as the OS user whom the agent runs as."""

    async def question(client: Client) -> tuple[View, str]:
        person = await client.person(as_person) if as_person else {"os_user": getpass.getuser()}
        return await _named(client, backend), str(person["os_user"])

    found, os_user = ask(flags, "", question)
    line = found["login"]
    if not line:
        click.echo(f"{found['title']} needs no login, or tells of none.")
        return 0
    if os_user != getpass.getuser():
        raise OtherUserError(os_user, line)
    if not found["program"]:
        raise UnknownThingError("installed program for backend", backend)
    click.echo(f"Running: {line}")
    return 0 if subprocess.run(shlex.split(line), check=False).returncode == 0 else 1


async def _named(client: Client, backend: str) -> View:
    everything = {found["id"]: found for found in await client.backends()}
    if backend not in everything:
        raise UnknownThingError("backend", backend, nearest(backend, everything))
    return everything[backend]
