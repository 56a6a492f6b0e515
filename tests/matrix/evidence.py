"""What may be said of a switch, from what reached the model and from what kai shows of the block. Pure."""

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any

from tests.stub_model import Request
from tests.stub_model.log import strings

BLOCK = "⟨the block⟩"
_NOW = re.compile(r"^\[Now: [^\n]*\]$", re.MULTILINE)
_OWN = ("dispatch", "turn", "session", "run", "native_id", "epoch", "frame_sha256")  # of a dispatch: nobody else's
_MOVING = re.compile(
    r"\b(ses|msg|prt|call|wrk|itm|run)_[\w-]{6,}|\b[0-9a-f]{16,}\b"  # ids that an agent draws anew each time
    r"|[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}"
    r"|\d{4}-\d\d-\d\d[T ]\d\d:\d\d(:\d\d)?(\.\d+)?(Z|[+-]\d\d:?\d\d)?|\b\d\d:\d\d(:\d\d)?( [AP]M)?\b"  # its clock
    r"|\b\d{10,13}(\.\d+)?\b"
)


@dataclass(frozen=True)
class Turn:
    """One turn of the talk: the words, what was answered, the block as kai shows it, the requests that it made."""

    backend: str
    words: str
    answer: str
    shown: dict[str, Any]
    requests: tuple[Request, ...] = ()
    told: dict[str, str] = field(default_factory=dict)  # what an agent without a model says of its prompt
    tools: tuple[str, ...] = ()  # what its tools did, a line each

    @property
    def block(self) -> str:
        return str(self.shown["text"])

    @property
    def marks(self) -> frozenset[str]:
        """What names this turn's dispatch, session and process on the wire and in the store."""
        return frozenset(str(self.shown["dispatch"][name] or "") for name in _OWN) - {""}


def without_clock(block: str) -> str:
    """The block less the one line that tells the time of the turn: nothing else in it may differ."""
    return _NOW.sub("[Now]", block)


def arrived(turn: Turn, *, adds: bool = False) -> Iterator[str]:
    """What is wrong with how the block reached the model: it must stand there once, whole, in one string."""
    if turn.told:
        yield from _told(turn)
        return
    if len(turn.requests) != 1:
        yield f"{len(turn.requests)} model requests instead of one"
    for request in turn.requests:
        places = request.places(turn.block)
        if [place.count for place in places] != [1]:
            yield f"the block stands {sum(place.count for place in places)} times in the request"
        elif places[0].others and not adds:
            yield f"{places[0].others} characters stand beside the block"


def _told(turn: Turn) -> Iterator[str]:
    """The agent without a model counts its prompt, and shows each part of it: together they are the block."""
    text, timeless = turn.block, without_clock(turn.block)
    counted = f"{len(text.split())} words, {len(text)} characters, {len(text.encode())} bytes"
    if counted not in turn.answer:
        yield f"it counted {turn.answer[:80]!r} instead of {counted!r}"
    for section in turn.shown["sections"]:
        name = section["name"]
        part = turn.told.get(name, "")  # of the message that asked: a minute may have gone by
        if not part or without_clock(part) not in timeless or len(part.encode()) != section["bytes"]:
            yield f"its {name} is not that of the block"


def holds(block: str, talk: Sequence[Turn]) -> Iterator[str]:
    """What of `talk` is missing in the history of `block`: every question, answer and tool in order, under its name."""
    place = 0
    for turn in talk:
        tools = [("; " if count else "\n  [", line) for count, line in enumerate(turn.tools)]
        for who, said in ((": ", turn.words), (f" kai (via {turn.backend}): ", turn.answer), *tools):
            line = who + "\n".join(f"  {line}" if line else "" for line in said.split("\n")).strip()
            found = block.find(line, place)
            if found < 0:
                yield f"{turn.backend}: {said[:40]!r} is not in the history"
            else:
                place = found + len(line)


def leaked(turn: Turn, others: Iterable[Turn]) -> Iterator[str]:
    """Marks of other agents' turns in what the model got."""
    for other in others:
        for mark in sorted(other.marks - turn.marks):
            whole = [turn.block, *turn.told.values()]
            if any(mark in text for text in whole) or any(_has(request, mark) for request in turn.requests):
                yield f"{mark} of {other.backend} is in it"


def _has(request: Request, mark: str) -> bool:
    return (
        bool(request.places(mark)) or mark in request.path or any(mark in value for value in request.headers.values())
    )


def added(turn: Turn, direct: Turn) -> Iterator[str]:
    """What stands in the request after a switch and not in that of a direct start, the block itself aside."""
    if not turn.requests or not direct.requests:
        return
    ours, theirs = (_rest(one) for one in (turn, direct))
    for path in sorted(ours.keys() | theirs.keys()):
        if ours.get(path) != theirs.get(path):
            yield f"{path} is {ours.get(path, '(absent)')[:60]!r}, directly {theirs.get(path, '(absent)')[:60]!r}"


def _rest(turn: Turn) -> dict[str, str]:
    """Every string of the request, the block and what an agent draws anew each time replaced."""
    found = {}
    for path, value in strings(turn.requests[0].body):
        found[path] = _MOVING.sub("⟨moving⟩", value.replace(turn.block, BLOCK))
    return found
