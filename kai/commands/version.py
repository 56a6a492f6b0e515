"""``kai version``."""

import platform

import click

from kai import __version__
from kai.commands.show import json_of


@click.command()
@click.option("--json", "as_json", is_flag=True, help="Print JSON.")
def command(as_json: bool) -> None:
    """Print the version."""
    if as_json:
        json_of({"kai": __version__, "python": platform.python_version()})
    else:
        click.echo(f"kai {__version__}")
