"""``kai doctor``."""

import os

import click

from kai.client import View
from kai.commands.check_config import problems_of
from kai.commands.connect import FolderFlags, ask, folders_of
from kai.commands.show import json_of, lines
from kai.commands.verb import json_option
from kai.model.errors import errors_in
from kai.settings.where import prepare


@click.command()
@json_option
@click.pass_obj
def command(flags: FolderFlags, as_json: bool) -> int:
    """Check this installation. Every finding has a name, what is wrong, and the mend. Exit status 1 on any."""
    findings = _findings(flags)
    if as_json:
        json_of(findings)
    else:
        told = [f"{one['name']}: {one['problem']}\n    {one['mend']}" for one in findings]
        lines(told or ["Everything is well."])
    return 1 if findings else 0


def _findings(flags: FolderFlags) -> list[View]:
    """What is wrong, from the ground up: a daemon on a broken ground could not tell."""
    name = "folders"
    try:
        folders = folders_of(flags)
        if not folders.is_of_service and os.path.lexists(folders.state):  # they are the daemon's there
            prepare(folders)
        if problems := problems_of(folders):
            mend = "Correct the file; 'kai check-config' lists all."
            return [{"name": "config", "problem": str(one), "mend": mend} for one in problems]
        name = "daemon"
        return ask(flags, "", lambda client: client.doctor(), reads=True)
    except Exception as error:
        found = [{"name": name, "problem": one.sentence, "mend": one.hint} for one in errors_in(error)]
        if not found:
            raise
        return found
