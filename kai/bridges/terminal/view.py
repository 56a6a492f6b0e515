"""What a terminal shows: the rows of a turn, one after the other; and the two plain ways to show them."""

import json
import sys
from collections.abc import Awaitable, Callable
from typing import Any, TextIO

from kai.model.states import TurnState
from kai.text.graphemes import shorten
from kai.text.safe import safe

# An event of a turn as the daemon tells it, by its `type`: text, tool (whole each time), ask, notice, state, end; and
# letter: an answer to something that was not asked here and now.
Row = dict[str, Any]


# Shows the next thing that happened in a turn ("" for what belongs to none): for good, but for the rest of a text that
# is still coming.
Show = Callable[[str, Row], Awaitable[None]]


def tool_line(tool: Row) -> str:
    """A tool call in one short harmless line."""
    head = shorten(safe(f"{tool['name']} {tool['target']}"), 100)
    return head if tool["ok"] is not False else f"{head}: {shorten('failed ' + safe(tool['detail']), 100)}"


def question_lines(question: Row) -> list[str]:
    """Title, the whole arguments, and the choices by number."""
    title, detail = safe(question["title"]), safe(question.get("detail", ""))
    choices = [f"  {number}. {safe(one['label'])}" for number, one in enumerate(question["choices"], start=1)]
    return [title, *(detail.split("\n") if detail and detail != title else ()), *choices]


def ending(end: Row) -> str:
    """Why a turn did not end well, and what to do."""
    reason = str(end["reason"] or f"The turn is {end['state']}.")
    if end["state"] == TurnState.INTERRUPTED and "/retry" not in reason:
        reason = f"{reason.rstrip('.')}. Nothing is sent again by itself; /retry runs it again."
    return safe(reason)


def rest_of(text: str, streamed: str) -> str:
    """What of the whole `text` is still to be shown; all of it when something else was streamed."""
    if text.startswith(streamed):
        return text[len(streamed) :]
    # Less than was streamed, as after a restart, or the same but for white space.
    is_told = " ".join(streamed.split()).startswith(" ".join(text.split()))
    return "" if is_told else f"\n\n{text}"


class PlainView:
    """The answer on stdout as it comes, and nothing else there; what happens meanwhile on stderr."""

    def __init__(self, out: TextIO | None = None, err: TextIO | None = None) -> None:
        self._out, self._err = out or sys.stdout, err or sys.stderr
        self._streamed = [""]

    async def show(self, turn: str, row: Row) -> None:
        match row["type"]:
            case "text":
                self._write(row["text"])
            case "end":
                self._write(rest_of(row["text"], "".join(self._streamed)))
                self._end_line()
                self._streamed = [""]
                if row["state"] != TurnState.DONE:
                    self._say(ending(row))
                if below := row.get("below"):
                    self._say(safe(below))
            case "tool" if row["ok"] is not None:
                self._say(f"· {tool_line(row)}")
            case "ask":
                self._say("\n".join(question_lines(row)))
            case "notice" | "letter":
                self._say(safe(row["text"]))

    def _write(self, text: str) -> None:
        if text:
            self._streamed.append(text)
            print(safe(text), end="", file=self._out, flush=True)

    def _end_line(self) -> None:
        if self._streamed[-1][-1:] not in ("", "\n"):
            self._write("\n")

    def _say(self, text: str) -> None:
        if self._out.isatty():
            self._end_line()
        print(text, file=self._err, flush=True)


async def show_json(turn: str, row: Row) -> None:
    """One JSON object a line; the last of a turn has the type ``end`` with `turn_id`, `state` and the whole `text`."""
    sys.stdout.write(json.dumps({"turn_id": turn or None, **row}) + "\n")
    sys.stdout.flush()
