"""What the stub is going to do with one request: a closed union, the same for every API."""

import json
from dataclasses import dataclass
from enum import Enum, auto
from typing import Any


class Ending(Enum):
    WHOLE = auto()
    CUT = auto()  # the connection closes in mid-stream
    STALL = auto()  # nothing more comes, the connection stays


@dataclass(frozen=True, slots=True)
class Answer:
    """Text in pieces, `pause_s` after each. `thinking` comes first where the API has a place for it."""

    pieces: tuple[str, ...]
    thinking: str = ""
    pause_s: float = 0.0
    ending: Ending = Ending.WHOLE

    @property
    def text(self) -> str:
        return "".join(self.pieces)


@dataclass(frozen=True, slots=True)
class UseTool:
    name: str
    arguments: dict[str, Any]
    preface: str = "I will call a tool. "

    @property
    def argument_pieces(self) -> tuple[str, ...]:
        """The arguments as JSON text in pieces, as a provider would stream it."""
        return say(json.dumps(self.arguments)).pieces


@dataclass(frozen=True, slots=True)
class Fault:
    """An HTTP error. `retry_after_s` 0: the header is left out.

    `resets_at`: a usage limit is reached, and ends at this moment (seconds since 1970), as each provider says so.
    `refuses`: what was sent breaks a rule of the provider.
    """

    status: int
    retry_after_s: int = 0
    resets_at: int = 0
    refuses: bool = False

    @property
    def message(self) -> str:
        if self.refuses:
            return "The request was blocked by the content policy"
        return "The usage limit has been reached" if self.resets_at else f"stub error {self.status}"

    @property
    def headers(self) -> dict[str, str]:
        """What every provider puts beside such an error."""
        told = {"retry-after": str(self.retry_after_s)} if self.retry_after_s else {}
        if self.resets_at:
            told |= {
                "anthropic-ratelimit-unified-status": "rejected",
                "anthropic-ratelimit-unified-reset": str(self.resets_at),
                "anthropic-ratelimit-unified-representative-claim": "five_hour",
                "x-codex-primary-used-percent": "100",
                "x-codex-primary-window-minutes": "300",
                "x-codex-primary-reset-at": str(self.resets_at),
            }
        return told


@dataclass(frozen=True, slots=True)
class Silence:
    """The request is taken and never answered."""


Reply = Answer | UseTool
Plan = Reply | Fault | Silence


def say(text: str, *, thinking: str = "") -> Answer:
    """The whole `text`, in a few pieces as a provider would stream it."""
    size = max(24, len(text) // 60)
    pieces = tuple(text[at : at + size] for at in range(0, len(text), size))
    return Answer(pieces or ("",), thinking=thinking)


@dataclass(frozen=True, slots=True)
class Frame:
    """One server-sent event of a streamed reply; `data` is JSON unless it is a string. `pause_s` follows it."""

    data: dict[str, Any] | str
    event: str = ""
    pause_s: float = 0.0
