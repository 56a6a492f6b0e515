"""Where a recorded run stood when its daemon was killed: what its agent was told, waits for, and has said."""

import json
from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any

from kai.model.events import BackendEvent, Unsolicited
from kai.model.ids import DispatchId
from kai.protocols.driver import Background, Driver, Lost, Outputs, Ready, Send, Skipped, Wake
from kai.protocols.replay import repeat
from kai.wire.lines import LineFramer, Overlong
from kai.wire.record import Kind


@dataclass(frozen=True, slots=True)
class Answered:
    """At this point of a turn the question `ask` was answered."""

    ask: str


@dataclass
class Stand:
    """`turn`: what came in the turn of `dispatch`, the last one, in order. `unsent`: frames that wait to be written."""

    framer: LineFramer
    ready: Ready | None = None
    dispatch: DispatchId | None = None
    turn: list[BackendEvent | Answered] = field(default_factory=list)
    is_stopping: bool = False
    works: bool = False
    wakes: dict[str, Wake] = field(default_factory=dict)
    unsent: list[bytes] = field(default_factory=list)
    is_certain: bool = True  # whether a frame may have been cut in the pipe, and the agent lives as far as it said

    def _hear(self, outputs: Outputs) -> None:
        for output in outputs:
            match output:
                case Send(frame):
                    self.unsent.append(frame)
                case Wake(_, name):
                    self.wakes[name] = output
                case Ready():
                    self.ready = output
                case Lost():
                    self.is_certain = False
                case Background(works):
                    self.works = works
                case Skipped() | Unsolicited():
                    pass  # told already
                case _:
                    self.turn.append(output)

    def _note(self, call: dict[str, Any]) -> None:
        match call["call"]:
            case "prompt":
                self.dispatch, self.is_stopping = DispatchId(call["dispatch"]), False
                self.turn.clear()
            case "interrupt":
                self.is_stopping = True
            case "answer":
                self.turn.append(Answered(call["ask"]))
            case "wake":
                self.wakes.pop(call["wake"], None)


def stand_of(entries: Iterable[tuple[Kind, bytes]], driver: Driver, line_bytes: int) -> Stand:
    """Bring a fresh `driver` to where the run stood, call by call and line by line. Nothing is sent."""
    stand, written, wrote = Stand(LineFramer(line_bytes)), 0, 0
    for kind, payload in entries:
        if kind is Kind.READ:
            for line in stand.framer.feed(payload):
                if not isinstance(line, Overlong):
                    stand._hear(driver.feed(line))  # noqa: SLF001 - made here, and nowhere else
        elif kind is Kind.WRITTEN:
            written += 1
        else:
            call = json.loads(payload)
            wrote += call["call"] == "wrote"
            stand._note(call)  # noqa: SLF001
            stand._hear(repeat(driver, stand.framer, call))  # noqa: SLF001
    del stand.unsent[:written]
    stand.is_certain &= written == wrote and stand.ready is not None
    return stand
