"""``kai bench``."""

import click

from kai.commands.verb import json_option


@click.command()
@click.argument("names", nargs=-1)
@json_option
def command(names: tuple[str, ...], as_json: bool) -> int:
    """Measure kai: each figure beside its baseline, measured in the same run. NAMES choose some of them."""
    from kai.bench import run  # noqa: PLC0415 - nobody else pays for it

    return run(names, as_json=as_json)
