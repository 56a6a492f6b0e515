"""``kai bench``."""

from importlib import import_module

import click

from kai.commands.verb import json_option


@click.command()
@click.argument("names", nargs=-1)
@json_option
def command(names: tuple[str, ...], as_json: bool) -> int:
    """Measure kai: each figure beside its baseline, measured in the same run. NAMES choose some of them."""
    status: int = import_module("kai.bench").run(names, as_json=as_json)  # nobody else pays for its import
    return status
