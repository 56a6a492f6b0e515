"""What a backend does during a turn: a closed union. Every ``match`` on it ends in ``assert_never``."""

from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum

from kai.model.errors import FailureKind
from kai.model.ids import DispatchId


class ChoiceKind(StrEnum):
    """What an answer to a question means, whatever the backend calls it. Chosen by kind, never by id."""

    ALLOW_ONCE = "allow_once"
    ALLOW_ALWAYS = "allow_always"
    REJECT_ONCE = "reject_once"
    REJECT_ALWAYS = "reject_always"
    ANSWER = "answer"  # one of the offered answers to a question that is no permission


@dataclass(frozen=True, slots=True)
class Choice:
    """One answer a person may give. `key` is short and ours; `label` is shown."""

    key: str
    label: str
    kind: ChoiceKind


@dataclass(frozen=True, slots=True)
class Started:
    """First event of every turn: the agent has taken the prompt. `native_id` is the backend's own session id."""

    native_id: str
    model: str = ""
    version: str = ""


@dataclass(frozen=True, slots=True)
class TextDelta:
    """A piece of the answer. Pieces join without a separator; a driver puts the blank line between messages."""

    text: str


@dataclass(frozen=True, slots=True)
class Thinking:
    """A piece of the agent's reasoning; shown as activity, never stored as the answer."""

    text: str


@dataclass(frozen=True, slots=True)
class ToolCall:
    """The agent uses a tool. `target` is one line: a path, a command, a query. Repeated with a better target."""

    tool_id: str
    name: str
    target: str = ""


@dataclass(frozen=True, slots=True)
class ToolResult:
    """A tool call ended. Pairs with exactly one `ToolCall` by `tool_id`. `detail` is at most 600 characters."""

    tool_id: str
    ok: bool
    detail: str = ""


@dataclass(frozen=True, slots=True)
class Ask:
    """The agent waits for a person. `ask` is the driver's key of it; `detail` shows the whole arguments."""

    ask: str
    title: str
    detail: str
    choices: tuple[Choice, ...]
    tool_id: str = ""
    free_text: bool = False


@dataclass(frozen=True, slots=True)
class AskWithdrawn:
    """The backend no longer waits for the answer to `ask`."""

    ask: str


@dataclass(frozen=True, slots=True)
class Usage:
    """What the turn has used so far; absent figures are None. Tokens; money in US dollars."""

    input_tokens: int | None = None
    output_tokens: int | None = None
    cost_usd: float | None = None
    window_tokens: int | None = None
    used_tokens: int | None = None


@dataclass(frozen=True, slots=True)
class Compacted:
    """The backend cut its own transcript short: the session block goes along again once."""


@dataclass(frozen=True, slots=True)
class Limit:
    """The provider throttles. `resets_at` is aware UTC, None when it did not say."""

    reason: str
    resets_at: datetime | None = None


@dataclass(frozen=True, slots=True)
class Steered:
    """What became of words that were steered into the turn as `dispatch`. Not taken: the agent has not seen them."""

    dispatch: DispatchId
    taken: bool


@dataclass(frozen=True, slots=True)
class Unsolicited:
    """Text outside any turn (background work, a late reply). It never answers the next message."""

    text: str


@dataclass(frozen=True, slots=True)
class Finished:
    """Last event of a turn that ended by itself (`stopped` False) or was interrupted (`stopped` True)."""

    stopped: bool = False
    text: str = ""  # the authoritative whole text if the backend gives one; empty: the deltas are the text


@dataclass(frozen=True, slots=True)
class Failed:
    """Last event of a turn that failed. `sentence` is fit for a person; `detail` is for the log and `turn show`."""

    kind: FailureKind
    sentence: str
    detail: str = ""
    resets_at: datetime | None = None
    session_lost: bool = False  # the session must not be used again


BackendEvent = (
    Started
    | TextDelta
    | Thinking
    | ToolCall
    | ToolResult
    | Ask
    | AskWithdrawn
    | Usage
    | Compacted
    | Limit
    | Steered
    | Unsolicited
    | Finished
    | Failed
)
