"""Prints what the daemon told: as a table or lines for a person, as JSON for a program."""

import json
import shutil
import sys
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from datetime import datetime
from pathlib import Path
from threading import Timer
from typing import Any

import click

from kai.text.graphemes import shorten
from kai.text.safe import safe
from kai.text.width import pad, width

View = Mapping[str, Any]
Columns = Mapping[str, Callable[[View], Any]]  # heading → what stands below it
CELL = 60
ENDLESS = 2**31
PATIENCE_S = 1.0
ASKS_VERSIONS = "Asking the agent CLIs for their versions; some take seconds…"


def json_of(data: Any) -> None:
    """One JSON value. ASCII only: nothing in it can steer a terminal."""
    click.echo(json.dumps(data, indent=2, default=str))


def lines(texts: Iterable[str], *, err: bool = False) -> None:
    """Harmless lines."""
    for text in texts:
        click.echo(safe(text), err=err)


@contextmanager
def patience(text: str) -> Iterator[None]:
    """Say `text` on stderr when what is done within takes long."""
    timer = Timer(PATIENCE_S, lambda: click.echo(text, err=True))
    timer.daemon = True
    timer.start()
    try:
        yield
    finally:
        timer.cancel()


def table(headings: Iterable[str], cells: Sequence[Sequence[str]]) -> None:
    """Columns as wide as their widest cell."""
    everything = [[heading.upper().replace("_", " ") for heading in headings], *cells]
    widths = [max(width(line[place]) for line in everything) for place in range(len(everything[0]))]
    for line in everything:
        click.echo("  ".join(pad(text, columns) for text, columns in zip(line, widths, strict=True)).rstrip())


def facts(found: View, leave_out: Sequence[str] = ()) -> None:
    """Names and values, one a line; what is empty says nothing."""
    shown = {name: value for name, value in found.items() if value not in ("", None, [], {}) and name not in leave_out}
    widest = max((len(name) for name in shown), default=0)
    for name, value in shown.items():
        click.echo(f"{name.replace('_', ' ').ljust(widest)}  {cell(value, limit=0)}")


def cell(value: Any, *, limit: int | None = None) -> str:
    """A value as harmless text on one line, cut where a terminal would break it; whole with `limit` 0."""
    if limit is None:  # whoever reads a pipe wants all of it
        limit = CELL if sys.stdout.isatty() else ENDLESS
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


def own_command() -> str:
    """How kai is called from this shell: by its name where that finds this very kai, else by its path."""
    beside = Path(sys.executable).parent / "kai"
    found = shutil.which("kai")
    if not beside.exists() or (found and Path(found).resolve() == beside.resolve()):
        return "kai"
    near = beside.parents[2]  # of .venv/bin/kai
    return str(beside.relative_to(near)) if near == Path.cwd() else str(beside)
