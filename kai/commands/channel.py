"""``kai channel``."""

import click

from kai.commands.verb import Verb, verb

_COLUMNS = {
    "title": lambda channel: channel["title"],
    "kind": lambda channel: channel["kind"],
    "members": lambda channel: channel["member_names"],
    "running": lambda channel: channel["running"],
    "queued": lambda channel: channel["queued"],
    "id": lambda channel: channel["channel"],
}


@click.group()
def command() -> None:
    """Channels: each a conversation with its members. C is a title or an id."""


@command.command("list")
@verb
def list_(how: Verb) -> None:
    """List the channels you are in."""
    how.rows(how.ask(lambda client: client.channels()), _COLUMNS, nothing="No channel yet.")


@command.command()
@click.argument("channel", metavar="C")
@verb
def show(how: Verb, channel: str) -> None:
    """Show one channel."""
    how.facts(how.ask(lambda client: client.channel(channel)))
