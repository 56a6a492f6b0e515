"""One turn as its caller sees it, whatever the backend does: the contract of a turn, in one place for all of them.

Exactly one `Started` first, exactly one `Finished` or `Failed` last, nothing after it, every `ToolCall` closed by
exactly one `ToolResult`, no question left open, no endless repetition, no more text than the limit.
"""

from collections import deque
from dataclasses import replace
from typing import assert_never

from kai.model.backends import Limits
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

DETAIL_CHARS = 600
_RECENT = 8  # a loop may be a few pieces long: an agent that repeats a cut stream sends the same two again and again


class Turn:
    """Give it what the driver saw with `take`; it gives what the caller gets. `over` is set when a limit is passed."""

    def __init__(self, limits: Limits, native_id: str) -> None:
        self._limits = limits
        self._native_id = native_id
        self._started = False
        self._open_tools: dict[str, ToolCall] = {}
        self._closed_tools: set[str] = set()
        self._asks: set[str] = set()
        self._bytes = 0
        self._recent: deque[str] = deque(maxlen=_RECENT)
        self._repeats = 0
        self._repeated_bytes = 0
        self.end: Finished | Failed | None = None
        self.over: Failed | None = None

    @property
    def asking(self) -> bool:
        """A person is waited for, so that no limit on the agent's silence holds."""
        return bool(self._asks)

    def answered(self, ask: str) -> bool:
        """The question was answered; False when it is not open (any more)."""
        if ask not in self._asks:
            return False
        self._asks.remove(ask)
        return True

    def take(self, event: BackendEvent) -> list[BackendEvent]:
        """The events that the caller gets for this one, in order; none after the end."""
        if self.end is not None:
            return []
        events = self._complete(event)
        if events and not self._started:
            self._started = True
            if not isinstance(events[0], Started):
                events.insert(0, Started(self._native_id))
        return events

    def _complete(self, event: BackendEvent) -> list[BackendEvent]:
        match event:
            case TextDelta() | Thinking():
                return self._text(event)
            case ToolCall():
                return self._call(event)
            case ToolResult():
                return self._result(event)
            case Finished() | Failed():
                return self._ending(event)
            case Started():
                passes = not self._started
            case Ask(ask):
                self._asks.add(ask)
                passes = True
            case AskWithdrawn(ask):
                passes = self.answered(ask)
            case Unsolicited():
                passes = False  # it belongs to no turn
            case Usage() | Compacted() | Limit() | Steered():
                passes = True
            case _:
                assert_never(event)
        return [event] if passes else []

    def _text(self, event: TextDelta | Thinking) -> list[BackendEvent]:
        if not (text := event.text):
            return []
        self._bytes += len(text) if text.isascii() else len(text.encode())
        self._watch_for_loop(text)
        if self._bytes > self._limits.turn_bytes:
            self.over = Failed(FailureKind.PROTOCOL, f"The agent wrote more than {self._limits.turn_bytes:,} bytes.")
        return [event]

    def _watch_for_loop(self, text: str) -> None:
        """A long run of pieces that were all said just before. Short ones weigh little: a table of zeros is no loop."""
        if text in self._recent:
            self._repeats += 1
            self._repeated_bytes += len(text)
        else:
            self._repeats = self._repeated_bytes = 0
            self._recent.append(text)
        if self._repeats >= self._limits.repeats and self._repeated_bytes >= 4 * self._limits.repeats:
            self.over = Failed(FailureKind.PROVIDER, "The agent repeated the same words without end.")

    def _call(self, event: ToolCall) -> list[BackendEvent]:
        if event.tool_id in self._closed_tools or self._open_tools.get(event.tool_id) == event:
            return []
        self._open_tools[event.tool_id] = event
        return [event]

    def _result(self, event: ToolResult) -> list[BackendEvent]:
        if event.tool_id in self._closed_tools:
            return []
        self._closed_tools.add(event.tool_id)
        known = self._open_tools.pop(event.tool_id, None)
        closing = replace(event, detail=event.detail[:DETAIL_CHARS])
        return [closing] if known else [ToolCall(event.tool_id, "tool"), closing]

    def _ending(self, event: Finished | Failed) -> list[BackendEvent]:
        self.end = event
        withdrawn: list[BackendEvent] = [AskWithdrawn(ask) for ask in sorted(self._asks)]
        self._asks.clear()
        closed = [ToolResult(tool, ok=False, detail="not finished") for tool in self._open_tools]
        return [*withdrawn, *closed, event]
