"""``kai context``."""

import click

from kai.client import Client, View
from kai.commands.turn import of_turn, turn_argument
from kai.commands.verb import Verb, verb
from kai.context.evidence import diff_lines, show_lines, verify_lines

why_option = click.option("--why", is_flag=True, help="Also what became of everything that was considered.")


@click.group()
def command() -> None:
    """The exact text that goes before a message. TURN is an id; without one, the newest."""


@command.command()
@click.argument("text", nargs=-1, required=True)
@click.option("--channel", default="", metavar="C", help="In this channel [default: your own].")
@why_option
@verb
def preview(how: Verb, text: tuple[str, ...], channel: str, why: bool) -> None:
    """What would go before TEXT as the first message of a fresh session. Starts and counts nothing."""
    found = how.ask(lambda client: client.preview(" ".join(text), channel))
    how.lines(found, show_lines(found if why else {**found, "dispositions": []}))


@command.command()
@turn_argument
@why_option
@verb
def show(how: Verb, turn: str, why: bool) -> None:
    """The exact text of a turn, as it was handed to the agent."""
    found = how.ask(of_turn(turn, lambda client, named: client.context(named, why=why)))
    how.lines(found, show_lines(found))


@command.command()
@click.argument("a")
@click.argument("b", default="last")
@verb
def diff(how: Verb, a: str, b: str) -> None:
    """Which sections differ between turns A and B, and in what."""
    found = how.ask(of_turn(b, lambda client, named: client.diff(a, named)))
    how.lines(found, diff_lines(found))


@command.command()
@turn_argument
@verb
def verify(how: Verb, turn: str) -> int:
    """Prove that the bytes written to the agent carry the snapshot. Exit status 1 when they do not."""
    found = how.ask(of_turn(turn, Client.verify))
    how.lines(found, [line for attempt in found["dispatches"] for line in _attempt(attempt)])
    return 0 if found["ok"] else 1


def _attempt(attempt: View) -> list[str]:
    head = f"attempt {attempt['attempt']}, {attempt['state']}:"
    return [head, f"     {attempt['note']}"] if "note" in attempt else [head, *verify_lines(attempt)]
