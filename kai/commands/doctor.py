"""``kai doctor``."""

import click

from kai.client import View
from kai.commands.check_config import problems_of
from kai.commands.connect import FolderFlags, ask, folders_of
from kai.commands.show import as_json_option, json_of
from kai.model.errors import KaiError, errors_in
from kai.settings.where import prepare
from kai.text.safe import safe


@click.command()
@as_json_option
@click.pass_obj
def command(flags: FolderFlags, as_json: bool) -> int:
    """Check this installation. Every finding has a name, what is wrong, and the mend. Exit status 1 on any."""
    findings = _findings(flags)
    if as_json:
        json_of(findings)
    for finding in [] if as_json else findings:
        click.echo(safe(f"{finding['name']}: {finding['problem']}\n    {finding['mend']}"))
    if not as_json and not findings:
        click.echo("Everything is well.")
    return 1 if findings else 0


def _findings(flags: FolderFlags) -> list[View]:
    """What is wrong, from the ground up: a daemon on a broken ground could not tell."""
    try:
        folders = folders_of(flags)
        prepare(folders)
    except KaiError as error:
        return [_finding("folders", error)]
    if problems := problems_of(folders):
        return [
            {"name": "config", "problem": str(one), "mend": "Correct the file; 'kai check-config' lists all."}
            for one in problems
        ]
    try:
        return ask(flags, "", lambda client: client.doctor())
    except Exception as error:
        if found := errors_in(error):
            return [_finding("daemon", one) for one in found]
        raise


def _finding(name: str, error: KaiError) -> View:
    return {"name": name, "problem": error.sentence, "mend": error.hint or "Nothing can be done about it here."}
