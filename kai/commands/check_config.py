"""``kai check-config``."""

from dataclasses import asdict

import click

from kai.commands.connect import FolderFlags, folders_of
from kai.commands.show import json_of, lines
from kai.commands.verb import json_option
from kai.settings.problems import ConfigError, Problem
from kai.settings.where import Folders


@click.command("check-config")
@json_option
@click.pass_obj
def command(flags: FolderFlags, as_json: bool) -> int:
    """Check every file of the configuration: problems with file, line and column, and what to do. Starts nothing."""
    folders = folders_of(flags)
    problems = problems_of(folders)
    if as_json:
        json_of([asdict(problem) for problem in problems])
    else:
        lines([str(one) for one in problems] or [f"The configuration in {folders.config} is well."])
    return 1 if problems else 0


def problems_of(folders: Folders) -> tuple[Problem, ...]:
    """All that is wrong in the configuration: settings, manifests, agent definitions."""
    from kai.turns.config import read  # noqa: PLC0415 - pydantic's models are built on import

    try:
        read(folders)
    except ConfigError as error:
        return error.problems
    return ()
