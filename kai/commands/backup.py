"""``kai backup``."""

import os
import pwd
import shutil
from contextlib import ExitStack
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import click
from anyio import to_thread

from kai.client import Client
from kai.commands.connect import PEOPLE, FolderFlags, folders_of, is_running, run
from kai.commands.show import json_of, lines, patience, table, when
from kai.commands.verb import json_option
from kai.settings.where import Folders


@click.command()
@click.option("--to", "target", type=click.Path(path_type=Path), metavar="DIR", help="Also copy it into DIR.")
@click.option("--list", "is_list", is_flag=True, help="List the backups instead of making one.")
@json_option
@click.pass_obj
def command(flags: FolderFlags, target: Path | None, is_list: bool, as_json: bool) -> int:
    """Back up database, attachments and the files of people while the daemon works. Exit status 1 if any was left out.

    The configuration is not in it. 'kai restore' takes what is printed here.
    """
    folders = folders_of(flags)
    if is_list:
        return _list(folders, as_json)
    with patience("Backing up; this can take minutes…"):
        made = run(_make, folders)
        if target is not None:
            made["copy"] = str(_copied(Path(made["path"]), target))
    if as_json:
        json_of(made)
    else:
        lines([f"{made['path']}: {made['files']} files, {made['size_bytes']:,} bytes, digest {made['digest'][:16]}"])
        lines([f"copied to {made['copy']}"] if target is not None else [])
        lines(f"left out: {one}" for one in made["left_out"])
    return 1 if made["left_out"] else 0


def _list(folders: Folders, as_json: bool) -> int:
    found = run(_listed, folders)
    if as_json:
        json_of(found)
    elif not found:
        click.echo("There is no backup yet.")
    else:
        cells = [
            [one["name"], when(one["made_at"]), one["kai"], f"{one['size_bytes']:,}", str(len(one["left_out"]))]
            for one in found
        ]
        table(("name", "made at", "kai", "bytes", "left out"), cells)
    return 0


async def _make(folders: Folders) -> dict[str, Any]:
    if await is_running(folders):
        async with Client(folders.socket(PEOPLE)) as client:
            return await client.backup()
    return await to_thread.run_sync(_alone, folders)


async def _listed(folders: Folders) -> list[dict[str, Any]]:
    if await is_running(folders):
        async with Client(folders.socket(PEOPLE)) as client:
            return await client.backups()
    from kai.store import backup  # noqa: PLC0415 - needed without a daemon only
    from kai.turns.backups import backup_view  # noqa: PLC0415

    return [backup_view(one) for one in await to_thread.run_sync(backup.listing, folders.state)]


def _alone(folders: Folders) -> dict[str, Any]:
    """Without a daemon: under its lock. Nothing is started, and no setting has to be sound."""
    from kai.settings.load import inspect  # noqa: PLC0415
    from kai.settings.values import Settings  # noqa: PLC0415
    from kai.store import backup, opening  # noqa: PLC0415
    from kai.store.manifest import BackupError  # noqa: PLC0415
    from kai.turns.backups import backup_view  # noqa: PLC0415

    database = folders.state / backup.DATABASE
    if not database.is_file():
        raise BackupError(str(database), "there is nothing to back up yet")
    if (owner := folders.state.owner()) != pwd.getpwuid(os.geteuid()).pw_name:
        remedy = f"Start the daemon, which can back up everything, or run it as that user: sudo -u {owner} kai backup"
        raise BackupError(str(folders.state), f"it belongs to {owner}, and no daemon runs", remedy)
    with ExitStack() as stack:
        stack.callback(os.close, opening.take_lock(database))
        stack.callback(os.close, opening.hold(database))
        settings = (inspect(folders).settings or Settings()).backups
        now = datetime.now(UTC)
        made = backup.make(folders.state, now, keep=settings.keep, max_file_bytes=settings.max_file_bytes)
        return backup_view(made)


def _copied(made: Path, target: Path) -> Path:
    """A copy that is complete under its name or not there at all."""
    target.mkdir(parents=True, exist_ok=True)
    draft, final = target / f".new-{made.name}", target / made.name
    shutil.rmtree(draft, ignore_errors=True)
    shutil.copytree(made, draft)
    os.sync()
    draft.rename(final)
    return final
