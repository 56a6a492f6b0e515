"""``kai chat``."""

import getpass
import sys
import tempfile
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import replace
from functools import partial
from pathlib import Path

import click

from kai import __version__
from kai.bridges.terminal.start import Wishes, talk
from kai.client import Client, View
from kai.commands.connect import PEOPLE, FolderFlags, folders_of, is_running, private, run, start_in_background
from kai.commands.show import as_person_option
from kai.model.errors import UnknownThingError
from kai.model.people import Preference
from kai.settings.problems import FolderError, nearest
from kai.settings.where import Folders, prepare


@click.command()
@click.argument("text", nargs=-1, metavar="[TEXT or -]")
@as_person_option
@click.option("--channel", default="", metavar="C", help="The conversation, by title; a new title begins one.")
@click.option("--backend", default="", metavar="B", help="Change to this backend first.")
@click.option("--private", "is_private", is_flag=True, help="On a daemon inside this process, with a state of its own.")
@click.option("--json", "as_json", is_flag=True, help="One JSON object a line, the last with turn_id, state and text.")
@click.pass_obj
def command(
    flags: FolderFlags,
    text: tuple[str, ...],
    as_person: str,
    channel: str,
    backend: str,
    is_private: bool,
    as_json: bool,
) -> int:
    """Talk to your agent. With TEXT (or - for stdin): one message and its answer.

    Without a running daemon one is started in the background; it leaves when nobody needs it. Exit status 1 when a
    turn did not end well.
    """
    message = sys.stdin.buffer.read().decode("utf-8", "replace") if text == ("-",) else " ".join(text)
    if text and not message.strip():
        raise click.UsageError("The message is empty.")
    folders = folders_of(flags)
    wishes = Wishes(
        chat="",
        thread=channel,
        message=message if text else None,
        as_json=as_json,
        history=folders.state / "terminal_history",
        banner=f"kai {__version__}. Alt-Enter begins a new line, /help lists the commands, Ctrl-D leaves.",
        turns_outlive=not is_private,
    )
    return 0 if run(_chat, folders, wishes, as_person, backend, is_private) else 1


async def _chat(folders: Folders, wishes: Wishes, as_person: str, backend: str, is_private: bool) -> bool:
    async with AsyncExitStack() as stack:
        if is_private:
            socket = await stack.enter_async_context(_own_daemon(folders))
        else:
            socket = folders.socket(PEOPLE)
            if not await is_running(folders):
                await start_in_background(folders)
            wishes = replace(wishes, revive=partial(start_in_background, folders))
        client = await stack.enter_async_context(Client(socket, as_person=as_person))
        person = await _person(client, as_person)
        if backend:
            await client.use(Preference(backend=backend), channel=wishes.thread)
        return await talk(client, replace(wishes, chat=person["principal"]))


@asynccontextmanager
async def _own_daemon(folders: Folders) -> AsyncIterator[Path]:
    """A daemon in this process on a state beside the usual one, or the one of another private chat that runs."""
    state = folders.state / "private"
    with tempfile.TemporaryDirectory(prefix="kai-") as other:
        own = replace(folders, state=state, runtime=state / "run")
        try:
            own.socket("agents.sock")
        except FolderError:  # too deep for a socket
            own = replace(own, runtime=Path(other))
        prepare(folders)
        if await is_running(own):
            yield own.socket(PEOPLE)
            return
        async with private(own) as socket:
            yield socket


async def _person(client: Client, as_person: str) -> View:
    """Who speaks: the person named, else the one whose OS user runs this."""
    everybody = await client.people()
    own = getpass.getuser()
    for person in everybody:
        if as_person in (person["name"], person["principal"]) if as_person else person["os_user"] == own:
            return person
    names = [person["name"] for person in everybody]
    raise UnknownThingError("person", as_person or own, nearest(as_person or own, names))
