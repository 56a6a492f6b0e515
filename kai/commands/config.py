"""``kai config``."""

from dataclasses import asdict

import click

from kai.commands.connect import FolderFlags, folders_of
from kai.commands.show import as_json_option, cell, json_of, table
from kai.settings.load import inspect
from kai.settings.problems import ConfigError
from kai.settings.where import Folders
from kai.settings.why import Why, explain


@click.group()
def command() -> None:
    """The settings in force."""


@command.command()
@click.option("--why", is_flag=True, help="Also where each comes from: file, line and column, or the default.")
@as_json_option
@click.pass_obj
def show(flags: FolderFlags, why: bool, as_json: bool) -> None:
    """Show every setting, and the folders."""
    folders = folders_of(flags)
    found = inspect(folders)
    if found.problems:
        raise ConfigError(found.problems)
    said = (*_where(folders), *explain(found))
    if as_json:
        json_of([asdict(one) for one in said])
    elif why:
        rows = [[cell(one.setting), cell(one.value, limit=0), cell(one.source, limit=0)] for one in said]
        table(("setting", "value", "from"), rows)
    else:
        table(("setting", "value"), [[cell(one.setting), cell(one.value, limit=0)] for one in said])


def _where(folders: Folders) -> tuple[Why, ...]:
    return (
        Why("folder.config", str(folders.config), folders.config_from),
        Why("folder.state", str(folders.state), folders.state_from),
        Why("folder.runtime", str(folders.runtime), folders.runtime_from),
    )
