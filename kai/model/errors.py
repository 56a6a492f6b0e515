"""Errors: one class per situation. Facts are fields, ``str()`` is one sentence, ``hint`` says what to do."""

from dataclasses import dataclass
from enum import StrEnum
from typing import Any


class FailureKind(StrEnum):
    """Why a turn failed: one closed set, the same for every backend."""

    LOGIN = "login"  # not logged in, or the login expired
    QUOTA = "quota"  # a usage limit
    MODEL = "model"  # the model is unknown to the provider
    PROVIDER = "provider"  # the provider is down, unreachable or cut the answer
    CONTEXT = "context"  # the conversation is too long for the model
    REFUSED = "refused"  # the provider refused this content
    MISSING = "missing"  # the CLI is not installed
    OLD = "old"  # the CLI is too old
    LAUNCH = "launch"  # the CLI could not be started
    CRASH = "crash"  # the CLI ended in mid-turn
    MEMORY = "memory"  # the CLI was killed for lack of memory
    SILENT = "silent"  # no sign of life for too long
    TIME = "time"  # the whole turn took too long
    PROTOCOL = "protocol"  # the CLI broke its own protocol
    RESUME = "resume"  # the CLI could not take up its session again
    EMPTY = "empty"  # the CLI ended the turn without an answer
    BUDGET = "budget"  # what must go along does not fit
    CHOICE = "choice"  # what was chosen has left the configuration
    UNSUPPORTED = "unsupported"  # asked for something that this backend cannot do
    INTERNAL = "internal"  # a fault of kai itself


@dataclass
class KaiError(Exception):
    """Base of all that kai raises on purpose. Subclasses are dataclasses whose fields are the facts."""

    def __str__(self) -> str:
        return self.sentence

    @property
    def sentence(self) -> str:
        """What happened, in one sentence fit for a person."""
        return self.__doc__ or type(self).__name__

    @property
    def hint(self) -> str:
        """What to do about it; empty when nothing can be done."""
        return ""

    @property
    def facts(self) -> dict[str, Any]:
        """The fields, for logs and problem documents."""
        return {k: v for k, v in vars(self).items() if not k.startswith("_")}


@dataclass
class WrongMoveError(KaiError):
    """A durable thing was asked to make a move that its state does not allow."""

    what: str
    id: str
    now: str
    to: str

    @property
    def sentence(self) -> str:
        return f"{self.what} {self.id} is {self.now} and cannot become {self.to}."


@dataclass
class UnknownThingError(KaiError):
    """An id or a name that kai does not know. `known` holds those that it does, where they are few."""

    what: str
    id: str
    nearest: str = ""
    known: tuple[str, ...] = ()

    @property
    def sentence(self) -> str:
        return f"There is no {self.what} {self.id!r}."

    @property
    def hint(self) -> str:
        near = f"Did you mean {self.nearest!r}?" if self.nearest else ""
        listed = sorted(self.known, key=lambda name: name != self.nearest)
        return f"{near} Known: {', '.join(listed)}.".strip() if listed else near


@dataclass
class DelegationError(KaiError):
    """An agent may not hand this to another: `reason` is a word for a program."""

    reason: str
    problem: str

    @property
    def sentence(self) -> str:
        return f"Not delegated: {self.problem}."

    @property
    def hint(self) -> str:
        return "Do it yourself, or tell what is left to do."


@dataclass
class ChoiceGoneError(KaiError):
    """A workspace, a backend or an agent definition that was chosen once has left the configuration."""

    what: str
    name: str
    remedy: str

    @property
    def sentence(self) -> str:
        return f"The {self.what} {self.name!r} was chosen here, but the configuration has none of this name any more."

    @property
    def hint(self) -> str:
        return self.remedy


@dataclass
class DeniedError(KaiError):
    """The caller may not do this. `reason` names the rule, never the secret."""

    reason: str
    remedy: str = ""

    @property
    def sentence(self) -> str:
        return f"Not allowed: {self.reason}."

    @property
    def hint(self) -> str:
        return self.remedy


@dataclass
class BadInputError(KaiError):
    """Input that cannot be taken. `field` is a dotted path into what was sent."""

    field: str
    problem: str
    remedy: str = ""

    @property
    def sentence(self) -> str:
        return f"{self.field}: {self.problem}."

    @property
    def hint(self) -> str:
        return self.remedy


@dataclass
class MemoryMovedError(KaiError):
    """What a block holds of memory was changed before it went out; the block is made anew.

    `session_gone`: its session was shown what was taken back. `unrecorded`: what is read cannot be written down.
    """

    why: str
    session_gone: bool = False
    unrecorded: bool = False

    @property
    def sentence(self) -> str:
        return f"What is remembered changed while this was being prepared: {self.why}."


