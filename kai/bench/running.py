"""Runs the measurements and prints them: a table for people, a list of objects for programs."""

import json
import platform
import tempfile
from collections.abc import Mapping, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Protocol

import click

from kai.bench import assembly, embedding, memory, memory_turn, search, start_up, warm_turn
from kai.bench.figures import Figure


class Measure(Protocol):
    """A measurement: in a folder of its own, thoroughly or quickly."""

    def __call__(self, root: Path, *, quick: bool) -> Figure: ...


MEASURES: Mapping[str, Measure] = {
    "warm_turn": warm_turn.measure,
    "assembly_growth": assembly.measure,
    "start_up": start_up.measure,
    "idle_memory": memory.measure_idle,
    "idle_person": memory.measure_person,
    "memory_turn_empty": memory_turn.measure_empty,
    "memory_turn": memory_turn.measure,
    "search_1000": search.measure_1k,
    "search_10000": search.measure_10k,
    "memory_assembly": search.measure_assembly,
    "query_embedding": embedding.measure,
    "odd_queries": search.measure_odd,
}


def run(names: Sequence[str], *, as_json: bool, quick: bool) -> int:
    """Measure what `names` say, or everything. Exit status 1 when a figure is over its target."""
    figures = []
    for name in names or MEASURES:
        if not as_json:
            click.echo(f"measuring {name} …", err=True)
        # Below the home of temporary files: put that on the disk that shall be measured ($TMPDIR).
        with tempfile.TemporaryDirectory(prefix="kai-bench-") as root:
            figures.append(MEASURES[name](Path(root), quick=quick))
    click.echo(json.dumps([_row(figure) for figure in figures], indent=2) if as_json else "\n".join(_table(figures)))
    return 0 if all(figure.is_reached for figure in figures) else 1


def _row(figure: Figure) -> dict[str, object]:
    return {**asdict(figure), "is_reached": figure.is_reached}


def _table(figures: Sequence[Figure]) -> list[str]:
    head = f"{'figure':<17} {'kai':>9} {'baseline':>9} {'unit':<4} {'ratio':>6}  {'95 % interval':<15} {'to reach':>8}"
    lines = [f"Python {platform.python_version()}, medians of paired ratios", "", head]
    for one in figures:
        between = f"{one.low:.2f} to {one.high:.2f}"
        lines.append(
            f"{one.name:<17} {one.value:>9.2f} {one.baseline:>9.2f} {one.unit:<4} {one.ratio:>6.2f}  {between:<15} "
            f"{one.to_reach:>8.2f}{'' if one.is_reached else '  over'}"
        )
    for one in figures:
        more = "; ".join(f"{name} {_told(value)}" for name, value in one.more.items())
        lines += ["", f"{one.name}: {one.pairs} pairs, against {one.against}", *([f"  {more}"] if more else [])]
    return lines


def _told(value: object) -> str:
    return f"{value:,.2f}" if isinstance(value, float) else f"{value:,}" if isinstance(value, int) else str(value)
