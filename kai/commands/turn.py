"""``kai turn``."""

from collections.abc import Awaitable, Callable
from typing import TypeVar

import click

from kai.bridges.terminal.start import follow
from kai.client import Client
from kai.commands.show import View, cell, facts, lines, table, when
from kai.commands.verb import Verb, verb
from kai.model.errors import UnknownThingError

T = TypeVar("T")
_COLUMNS = {
    "turn": lambda turn: turn["turn"],
    "state": lambda turn: turn["state"] + (f" ({turn['failure']})" if turn["failure"] else ""),
    "backend": lambda turn: turn["backend"],
    "queued at": lambda turn: when(turn["queued_at"]),
    "message": lambda turn: turn["text"],
    "reason": lambda turn: turn["reason"],
}

turn_argument = click.argument("turn", default="last")


_MOMENTS = {"prepared": "prepared_at", "sent": "sent_at", "settled": "settled_at"}
LIVE = ("running", "asking", "held")


def of_turn(
    turn: str, question: Callable[[Client, str], Awaitable[T]], *, live_first: bool = False
) -> Callable[[Client], Awaitable[T]]:
    """A question about `turn`: ``last`` is the newest one of whoever asks; with `live_first` one that runs, if any."""

    async def asking(client: Client) -> T:
        newest = await client.turns(limit=50) if turn == "last" else [{"turn": turn, "state": ""}]
        if not newest:
            raise UnknownThingError("turn", turn)
        running = [one for one in newest if live_first and one["state"] in LIVE]
        return await question(client, (running or newest)[0]["turn"])

    return asking


@click.group()
def command() -> None:
    """Turns: a message and its answer. TURN is an id; without one, the newest."""


@command.command("list")
@click.option("--channel", default="", metavar="C", help="Of this channel only.")
@click.option("--limit", type=click.IntRange(1, 500), default=20, show_default=True)
@verb
def list_(how: Verb, channel: str, limit: int) -> None:
    """List turns, the newest first, with the reason of every end that is not done."""
    found = how.ask(lambda client: client.turns(channel=channel, limit=limit))
    how.rows(found, _COLUMNS, nothing="No turn yet.")


@command.command()
@turn_argument
@verb
def show(how: Verb, turn: str) -> None:
    """Show a turn: message, answer, tools, attempts, open questions."""
    found = how.ask(of_turn(turn, Client.turn))
    how.facts(found, ("text", "answer_text", "tool_lines", "dispatches", "questions", "delegations"))
    if how.as_json:
        return
    for attempt in found["dispatches"]:
        facts({f"attempt {attempt['attempt']}": _attempt(attempt)})
    lines([f"\n> {found['text']}\n", *(f"· {cell(line)}" for line in found["tool_lines"]), found["answer_text"]])
    if work := found.get("delegations"):
        rows = [
            [one["agent"], one["turn"], "ended" if one["ended_at"] else "goes on", cell(one["reason"])] for one in work
        ]
        table(("delegated to", "turn", "", "why"), rows)
    if found["questions"]:
        table(("open question", "title"), [[one["ask"], cell(one["title"])] for one in found["questions"]])


def _attempt(attempt: View) -> str:
    """What a person wants of it; --json has all."""
    engine = " ".join(attempt[part] for part in ("backend", "model") if attempt.get(part))
    session = f"{'a fresh ' if attempt.get('fresh') else ''}session {attempt.get('session') or '-'}"
    moments = [f"{name} {when(attempt[key])}" for name, key in _MOMENTS.items() if attempt.get(key)]
    return "; ".join(filter(None, (attempt["state"], engine, session, *moments)))


@command.command()
@turn_argument
@verb
def stop(how: Verb, turn: str) -> None:
    """Stop a turn (the one that runs, unless named); its session is kept. Says which step it took."""
    found = how.ask(of_turn(turn, Client.stop, live_first=True))
    how.lines(found, [found["sentence"]])


@command.command()
@turn_argument
@click.option("--no-wait", is_flag=True, help="Do not wait for the answer.")
@verb
def retry(how: Verb, turn: str, no_wait: bool) -> int:
    """Run the message of an ended turn again, as a new turn, and print its answer. What was done stays done."""

    async def again(client: Client, named: str) -> bool:
        new = (await client.retry(named))["turn"]
        if not no_wait:
            return await follow(client, new, as_json=how.as_json)
        how.lines({"turn": new}, [f"Queued as {new}; the answer goes where the message came from."])
        return True

    return 0 if how.ask(of_turn(turn, again)) else 1
