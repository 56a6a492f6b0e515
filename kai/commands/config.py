"""``kai config``."""

from dataclasses import asdict

import click

from kai.commands.connect import FolderFlags, folders_of
from kai.commands.show import cell, json_of, table
from kai.commands.verb import json_option
from kai.settings.load import inspect
from kai.settings.problems import ConfigError
from kai.settings.why import Why, explain


@click.group()
def command() -> None:
    """The settings in force."""


@command.command()
@click.option("--why", is_flag=True, help="Also where each comes from: file, line and column, or the default.")
@json_option
@click.pass_obj
def show(flags: FolderFlags, why: bool, as_json: bool) -> None:
    """Show every setting, and the folders."""
    folders = folders_of(flags)
    found = inspect(folders)
    if found.problems:
        raise ConfigError(found.problems)
    where = [Why(f"folder.{name}", str(getattr(folders, name)), getattr(folders, f"{name}_from")) for name in FOLDERS]
    said = [asdict(one) for one in (*where, *explain(found))]
    if as_json:
        json_of(said)
    else:
        columns = ("setting", "value", "source") if why else ("setting", "value")
        table(columns, [[cell(one[name], limit=0) for name in columns] for one in said])


FOLDERS = ("config", "state", "runtime")
