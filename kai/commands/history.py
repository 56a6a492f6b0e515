"""``kai history``."""

import json
from collections.abc import AsyncIterator

import click

from kai.client import Client, View
from kai.commands.connect import FolderFlags, ask
from kai.commands.show import as_json_option, as_person_option, rows, when
from kai.text.safe import safe

PAGE = 500
_COLUMNS = {
    "said at": lambda message: when(message["created_at"]),
    "by": lambda message: message["name"],
    "text": lambda message: message["text"],
}
channel_option = click.option("--channel", default="", metavar="C", help="Conversation [default: your own].")


@click.group()
def command() -> None:
    """What was said, as far as you may see it."""


@command.command()
@click.argument("words", nargs=-1, required=True)
@channel_option
@click.option("--limit", type=click.IntRange(1, 500), default=20, show_default=True)
@as_person_option
@as_json_option
@click.pass_obj
def search(flags: FolderFlags, words: tuple[str, ...], channel: str, limit: int, as_person: str, as_json: bool) -> None:
    """Messages that hold WORDS, the best first."""
    query = " ".join(words)
    found = ask(flags, as_person, lambda client: client.search(query, channel=channel, limit=limit))
    rows(found, _COLUMNS, as_json=as_json, nothing="Nothing found.")


@command.command()
@channel_option
@as_person_option
@click.option("--json", "as_json", is_flag=True, help="One JSON object a line.")
@click.pass_obj
def export(flags: FolderFlags, channel: str, as_person: str, as_json: bool) -> None:
    """Print a whole conversation, oldest first."""

    async def question(client: Client) -> None:
        async for message in _every(client, channel or "main"):
            click.echo(json.dumps(message) if as_json else _paragraph(message))

    ask(flags, as_person, question)


async def _every(client: Client, channel: str) -> AsyncIterator[View]:
    """All messages that there are now, oldest first: the newest of those before each step of a page."""
    newest = await client.history(channel, limit=1)
    end = newest[-1]["number"] if newest else 0
    last = 0
    for before in range(PAGE + 1, end + PAGE + 1, PAGE):
        for message in await client.history(channel, before=min(before, end + 1), limit=PAGE):
            if message["number"] > last:  # edits are no messages of their own, so a page may reach back further
                last = message["number"]
                yield message


def _paragraph(message: View) -> str:
    head = f"{when(message['created_at'])} {message['name']}:"
    tools = "".join(f"\n· {line}" for line in message["tool_lines"])
    return safe(f"{head}{tools}\n{message['text']}\n")
