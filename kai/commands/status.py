"""``kai status``."""

import click

from kai.client import Client, View
from kai.commands.connect import PEOPLE, FolderFlags, folders_of, is_running, run
from kai.commands.show import cell, facts, json_of, lines, table
from kai.commands.verb import json_option
from kai.settings.where import Folders


@click.command()
@json_option
@click.pass_obj
def command(flags: FolderFlags, as_json: bool) -> int:
    """What runs and what waits. Exit status 1 when no daemon runs, or it runs on an old configuration."""
    found = run(_status, folders_of(flags))
    if as_json:
        json_of(found)
    elif not found["running"]:
        click.echo(f"No daemon runs ({found['socket']}).")
    else:
        facts(found, ("running", "sessions", "turns", "counts", "config_problems"))
        lines(f"  {name.replace('_', ' ')}: {count}" for name, count in found["counts"].items())
        if found["sessions"]:
            table(found["sessions"][0], [[cell(value) for value in row.values()] for row in found["sessions"]])
        lines(f"The configuration is refused, the last good one holds: {one}" for one in found["config_problems"])
    return 0 if found["running"] and not found["config_problems"] else 1


async def _status(folders: Folders) -> View:
    socket = folders.socket(PEOPLE)
    if not await is_running(folders):
        return {"running": False, "socket": str(socket), "config_problems": []}
    async with Client(socket) as client:
        found = await client.status()
        return {"running": True, "socket": str(socket), "turns": found.pop("running"), **found}
