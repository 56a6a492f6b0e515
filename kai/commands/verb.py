"""What the verbs have in common: --as and --json, a question to the daemon, its answer in print."""

from collections.abc import Awaitable, Callable, Iterable, Sequence
from dataclasses import dataclass
from functools import wraps
from typing import Any, Concatenate, ParamSpec, TypeVar

import click

from kai.client import Client
from kai.commands import show
from kai.commands.connect import FolderFlags, ask
from kai.commands.show import Columns, View

P = ParamSpec("P")
T = TypeVar("T")
READS = frozenset({"list_", "show", "search", "export", "preview", "diff", "verify", "check"})  # they leave nothing

as_person_option = click.option("--as", "as_person", default="", metavar="PERSON", help="Speak for PERSON (operators).")
json_option = click.option("--json", "as_json", is_flag=True, help="Print JSON.")


@dataclass(frozen=True, slots=True)
class Verb:
    """One call of a command: for whom, and how its answer is printed."""

    flags: FolderFlags
    as_person: str
    as_json: bool
    reads: bool = False

    def ask(self, question: Callable[[Client], Awaitable[T]]) -> T:
        """The daemon's answer."""
        return ask(self.flags, self.as_person, question, reads=self.reads)

    def lines(self, found: Any, texts: Iterable[str]) -> None:
        """`found` as JSON, or `texts`."""
        show.json_of(found) if self.as_json else show.lines(texts)

    def rows(self, found: Sequence[View], columns: Columns, *, nothing: str) -> None:
        """A table, or `nothing` when there is nothing."""
        if self.as_json or not found:
            self.lines(found, [nothing])
        else:
            show.table(columns, [[show.cell(value(row)) for value in columns.values()] for row in found])

    def facts(self, found: View, leave_out: Sequence[str] = ()) -> None:
        """Names and values."""
        show.json_of(found) if self.as_json else show.facts(found, leave_out)


def verb(work: Callable[Concatenate[Verb, P], T]) -> Callable[..., T]:
    """Gives a command its `Verb`."""

    @as_person_option
    @json_option
    @click.pass_obj
    @wraps(work)
    def command(flags: FolderFlags, /, *args: P.args, **given: P.kwargs) -> T:
        reads = work.__name__ in READS
        how = Verb(flags, str(given.pop("as_person")), bool(given.pop("as_json")), reads)
        return work(how, *args, **given)

    return command
