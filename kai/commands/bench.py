"""``kai bench``."""

from pathlib import Path

import click

from kai.commands.verb import json_option

NAMES = (
    "warm_turn", "assembly_growth", "start_up", "idle_memory", "idle_person", "memory_turn_empty", "memory_turn",
    "search_1000", "search_10000", "memory_assembly", "query_embedding", "odd_queries",
)  # fmt: skip


@click.group(invoke_without_command=True)
@click.option("--only", "names", type=click.Choice(NAMES), multiple=True, help="Measure this one (more than once).")
@click.option("--quick", is_flag=True, help="Fewer pairs and less data: a first look.")
@json_option
@click.pass_context
def command(context: click.Context, names: tuple[str, ...], quick: bool, as_json: bool) -> int:
    """Measure kai: each figure beside its baseline, measured in the same run. Takes minutes."""
    if context.invoked_subcommand:
        return 0
    from kai.bench.running import run  # noqa: PLC0415 - nobody else pays for it

    return run(names, as_json=as_json, quick=quick)


@command.command()
@click.argument("data", type=click.Path(path_type=Path))
@click.option("--provider", default="colbert-small-en", help="The embedder, as in memory.embedder.provider.")
@click.option("--quick", is_flag=True, help="A smaller grid of weights: a first look.")
@json_option
def retrieval(data: Path, provider: str, quick: bool, as_json: bool) -> int:
    """What a search of memory finds of what it should, in talks with questions (a file as LoCoMo's)."""
    from kai.bench.retrieval import run  # noqa: PLC0415 - nobody else pays for it

    return run(data, provider=provider, as_json=as_json, quick=quick)
