"""``kai channel``."""

import click

from kai.commands.connect import FolderFlags, ask
from kai.commands.show import as_json_option, as_person_option, facts, rows

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
@as_person_option
@as_json_option
@click.pass_obj
def list_(flags: FolderFlags, as_person: str, as_json: bool) -> None:
    """List the conversations you are in."""
    found = ask(flags, as_person, lambda client: client.channels())
    rows(found, _COLUMNS, as_json=as_json, nothing="No conversation yet.")


@command.command()
@click.argument("channel", metavar="C")
@as_person_option
@as_json_option
@click.pass_obj
def show(flags: FolderFlags, channel: str, as_person: str, as_json: bool) -> None:
    """Show one conversation."""
    facts(ask(flags, as_person, lambda client: client.channel(channel)), as_json=as_json)
