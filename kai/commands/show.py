"""Prints what the daemon told: as a table or lines for a person, as JSON for a program."""

import json
from collections.abc import Callable, Mapping, Sequence
from datetime import datetime
from typing import Any

import click

from kai.text.graphemes import shorten
from kai.text.safe import safe
from kai.text.width import pad, width

View = Mapping[str, Any]
Columns = Mapping[str, Callable[[View], Any]]  # heading → what stands below it

as_json_option = click.option("--json", "as_json", is_flag=True, help="Print JSON.")
as_person_option = click.option("--as", "as_person", default="", metavar="PERSON", help="Speak for PERSON (operators).")
CELL = 60


def json_of(data: Any) -> None:
    """One JSON value. ASCII only: nothing in it can steer a terminal."""
    click.echo(json.dumps(data, indent=2, default=str))


def rows(found: Sequence[View], columns: Columns, *, as_json: bool, nothing: str) -> None:
    """A table, or `nothing` when there is nothing."""
    if as_json:
        json_of(found)
    elif not found:
        click.echo(nothing)
    else:
        table(columns, [[cell(value(row)) for value in columns.values()] for row in found])


def table(headings: Sequence[str] | Columns, cells: Sequence[Sequence[str]]) -> None:
    """Columns as wide as their widest cell."""
    everything = [[heading.upper().replace("_", " ") for heading in headings], *cells]
    widths = [max(width(line[place]) for line in everything) for place in range(len(everything[0]))]
    for line in everything:
        click.echo("  ".join(pad(text, columns) for text, columns in zip(line, widths, strict=True)).rstrip())


def facts(found: View, *, as_json: bool, leave_out: Sequence[str] = ()) -> None:
    """Names and values, one a line; what is empty says nothing."""
    if as_json:
        json_of(found)
        return
    shown = {name: value for name, value in found.items() if value not in ("", None, [], {}) and name not in leave_out}
    widest = max((len(name) for name in shown), default=0)
    for name, value in shown.items():
        click.echo(f"{name.replace('_', ' ').ljust(widest)}  {cell(value, limit=0)}")


def cell(value: Any, *, limit: int = CELL) -> str:
    """A value as harmless text; with a limit on one line of so many code points."""
    match value:
        case None | "":
            return "-"
        case bool():
            return "yes" if value else "no"
        case dict():
            text = ", ".join(f"{name} {cell(inner, limit=0)}" for name, inner in value.items())
        case list() | tuple():
            text = ", ".join(cell(inner, limit=0) for inner in value) or "-"
        case _:
            text = str(value)
    return shorten(safe(text), limit) if limit else safe(text)


def when(text: str | None) -> str:
    """A moment of the API in local time, to the second."""
    return f"{datetime.fromisoformat(text).astimezone():%Y-%m-%d %H:%M:%S}" if text else "-"
