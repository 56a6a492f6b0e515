"""``kai serve``."""

from functools import partial

import anyio
import click

from kai.commands.connect import FolderFlags, folders_of


@click.command()
@click.option("--with", "bridges", metavar="BRIDGES", default="", help="Also start these bridges (comma-separated).")
@click.option(
    "--idle-exit",
    "idle_exit_s",
    type=click.FloatRange(min=0),
    default=0.0,
    metavar="S",
    help="Leave after S idle seconds.",
)
@click.pass_obj
def command(flags: FolderFlags, bridges: str, idle_exit_s: float) -> None:
    """Run the daemon in the foreground, until SIGTERM or Ctrl-C; SIGHUP reads the configuration again."""
    from kai import daemon  # noqa: PLC0415 - it knows every part

    anyio.run(partial(daemon.run, folders_of(flags), idle_exit_s=idle_exit_s))
