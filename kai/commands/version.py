"""``kai version``."""

import platform
import sys

import click

from kai import __version__
from kai.commands.show import as_json_option, facts


@click.command()
@as_json_option
def command(as_json: bool) -> None:
    """Print the version."""
    if as_json:
        facts({"kai": __version__, "python": platform.python_version(), "platform": sys.platform}, as_json=True)
    else:
        click.echo(f"kai {__version__}")
