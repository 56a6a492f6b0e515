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
    """Conversations. C is a title or an id."""


@command.command("list")
@verb
def list_(how: Verb) -> None:
    """List the conversations you are in."""
    how.rows(how.ask(lambda client: client.channels()), _COLUMNS, nothing="No conversation yet.")


@command.command()
@click.argument("channel", metavar="C")
@verb
def show(how: Verb, channel: str) -> None:
    """Show one conversation."""
    how.facts(how.ask(lambda client: client.channel(channel)))
