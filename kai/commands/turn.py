"""``kai turn``."""

import click

from kai.client import Client, View
from kai.commands.connect import FolderFlags, ask
from kai.commands.show import as_json_option, as_person_option, cell, facts, json_of, rows, table, when
from kai.model.errors import UnknownThingError
from kai.text.safe import safe

_COLUMNS = {
    "turn": lambda turn: turn["turn"],
    "state": lambda turn: turn["state"] + (f" ({turn['failure']})" if turn["failure"] else ""),
    "backend": lambda turn: turn["backend"],
    "queued at": lambda turn: when(turn["queued_at"]),
    "message": lambda turn: turn["text"],
    "reason": lambda turn: turn["reason"],
}
_LONG = ("text", "answer_text", "tool_lines", "dispatches", "questions")

turn_argument = click.argument("turn", default="last")


async def turn_named(client: Client, turn: str) -> str:
    """The id of a turn: ``last`` is the newest one of the caller."""
    if turn != "last":
        return turn
    newest = await client.turns(limit=1)
    if not newest:
        raise UnknownThingError("turn", "last")
    return str(newest[0]["turn"])


@click.group()
def command() -> None:
    """Turns: a message and its answer. TURN is an id; without one, the newest."""


@command.command("list")
@click.option("--channel", default="", metavar="C", help="Of this conversation only.")
@click.option("--limit", type=click.IntRange(1, 500), default=20, show_default=True)
@as_person_option
@as_json_option
@click.pass_obj
def list_(flags: FolderFlags, channel: str, limit: int, as_person: str, as_json: bool) -> None:
    """List turns, the newest first, with the reason of every end that is not done."""
    found = ask(flags, as_person, lambda client: client.turns(channel=channel, limit=limit))
    rows(found, _COLUMNS, as_json=as_json, nothing="No turn yet.")


@command.command()
@turn_argument
@as_person_option
@as_json_option
@click.pass_obj
def show(flags: FolderFlags, turn: str, as_person: str, as_json: bool) -> None:
    """Show a turn: message, answer, tools, attempts, open questions."""

    async def question(client: Client) -> View:
        return await client.turn(await turn_named(client, turn))

    found = ask(flags, as_person, question)
    if as_json:
        json_of(found)
        return
    facts(found, as_json=False, leave_out=_LONG)
    for dispatch in found["dispatches"]:
        facts(
            {f"attempt {dispatch['attempt']}": {k: v for k, v in dispatch.items() if v not in ("", None)}},
            as_json=False,
        )
    click.echo(f"\n> {safe(found['text'])}\n")
    for line in found["tool_lines"]:
        click.echo(f"· {cell(line, limit=100)}")
    click.echo(safe(found["answer_text"]))
    if found["questions"]:
        click.echo()
        table(("open question", "title"), [[one["ask"], cell(one["title"])] for one in found["questions"]])


@command.command()
@turn_argument
@as_person_option
@as_json_option
@click.pass_obj
def stop(flags: FolderFlags, turn: str, as_person: str, as_json: bool) -> None:
    """Stop a turn; its session is kept. Says which step it took."""

    async def question(client: Client) -> View:
        return await client.stop(await turn_named(client, turn))

    found = ask(flags, as_person, question)
    if as_json:
        json_of(found)
    else:
        click.echo(safe(found["sentence"]))


@command.command()
@turn_argument
@as_person_option
@as_json_option
@click.pass_obj
def retry(flags: FolderFlags, turn: str, as_person: str, as_json: bool) -> None:
    """Run the message of an ended turn again, as a new turn. What the first attempt did stays done."""

    async def question(client: Client) -> View:
        return await client.retry(await turn_named(client, turn))

    found = ask(flags, as_person, question)
    if as_json:
        json_of(found)
    else:
        click.echo(f"Queued as {found['turn']}.")
