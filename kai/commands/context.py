"""``kai context``."""

from collections.abc import Sequence

import click

from kai.client import Client, View
from kai.commands.connect import FolderFlags, ask
from kai.commands.show import as_json_option, as_person_option, json_of
from kai.commands.turn import turn_argument, turn_named
from kai.context.evidence import diff_lines, show_lines, verify_lines
from kai.text.safe import safe

why_option = click.option("--why", is_flag=True, help="Also what became of everything that was considered.")


@click.group()
def command() -> None:
    """The exact text that goes before a message. TURN is an id; without one, the newest."""


@command.command()
@click.argument("text", nargs=-1, required=True)
@click.option("--channel", default="", metavar="C", help="In this conversation [default: your own].")
@why_option
@as_person_option
@as_json_option
@click.pass_obj
def preview(flags: FolderFlags, text: tuple[str, ...], channel: str, why: bool, as_person: str, as_json: bool) -> None:
    """What would go before TEXT as the first message of a fresh session. Starts and counts nothing."""
    found = ask(flags, as_person, lambda client: client.preview(" ".join(text), channel))
    _print(found, as_json=as_json, lines=show_lines(found if why else {**found, "dispositions": []}))


@command.command()
@turn_argument
@why_option
@as_person_option
@as_json_option
@click.pass_obj
def show(flags: FolderFlags, turn: str, why: bool, as_person: str, as_json: bool) -> None:
    """The exact text of a turn, as it was handed to the agent."""

    async def question(client: Client) -> View:
        return await client.context(await turn_named(client, turn), why=why)

    found = ask(flags, as_person, question)
    _print(found, as_json=as_json, lines=show_lines(found))


@command.command()
@click.argument("a")
@click.argument("b", default="last")
@as_person_option
@as_json_option
@click.pass_obj
def diff(flags: FolderFlags, a: str, b: str, as_person: str, as_json: bool) -> None:
    """Which sections differ between turns A and B, and in what."""

    async def question(client: Client) -> View:
        return await client.diff(await turn_named(client, a), await turn_named(client, b))

    found = ask(flags, as_person, question)
    _print(found, as_json=as_json, lines=diff_lines(found))


@command.command()
@turn_argument
@as_person_option
@as_json_option
@click.pass_obj
def verify(flags: FolderFlags, turn: str, as_person: str, as_json: bool) -> int:
    """Prove that the bytes written to the agent carry the snapshot. Exit status 1 when they do not."""

    async def question(client: Client) -> View:
        return await client.verify(await turn_named(client, turn))

    found = ask(flags, as_person, question)
    _print(found, as_json=as_json, lines=[line for attempt in found["dispatches"] for line in _attempt(attempt)])
    return 0 if found["ok"] else 1


def _attempt(attempt: View) -> Sequence[str]:
    head = f"attempt {attempt['attempt']}, {attempt['state']}:"
    return [head, f"     {attempt['note']}"] if "note" in attempt else [head, *verify_lines(attempt)]


def _print(found: View, *, as_json: bool, lines: Sequence[str]) -> None:
    if as_json:
        json_of(found)
        return
    for line in lines:
        click.echo(safe(line))
