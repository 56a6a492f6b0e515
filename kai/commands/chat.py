"""``kai chat``."""

import getpass
import sys
import tempfile
from collections.abc import Iterator
from contextlib import AsyncExitStack, contextmanager, nullcontext
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
    with _beside(folders) if is_private else nullcontext(folders) as own:
        return 0 if run(_chat, own, wishes, as_person, backend) else 1


async def _chat(folders: Folders, wishes: Wishes, as_person: str, backend: str) -> bool:
    async with AsyncExitStack() as stack:
        if not await is_running(folders):
            if wishes.turns_outlive:
                await start_in_background(folders)
            else:
                await stack.enter_async_context(private(folders))
        if wishes.turns_outlive:
            wishes = replace(wishes, revive=partial(start_in_background, folders))
        client = await stack.enter_async_context(Client(folders.socket(PEOPLE), as_person=as_person))
        person = await _person(client, as_person)
        if backend:
            await client.use(Preference(backend=backend), channel=wishes.thread)
        return await talk(client, replace(wishes, chat=person["principal"]))


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
    """Who speaks: the person named, else the one whose OS user runs this."""
    everybody = await client.people()
    own = getpass.getuser()
    for person in everybody:
        if as_person in (person["name"], person["principal"]) if as_person else person["os_user"] == own:
            return person
    names = [person["name"] for person in everybody]
    raise UnknownThingError("person", as_person or own, nearest(as_person or own, names))
