"""``kai restore``."""

from datetime import UTC, datetime
from pathlib import Path

import click

from kai.commands.connect import FolderFlags, folders_of
from kai.commands.show import json_of, lines, patience
from kai.commands.verb import json_option


@click.command()
@click.argument("backup", default="")
@click.option(
    "--replace", is_flag=True, help="There is a state already: keep it aside and put the backup in its place."
)
@click.option("--check", is_flag=True, help="Only prove that the backup is whole.")
@click.option("--finish", is_flag=True, help="Complete a restore that was cut short.")
@json_option
@click.pass_obj
def command(flags: FolderFlags, backup: str, replace: bool, check: bool, finish: bool, as_json: bool) -> None:
    """Put BACKUP in the place of the state. BACKUP is a folder, a name of 'kai backup --list', or 'newest'.

    It is proven whole first, and refused whole. No daemon may run. What waited, ran or was owed at the moment of the
    backup is told as unknown and never done again by itself.
    """
    from kai.store import restore  # noqa: PLC0415
    from kai.store.backup import Backup  # noqa: PLC0415

    if finish == bool(backup):
        raise click.UsageError("Name one BACKUP, or --finish.")
    state = _state(flags)
    with patience("Restoring; this can take minutes…"):
        done = (
            restore.finish(state)
            if finish
            else restore.check(restore.find(state, backup))
            if check
            else restore.restore(state, restore.find(state, backup), datetime.now(UTC), replace=replace)
        )
    if isinstance(done, Backup):
        said = {"path": str(done.path), "whole": True, "made_at": done.manifest.made_at, "digest": done.manifest.seal}
        told = [f"{done.path} is whole: {len(done.manifest.files)} files, digest {done.manifest.seal[:16]}"]
    else:
        aside = str(done.aside) if done.aside else ""
        said = {"backup": done.backup, "made_at": done.made_at, "aside": aside, "left_out": list(done.left_out)}
        told = [f"The state is that of {done.made_at:%Y-%m-%d %H:%M} UTC, from {done.backup}."]
        told += [f"What was there before is in {aside}; erase it when you miss nothing."] if aside else []
        told += [f"was left out of the backup: {one}" for one in done.left_out]
    json_of(said) if as_json else lines(told)


def _state(flags: FolderFlags) -> Path:
    state = folders_of(flags).state
    if not state.exists():
        state.mkdir(mode=0o700, parents=True)
    return state.resolve()
