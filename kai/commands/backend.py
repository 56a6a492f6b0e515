"""``kai backend``."""

import os
import pwd
import shlex
import shutil
import subprocess
from dataclasses import dataclass
from importlib import import_module
from pathlib import Path
from typing import Any

import click

from kai.client import Client, View
from kai.commands.show import ASKS_VERSIONS, patience
from kai.commands.verb import Verb, verb
from kai.model.errors import KaiError, UnknownThingError
from kai.processes.environment import search_path
from kai.settings.problems import nearest

_COLUMNS = {
    "id": lambda backend: backend["id"],
    "installed": lambda backend: bool(backend["program"]),
    "version": lambda backend: backend["version"],
    "login": lambda backend: backend["logged_in"],
    "can": lambda backend: [name for name, able in backend["can"].items() if able] if backend["tried"] else "untried",
    "problem": lambda backend: backend["problem"],
}


class _Verbs(click.Group):
    """`new` runs an agent by itself: what it needs for that is loaded when it is used."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        return [*super().list_commands(ctx), "new"]

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        if cmd_name != "new":
            return super().get_command(ctx, cmd_name)
        found: click.Command = import_module("kai.commands.backend_new").command
        return found


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
        return f"Root becomes that user: sudo {self.command}"


@click.group(cls=_Verbs)
def command() -> None:
    """The agent CLIs that kai can drive."""


@command.command("list")
@verb
def list_(how: Verb) -> None:
    """List every backend, and whether it can be used here."""
    with patience(ASKS_VERSIONS):
        found = how.ask(lambda client: client.backends())
    how.rows(found, _COLUMNS, nothing="No backend.")


@command.command()
@click.argument("backend")
@verb
def show(how: Verb, backend: str) -> None:
    """Show one backend: its program, version, login and what it can."""
    how.facts(how.ask(lambda client: _named(client, backend)))


@command.command()
@click.argument("backend")
@verb
def check(how: Verb, backend: str) -> int:
    """Start a backend, wait until it is ready, end it. Exit status 1 when that fails."""
    found = how.ask(lambda client: client.check_backend(backend))
    if found["problem"]:
        wrote = [line for line in found.get("stderr", []) if line not in found["problem"]]
        told = [f"{backend}: {found['problem']}", found["hint"], *wrote, *found.get("notes", [])]
        how.lines(found, filter(None, told))
        return 1
    how.facts(found)
    return 0


@command.command()
@click.argument("backend")
@click.option("--channel", default="", metavar="C", help="Of a shared channel's seat.")
@verb
def login(how: Verb, backend: str, channel: str) -> int:
    """Run the CLI's own login in this terminal, as the OS user whom the agent runs as; root becomes that user."""

    async def question(client: Client) -> tuple[View, str]:
        whose: View = {}
        if channel:
            whose = await client.channel(channel)
        elif how.as_person:
            whose = await client.person(how.as_person)
        return await _named(client, backend), whose.get("os_user") or pwd.getpwuid(os.geteuid()).pw_name

    found, os_user = how.ask(question)
    if not found["login"]:
        click.echo(f"{found['title']} needs no login, or tells of none.")
        return 0
    is_own = os_user == pwd.getpwuid(os.geteuid()).pw_name
    if not is_own and os.geteuid() != 0:
        named = ["--channel", channel] if channel else ["--as", how.as_person]
        raise OtherUserError(os_user, shlex.join(["kai", "backend", "login", backend, *named]))
    if not found["program"]:
        how.lines(found, [f"{backend}: {found['problem']}"])
        return 1
    argv = shlex.split(found["login"])
    how_as = {} if is_own else _as_user(os_user)
    # Where the daemon found the backend, and where it looks for that user's programs: this shell's PATH is another's.
    home = Path(how_as["env"]["HOME"]) if how_as else Path.home()
    path = f"{Path(found['program']).parent}:{search_path(home)}"
    program = shutil.which(argv[0], path=path)
    if program is None:
        click.echo(f"{backend}: {argv[0]} is not installed for {os_user} (looked in {path}).")
        return 1
    click.echo(f"Running: {found['login']}" + ("" if is_own else f" (as {os_user})"))
    env = how_as.pop("env", dict(os.environ)) | {"PATH": path}
    done = subprocess.run([program, *argv[1:]], check=False, env=env, **how_as)
    if not is_own:
        how.ask(lambda client: client.reload())  # what was found of logins is looked for again
    return 0 if done.returncode == 0 else 1


def _as_user(name: str) -> dict[str, Any]:
    """How root starts a program as somebody else: their ids, their groups, their home, and nothing of root's own."""
    try:
        user = pwd.getpwnam(name)
    except KeyError:
        raise UnknownThingError("OS user", name) from None
    kept = ("TERM", "LANG", "LC_ALL", "COLORTERM")
    env = {variable: os.environ[variable] for variable in kept if variable in os.environ}
    env |= {"HOME": user.pw_dir, "USER": name, "LOGNAME": name, "SHELL": user.pw_shell or "/bin/sh"}
    groups = os.getgrouplist(name, user.pw_gid)
    ids: dict[str, Any] = {"user": user.pw_uid, "group": user.pw_gid, "extra_groups": groups, "umask": 0o077}
    return {**ids, "cwd": user.pw_dir, "env": env}


async def _named(client: Client, backend: str) -> View:
    everything = {found["id"]: found for found in await client.backends()}
    if backend not in everything:
        raise UnknownThingError("backend", backend, nearest(backend, everything), tuple(everything))
    return everything[backend]
