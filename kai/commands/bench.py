"""``kai bench``."""

import click

from kai.commands.verb import json_option

NAMES = ("warm_turn", "assembly_growth", "start_up", "idle_memory", "idle_person")


@click.command()
@click.option("--only", "names", type=click.Choice(NAMES), multiple=True, help="Measure this one (more than once).")
@click.option("--quick", is_flag=True, help="Fewer pairs and less data: a first look.")
@json_option
def command(names: tuple[str, ...], quick: bool, as_json: bool) -> int:
    """Measure kai: each figure beside its baseline, measured in the same run. Takes minutes."""
    from kai.bench.running import run  # noqa: PLC0415 - nobody else pays for it

    return run(names, as_json=as_json, quick=quick)
