"""``kai reload``."""

from pathlib import Path

import click

from kai.client import Client, View
from kai.commands.connect import PEOPLE, FolderFlags, folders_of, run
from kai.commands.show import json_of, lines
from kai.commands.verb import json_option


@click.command()
@json_option
@click.pass_obj
def command(flags: FolderFlags, as_json: bool) -> int:
    """Let the running daemon read its configuration again; a bad one is refused, and the last good one holds."""
    found = run(_reload, folders_of(flags).socket(PEOPLE))
    if as_json:
        json_of(found)
    elif found["loaded"]:
        click.echo("The new configuration holds.")
    else:
        lines(["The new configuration is refused; the last good one holds.", *found["problems"]])
    return 0 if found["loaded"] else 1


async def _reload(socket: Path) -> View:
    async with Client(socket) as client:
        return await client.reload()
