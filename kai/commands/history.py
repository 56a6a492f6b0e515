"""``kai history``."""

import json

import click

from kai.client import Client, View
from kai.commands.show import lines, when
from kai.commands.verb import Verb, verb

PAGE = 500
_COLUMNS = {
    "said at": lambda message: when(message["created_at"]),
    "by": lambda message: message["name"],
    "text": lambda message: message["text"],
}
channel_option = click.option("--channel", default="", metavar="C", help="Channel [default: your own].")


@click.group()
def command() -> None:
    """What was said, as far as you may see it."""


@command.command()
@click.argument("words", nargs=-1, required=True)
@channel_option
@click.option("--limit", type=click.IntRange(1, 500), default=20, show_default=True)
@verb
def search(how: Verb, words: tuple[str, ...], channel: str, limit: int) -> None:
    """Messages that hold WORDS, the best first."""
    found = how.ask(lambda client: client.search(" ".join(words), channel=channel, limit=limit))
    how.rows(found, _COLUMNS, nothing="Nothing found.")


@command.command()
@channel_option
@verb
def export(how: Verb, channel: str) -> None:
    """Print a whole channel, oldest first; with --json, one object a line."""
    how.ask(lambda client: _export(client, channel or "main", as_json=how.as_json))


async def _export(client: Client, channel: str, *, as_json: bool) -> None:
    """Page by page: the newest messages before each step of a page, up to what is the newest now."""
    newest = await client.history(channel, limit=1)
    end = newest[-1]["number"] if newest else 0
    last = 0
    for before in range(PAGE + 1, end + PAGE + 1, PAGE):
        page = await client.history(channel, before=min(before, end + 1), limit=PAGE)
        # Edits are no messages of their own, so a page may reach back further than the one before.
        new = [message for message in page if message["number"] > last]
        last = new[-1]["number"] if new else last
        lines(json.dumps(message) if as_json else _paragraph(message) for message in new)


def _paragraph(message: View) -> str:
    tools = "".join(f"\n· {line}" for line in message["tool_lines"])
    return f"{when(message['created_at'])} {message['name']}:{tools}\n{message['text']}\n"