@dataclass
class BusyError(KaiError):
    """Refused because a turn is running."""

    channel: str
    turn: str

    @property
    def sentence(self) -> str:
        return f"Turn {self.turn} is still running in this channel."

    @property
    def hint(self) -> str:
        return "Wait for it, stop it with /stop, or add --wait."


@dataclass
class QueueFullError(KaiError):
    """The lane of a channel holds as many turns as it may."""

    channel: str
    bound: int

    @property
    def sentence(self) -> str:
        return f"{self.bound} messages are waiting in this channel already; this one was not taken."

    @property
    def hint(self) -> str:
        return "Wait for an answer, or stop the running turn, then send it again."


@dataclass
class ContextBudgetError(KaiError):
    """Required content does not fit the cap, or the block the backend's window (then in tokens).

    Sizes in bytes of UTF-8; `largest` holds (section, size), greatest first.
    """

    needed_bytes: int
    cap_bytes: int
    largest: tuple[tuple[str, int], ...]
    tokens_needed: int = 0
    tokens_free: int = 0

    @property
    def sentence(self) -> str:
        names = ", ".join(f"{name} {size:,}" for name, size in self.largest)
        if self.tokens_needed > self.tokens_free:
            need, room = f"about {self.tokens_needed:,} tokens", f"{self.tokens_free:,} are free"
        else:
            need, room = f"{self.needed_bytes:,} bytes", f"{self.cap_bytes:,} are allowed"
        return f"What must go along with this message does not fit: {need} where {room} (largest: {names})."

    @property
    def hint(self) -> str:
        if self.tokens_needed > self.tokens_free:
            return "Shorten the message or the largest part, or change to a backend with a wider window."
        return "Shorten the message or the largest part, or raise context.block_cap_bytes."


@dataclass
class LaunchError(KaiError):
    """A program could not be started. `reason` says who lacks what."""

    program: str
    reason: str
    kind: FailureKind = FailureKind.LAUNCH
    remedy: str = ""
    detail: str = ""  # where it was looked for: too long for a chat

    @property
    def sentence(self) -> str:
        return f"{self.program} could not be started: {self.reason}."

    @property
    def hint(self) -> str:
        return self.remedy


@dataclass
class SessionBrokenError(KaiError):
    """A session cannot go on: its process is gone or its pipe broke."""

    run: str
    reason: str

    @property
    def sentence(self) -> str:
        return f"The agent's process is gone: {self.reason}."


@dataclass
class SessionLostError(KaiError):
    """A session could not be started, or not be taken up again. `detail` is for the log."""

    reason: str
    kind: FailureKind
    detail: str = ""

    @property
    def sentence(self) -> str:
        return self.reason


@dataclass
class ErrandError(KaiError):
    """A file of a person's could not be brought or fetched as its owner. `state` is that of the file, if it has one."""

    os_user: str
    path: str
    problem: str
    state: str = ""

    @property
    def sentence(self) -> str:
        return f"{self.path} as OS user {self.os_user}: {self.problem}."

    @property
    def hint(self) -> str:
        return "It must be a plain file of their own, below their home or their workspace, and reached by no link."


@dataclass
class StoreError(KaiError):
    """The database cannot be used."""

    path: str
    problem: str
    remedy: str = ""

    @property
    def sentence(self) -> str:
        return f"{self.path}: {self.problem}."

    @property
    def hint(self) -> str:
        return self.remedy


@dataclass
class UnreachableError(KaiError):
    """No daemon answers on the socket."""

    socket: str
    problem: str

    @property
    def sentence(self) -> str:
        return f"No daemon answers on {self.socket}: {self.problem}."

    @property
    def hint(self) -> str:
        return "Start it with 'kai serve', or use 'kai chat', which starts a private one."


@dataclass
class ApiError(KaiError):
    """The daemon refused a request; the fields are those of its problem document."""

    status: int
    title: str
    detail: str = ""
    field: str = ""
    remedy: str = ""

    @property
    def sentence(self) -> str:
        return self.detail or self.title

    @property
    def hint(self) -> str:
        return self.remedy


def errors_in(error: BaseException) -> list[KaiError]:
    """The errors raised on purpose in `error`: itself, or those that a task group wrapped."""
    if isinstance(error, BaseExceptionGroup):
        return [found for inner in error.exceptions for found in errors_in(inner)]
    return [error] if isinstance(error, KaiError) else []
