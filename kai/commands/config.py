"""``kai config``."""

from dataclasses import asdict
from typing import Any

import click

from kai.client import Client, View
from kai.commands.connect import PEOPLE, FolderFlags, folders_of, is_running, run
from kai.commands.show import cell, json_of, lines, table
from kai.commands.verb import json_option
from kai.model.errors import ApiError, UnreachableError
from kai.settings.load import inspect
from kai.settings.problems import ConfigError
from kai.settings.where import Folders
from kai.settings.why import Why, explain


@click.group()
def command() -> None:
    """The settings in force."""


@command.command()
@click.option("--why", is_flag=True, help="Also where each comes from: file, line and column, or the default.")
@json_option
@click.pass_obj
def show(flags: FolderFlags, why: bool, as_json: bool) -> int:
    """Show every setting, and the folders: as the running daemon has them, else as the files say.

    Where a file says something else by now, both are shown. Exit status 1 when the daemon refused a file.
    """
    folders = folders_of(flags)
    found, held = inspect(folders), run(_in_force, folders)
    if held is None and found.problems:
        raise ConfigError(found.problems)
    where = [Why(f"folder.{name}", str(getattr(folders, name)), getattr(folders, f"{name}_from")) for name in FOLDERS]
    filed = [] if found.problems else [asdict(one) for one in explain(found)]
    settings = filed if held is None else _both(held["settings"], filed)
    said = [*map(asdict, where), *settings]
    if as_json:
        json_of(said)
    else:
        columns = ("setting", "value", "source") if why else ("setting", "value")
        table(columns, [[_value(one, name) for name in columns] for one in said])
    notes = _notes(held, [str(one) for one in found.problems])
    lines(notes, err=as_json)
    return 1 if held and (held["problems"] or found.problems) else 0


async def _in_force(folders: Folders) -> View | None:
    """What the running daemon goes by; None when none runs, or it does not tell this caller."""
    if not await is_running(folders):
        return None
    try:
        async with Client(folders.socket(PEOPLE)) as client:
            return await client.config()
    except (ApiError, UnreachableError):
        return None


def _both(held: list[dict[str, Any]], filed: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """What is in force, each with `in_file` where the file says something else by now."""
    by_name, known = {one["setting"]: one for one in filed}, {one["setting"] for one in held}
    both = []
    for one in held:
        other = by_name.get(one["setting"])
        differs = bool(filed) and (other is None or other["value"] != one["value"])
        both.append({**one, "in_file": other["value"] if other else None} if differs else one)
    new = [{"setting": one["setting"], "value": None, "source": "", "in_file": one["value"]} for one in filed
        if one["setting"] not in known]  # fmt: skip
    return both + new


def _value(one: dict[str, Any], column: str) -> str:
    shown = cell(one[column], limit=0)
    if column == "value" and "in_file" in one:
        return f"{shown} (the file says {cell(one['in_file'], limit=0)}, and was not read)"
    return shown


def _notes(held: View | None, problems: list[str]) -> list[str]:
    if held is None:
        return []
    refused = list(held["problems"]) or problems
    if refused:
        return [f"\nThe file is refused, the last good configuration is in force: {one}" for one in refused]
    if held["changed"]:
        changed = ", ".join(held["changed"])
        return [f"\nThe daemon has not read {changed} as it is now: 'kai reload' does. Shown is what is in force."]
    return []


FOLDERS = ("config", "state", "runtime")
