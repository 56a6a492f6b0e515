"""What a driver is: one protocol of an agent CLI as a pure state machine.

A driver draws no clock, no random and no ids of its own and never awaits: the same calls give the same outputs, so that
a recorded run can be replayed through a fresh one. It says what it saw in order; `turn.Turn` completes that to the
contract of a turn (one `Started` first, one end last, tools closed), so that no driver can break it.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol
from uuid import UUID, uuid5

from kai.model.backends import Manifest
from kai.model.context import Prompt
from kai.model.errors import FailureKind
from kai.model.events import BackendEvent, Choice, Failed
from kai.model.ids import DispatchId

_NAMESPACE = UUID("6f0f3a52-3c7c-4b54-9a55-0a5c3d1b7e11")


def dispatch_uuid(dispatch: DispatchId) -> UUID:
    """The uuid under which a backend knows a dispatch: the same attempt is the same message, however often sent."""
    return uuid5(_NAMESPACE, dispatch)


def prompt_id(prompt: Prompt) -> int:
    """The request id of a prompt: of the dispatch, so that the frame can be made again; far from our small ones."""
    return 1_000 + dispatch_uuid(prompt.dispatch).int % 2_000_000_000


@dataclass(frozen=True, slots=True)
class Send:
    """Bytes for the agent's stdin: whole lines, newline included."""

    frame: bytes


@dataclass(frozen=True, slots=True)
class Wake:
    """Call `Driver.wake(name)` after this many seconds; a later one of the same name replaces it."""

    after_s: float
    name: str


@dataclass(frozen=True, slots=True)
class Ready:
    """The session takes a prompt now. `native_id` may be empty until its first turn."""

    native_id: str
    resumed: bool
    version: str = ""
    model: str = ""


@dataclass(frozen=True, slots=True)
class Lost:
    """The session cannot be used (any more). `reason` is one sentence for a person, `detail` for the log."""

    reason: str
    kind: FailureKind
    detail: str = ""

    @classmethod
    def of(cls, failed: Failed) -> "Lost":
        return cls(failed.sentence, failed.kind, failed.detail)


@dataclass(frozen=True, slots=True)
class Skipped:
    """Something that this driver does not know. It is a sign of life all the same, and logged once per `what`."""

    what: str


@dataclass(frozen=True, slots=True)
class Background:
    """Whether the agent works on something that it goes on with after a turn: a sub-agent, a turn of its own."""

    works: bool


Output = Send | Wake | Ready | Lost | Skipped | Background | BackendEvent
Outputs = Sequence[Output]


@dataclass(frozen=True, slots=True)
class McpServer:
    """A stdio MCP server for the agent to start. `command` is absolute. `unasked`: its tools that run unasked."""

    name: str
    command: str
    args: tuple[str, ...] = ()
    env: tuple[tuple[str, str], ...] = ()
    unasked: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class DriverSetup:
    """All that a driver is told before it starts. `permissions` is "ask" or "bypass"; `cwd` is absolute and exists."""

    manifest: Manifest
    cwd: str
    model: str = ""
    effort: str = ""
    permissions: str = "ask"
    temporary: bool = False
    mcp_servers: tuple[McpServer, ...] = ()

    def option(self, name: str) -> str:
        """A protocol option of the manifest, "" when it has none of this name."""
        return dict(self.manifest.options).get(name, "")


class Driver(Protocol):
    """One session of one backend. `feed` takes one line without its newline and never raises, whatever the bytes."""

    @property
    def native_id(self) -> str:
        """The backend's id of this session, "" until known. It changes when the backend starts its session anew."""
        ...

    def start(self, resume: str) -> Outputs:
        """First call. `resume` is a native id, or "" for a new session. Ends in a `Ready` or `Lost`, now or later."""
        ...

    def set_model(self, model: str, effort: str) -> Outputs:
        """Work with these from the next turn on ("" leaves one as it is). Only after `Ready`, and when no turn runs.

        Ends, now or later, in a `Ready` that tells what holds, in a `Failed` when all is as it was, or in a `Lost`.
        """
        ...

    def frame(self, prompt: Prompt) -> bytes:
        """The exact bytes that `prompt` will send first; changes nothing."""
        ...

    def prompt(self, prompt: Prompt) -> Outputs:
        """Begin a turn. Only after `Ready`, and only when no turn runs."""
        ...

    def steer(self, prompt: Prompt) -> Outputs:
        """Put more words into the running turn. What became of them comes as `Steered`, now or later."""
        ...

    def answer(self, ask: str, choice: Choice | None, text: str = "") -> Outputs:
        """Answer a question. No choice and no text: deny, as narrowly as can be. Too late: nothing happens."""
        ...

    def interrupt(self) -> Outputs:
        """Ask the backend to end the running turn; its end still comes through `feed`. No turn: nothing."""
        ...

    def feed(self, line: bytes) -> Outputs: ...

    def wake(self, name: str) -> Outputs: ...

    def eof(self, exit_code: int | None, stderr_tail: str) -> Outputs:
        """The process is gone; `exit_code` is negative for a signal, None when unknown. Last call."""
        ...
