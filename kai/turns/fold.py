"""Folds the events of one turn into its outcome. Pure: the same events, the same outcome."""

from dataclasses import dataclass
from datetime import datetime
from typing import Any, assert_never

from kai.model.errors import FailureKind
from kai.model.events import (
    Ask,
    AskWithdrawn,
    BackendEvent,
    Compacted,
    Failed,
    Finished,
    Limit,
    Started,
    Steered,
    TextDelta,
    Thinking,
    ToolCall,
    ToolResult,
    Unsolicited,
    Usage,
)
from kai.model.states import TurnState
from kai.model.turns import Outcome

# What failed so stays in the CLI's own transcript and would fail every later turn of its session.
_POISONS = frozenset({FailureKind.CONTEXT, FailureKind.REFUSED, FailureKind.RESUME, FailureKind.PROTOCOL})
TOOL_LINE_CHARS = 600
TOOL_LINES = 200  # of one turn; a longer one says how many more there were


@dataclass
class Tool:
    """A tool call so far; `ok` is None while it runs."""

    name: str
    target: str
    ok: bool | None = None
    detail: str = ""

    def line(self) -> str:
        """Name, target and outcome in one line of at most 600 characters."""
        state = {None: "not finished", True: "ok", False: "failed"}[self.ok]
        head = f"{self.name} {self.target}".strip().replace("\n", " ")
        line = f"{head}: {state}" if self.ok is not False or not self.detail else f"{head}: failed: {self.detail}"
        return line if len(line) <= TOOL_LINE_CHARS else line[: TOOL_LINE_CHARS - 1] + "…"


class Fold:
    """The state of one turn as its events come in. Give it every event, then take the `outcome`."""

    def __init__(self) -> None:
        self._parts: list[str] = []
        self._tools: dict[str, Tool] = {}
        self._usage: Usage | None = None
        self._native_id = ""
        self._compacted = False
        self._resets_at: datetime | None = None
        self._end: Finished | Failed | None = None

    def add(self, event: BackendEvent) -> None:
        """Take one event. After the end nothing counts any more."""
        if self._end is not None:
            return
        match event:
            case TextDelta(text):
                self._parts.append(text)
            case ToolCall() | ToolResult():
                self._add_tool(event)
            case Usage():
                self._usage = event
            case Started(native_id):
                self._native_id = native_id
            case Compacted():
                self._compacted = True
            case Limit(_, resets_at):
                self._resets_at = resets_at or self._resets_at
            case Finished() | Failed():
                self._end = event
            case Thinking() | Ask() | AskWithdrawn() | Unsolicited() | Steered():
                pass  # shown or asked elsewhere; no part of what the turn came to
            case _:
                assert_never(event)

    def _add_tool(self, event: ToolCall | ToolResult) -> None:
        if isinstance(event, ToolResult):
            tool = self._tools.setdefault(event.tool_id, Tool("tool", ""))
            tool.ok, tool.detail = event.ok, event.detail
        else:
            tool = self._tools.setdefault(event.tool_id, Tool(event.name, event.target))
            tool.name, tool.target = event.name or tool.name, event.target or tool.target

    @property
    def text(self) -> str:
        """The answer so far."""
        return "".join(self._parts)

    @property
    def tools(self) -> tuple[dict[str, Any], ...]:
        """The tool calls so far, in order, for showing."""
        return tuple({"name": t.name, "target": t.target, "ok": t.ok} for t in self._tools.values())

    def tool_lines(self) -> tuple[str, ...]:
        lines = [tool.line() for tool in self._tools.values()]
        more = len(lines) - TOOL_LINES
        return (*lines[:TOOL_LINES], f"{more} more tool calls") if more > 0 else tuple(lines)

    def outcome(self) -> Outcome:
        """What the turn came to. Without an end event it was cut: interrupted, its text incomplete."""
        match self._end:
            case Finished(stopped, text):
                return self._finished(text or self.text, stopped=stopped)
            case Failed() as failed:
                return self._outcome(
                    TurnState.FAILED,
                    self.text,
                    failure=failed.kind,
                    reason=failed.sentence,
                    detail=failed.detail,
                    session_lost=failed.session_lost or failed.kind in _POISONS,
                    resets_at=failed.resets_at or self._resets_at,
                )
            case None:
                return self._outcome(
                    TurnState.INTERRUPTED, self.text, reason="The turn was cut off.", session_lost=True
                )
            case _:
                assert_never(self._end)

    def _finished(self, text: str, *, stopped: bool) -> Outcome:
        if stopped:
            return self._outcome(TurnState.STOPPED, text, reason="Stopped.")
        if not text.strip() and not self._tools:
            # A success that says and does nothing is none: the person would wait for an answer that never comes.
            reason = "The agent ended its turn without an answer."
            return self._outcome(TurnState.FAILED, "", failure=FailureKind.EMPTY, reason=reason)
        return self._outcome(TurnState.DONE, text)

    def _outcome(self, state: TurnState, text: str, **more: Any) -> Outcome:
        return Outcome(
            state=state,
            text=text.strip("\n"),
            tool_lines=self.tool_lines(),
            incomplete=state is not TurnState.DONE and bool(text.strip()),
            usage=self._usage,
            native_id=self._native_id,
            compacted=self._compacted,
            **more,
        )
