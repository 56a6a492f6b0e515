"""What a terminal has to be able to show; and the two plain ways to show it: text and JSON lines."""

import json
import sys
from dataclasses import dataclass, field
from typing import Any, Protocol, TextIO

from kai.model.states import TurnState
from kai.text.graphemes import shorten
from kai.text.safe import safe

Row = dict[str, Any]  # an event of a turn or a view of a thing, as the daemon tells it


@dataclass
class Tool:
    """A tool call as it is shown; `ok` is None while it runs."""

    id: str
    name: str = ""
    target: str = ""
    ok: bool | None = None
    detail: str = ""

    def line(self) -> str:
        """One short harmless line."""
        head = shorten(safe(f"{self.name} {self.target}"), 100)
        return head if self.ok is not False else f"{head}: {shorten('failed ' + safe(self.detail), 100)}"


class View(Protocol):
    """Shows a conversation. Everything is shown for good but the rest of a text that is still coming."""

    async def text(self, turn: str, piece: str) -> None:
        """The next piece of an answer."""
        ...

    async def tool(self, turn: str, tool: Tool) -> None:
        """A tool call began, or ended."""
        ...

    async def ask(self, turn: str, question: Row) -> None:
        """The agent waits for a person: `title`, `detail`, `choices`, `expires_at`."""
        ...

    async def notice(self, turn: str, text: str) -> None:
        """Something that kai itself says."""
        ...

    async def state(self, turn: str, state: str) -> None:
        """The turn moved on."""
        ...

    async def end(self, turn: str, end: Row) -> None:
        """The turn ended: `state`, the whole `text`, the `reason` of every end but done."""
        ...

    async def letter(self, heading: str, text: str) -> None:
        """An answer to something that was not asked here and now."""
        ...


def question_lines(question: Row) -> list[str]:
    """Title, the whole arguments, and the choices by number."""
    detail = str(question.get("detail", ""))
    lines = [safe(str(question["title"]))]
    if detail and detail != question["title"]:
        lines += safe(detail).split("\n")
    return lines + [f"  {number}. {safe(one['label'])}" for number, one in enumerate(question["choices"], start=1)]


def ending(end: Row) -> str:
    """Why a turn did not end well, and what to do."""
    reason = str(end["reason"] or f"The turn is {end['state']}.")
    if end["state"] == TurnState.INTERRUPTED and "/retry" not in reason:
        reason = f"{reason.rstrip('.')}. Nothing is sent again by itself; /retry runs it again."
    return reason


@dataclass
class Rest:
    """What of an authoritative text has not been shown yet."""

    shown: list[str] = field(default_factory=list)

    def add(self, piece: str) -> None:
        self.shown.append(piece)

    def take(self, text: str) -> str:
        """The part of `text` still to show; all of it when something else was streamed. Forgets what was shown."""
        shown = "".join(self.shown)
        self.shown.clear()
        if text.startswith(shown):
            return text[len(shown) :]
        # Less than was streamed, as after a restart, or the same but for white space.
        is_told = " ".join(shown.split()).startswith(" ".join(text.split()))
        return "" if is_told else f"\n\n{text}"


class PlainView:
    """The answer on stdout and nothing else there; what happens meanwhile on stderr."""

    def __init__(self, out: TextIO | None = None, err: TextIO | None = None) -> None:
        self._out, self._err = out or sys.stdout, err or sys.stderr
        self._rest = Rest()
        self._is_at_line_start = True

    async def text(self, turn: str, piece: str) -> None:
        self._rest.add(piece)
        self._write(safe(piece))

    async def tool(self, turn: str, tool: Tool) -> None:
        if tool.ok is not None:
            self._say(f"· {tool.line()}")

    async def ask(self, turn: str, question: Row) -> None:
        self._say("\n".join(question_lines(question)))

    async def notice(self, turn: str, text: str) -> None:
        self._say(safe(text))

    async def state(self, turn: str, state: str) -> None:
        pass

    async def end(self, turn: str, end: Row) -> None:
        self._write(safe(self._rest.take(end["text"])))
        self._end_line()
        if end["state"] != TurnState.DONE:
            self._say(safe(ending(end)))

    async def letter(self, heading: str, text: str) -> None:
        self._say(f"{safe(heading)}\n{safe(text)}")

    def _write(self, text: str) -> None:
        if text:
            self._out.write(text)
            self._out.flush()
            self._is_at_line_start = text.endswith("\n")

    def _end_line(self) -> None:
        if not self._is_at_line_start:
            self._write("\n")

    def _say(self, text: str) -> None:
        if self._out.isatty() and self._err.isatty():
            self._end_line()
        self._err.write(text + "\n")
        self._err.flush()


class JsonView:
    """One JSON object a line; the last of a turn has the type ``end`` with `turn_id`, `state` and the whole `text`."""

    def __init__(self, out: TextIO | None = None) -> None:
        self._out = out or sys.stdout

    async def text(self, turn: str, piece: str) -> None:
        self._write("text", turn, text=piece)

    async def tool(self, turn: str, tool: Tool) -> None:
        self._write("tool", turn, name=tool.name, target=tool.target, ok=tool.ok, detail=tool.detail)

    async def ask(self, turn: str, question: Row) -> None:
        self._write("ask", turn, **{name: value for name, value in question.items() if name != "type"})

    async def notice(self, turn: str, text: str) -> None:
        self._write("notice", turn, text=text)

    async def state(self, turn: str, state: str) -> None:
        self._write("state", turn, state=state)

    async def end(self, turn: str, end: Row) -> None:
        self._write("end", turn, **{name: value for name, value in end.items() if name != "type"})

    async def letter(self, heading: str, text: str) -> None:
        self._write("letter", "", heading=heading, text=text)

    def _write(self, kind: str, turn: str, **fields: Any) -> None:
        self._out.write(json.dumps({"type": kind, "turn_id": turn or None, **fields}) + "\n")
        self._out.flush()
