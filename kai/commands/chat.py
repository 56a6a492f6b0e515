"""``kai chat``."""

import os
import pwd
import sys
import tempfile
from collections.abc import Iterator
from contextlib import AsyncExitStack, contextmanager, nullcontext
from dataclasses import replace
from functools import partial
from pathlib import Path

import click

from kai.bridges.terminal.start import talk
from kai.client import Client, View
from kai.commands.connect import PEOPLE, folders_of, is_running, private, run, start_in_background
from kai.commands.verb import Verb, verb
from kai.model.errors import DeniedError, UnknownThingError
from kai.model.people import Preference
from kai.settings.problems import FolderError, nearest
from kai.settings.where import Folders, prepare


@click.command()
@click.argument("text", nargs=-1, metavar="[TEXT or -]")
@click.option("--channel", default="", metavar="C", help="The channel, by title; a new title begins one.")
@click.option("--backend", default="", metavar="B", help="Change to this backend first.")
@click.option("--temporary", is_flag=True, help="Nothing of it is kept: no memory, no history, no transcript.")
@click.option("--private", "is_private", is_flag=True, help="On a daemon inside this process, with a state of its own.")
@verb
def command(how: Verb, text: tuple[str, ...], channel: str, backend: str, is_private: bool, temporary: bool) -> int:
    """Talk to your agent. With TEXT (or - for stdin): one message and its answer.

    Without a running daemon one is started in the background; it leaves when nobody needs it. With --json one object
    a line, the last with turn_id, state and text. Exit status 1 when a turn did not end well.
    """
    message = sys.stdin.buffer.read().decode("utf-8", "replace") if text == ("-",) else " ".join(text)
    if text and not message.strip():
        raise click.UsageError("The message is empty.")
    folders = folders_of(how.flags)

    async def chat(where: Folders) -> bool:
        async with AsyncExitStack() as stack:
            if not await is_running(where):
                await (stack.enter_async_context(private(where)) if is_private else start_in_background(where))
            client = await stack.enter_async_context(
                Client(where.socket(PEOPLE), as_person=how.as_person, temporary=temporary)
            )
            person = await _person(client, how.as_person)
            if backend:
                await client.use(Preference(backend=backend), channel=channel, begin=bool(channel))
            return await talk(
                client,
                message if text else None,
                chat=person["principal"],
                thread=channel,
                as_json=how.as_json,
                history=_history(where, temporary=temporary),
                revive=None if is_private else partial(start_in_background, where),
            )

    with _beside(folders) if is_private else nullcontext(folders) as where:
        return 0 if run(chat, where) else 1


def _history(where: Folders, *, temporary: bool) -> Path:
    """Where what was typed is kept."""
    if temporary:
        return Path(os.devnull)
    return Path.home() / ".kai_history" if where.is_of_service else where.state / "terminal_history"


@contextmanager
def _beside(folders: Folders) -> Iterator[Folders]:
    """The folders of a private daemon: a state beside the usual one."""
    prepare(folders)
    state = folders.state / "private"
    with tempfile.TemporaryDirectory(prefix="kai-") as other:
        own = replace(folders, state=state, runtime=state / "run")
        try:
            own.socket("agents.sock")
        except FolderError:  # too deep for a socket
            own = replace(own, runtime=Path(other))
        yield own


async def _person(client: Client, as_person: str) -> View:
    """Who speaks: the person named, else the one whom the daemon takes the caller for."""
    everybody = await client.people()
    for person in everybody:
        if as_person in (person["name"], person["principal"]) if as_person else person["is_you"]:
            return person
    names = [person["name"] for person in everybody]
    if as_person:
        raise UnknownThingError("person", as_person, nearest(as_person, names), tuple(names))
    own = pwd.getpwuid(os.geteuid()).pw_name
    others = ", ".join(person["name"] for person in everybody if person["os_user"] == own)
    shared = f"; it is shared with {others}, whom --as names" if others else ""
    remedy = "Make yours with 'kai person add NAME' or 'kai init'" + (", or say --as PERSON." if others else ".")
    raise DeniedError(f"no person of kai is yours (OS user {own!r}{shared})", remedy)
