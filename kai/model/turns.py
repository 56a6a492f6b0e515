"""A turn, its attempts, its outcome, and what is owed to addresses because of it."""

from dataclasses import dataclass, field
from datetime import datetime
from enum import StrEnum
from typing import Any

from kai.model.errors import FailureKind
from kai.model.events import Choice, Usage
from kai.model.ids import (
    AddressId,
    AskId,
    ChannelId,
    DeliveryId,
    DispatchId,
    MessageId,
    PrincipalId,
    RunId,
    SessionId,
    TurnId,
)
from kai.model.states import AskState, DeliveryState, DispatchState, TurnState


@dataclass(frozen=True, slots=True)
class Turn:
    """One message and its answer, durable."""

    turn: TurnId
    channel: ChannelId
    message: MessageId
    principal: PrincipalId
    address: AddressId  # where it was asked, and is answered
    state: TurnState
    queued_at: datetime
    started_at: datetime | None = None
    ended_at: datetime | None = None
    failure: FailureKind | None = None
    reason: str = ""  # one sentence, for every end but done
    backend: str = ""
    model: str = ""
    answer: MessageId | None = None
    retry_of: TurnId | None = None
    attempts: int = 0
    temporary: bool = False  # its words are erased once the last of its deliveries has a receipt
    delegated: bool = False  # an agent asked for it: it ends with a result, and delivers nothing


@dataclass(frozen=True, slots=True)
class Dispatch:
    """One attempt of a turn. `frame_sha256` is over the bytes handed to the write call, in session `native_id`."""

    dispatch: DispatchId
    turn: TurnId
    attempt: int
    state: DispatchState
    backend: str
    model: str
    session: SessionId
    run: RunId
    epoch: str
    fresh: bool
    prepared_at: datetime
    sent_at: datetime | None = None
    settled_at: datetime | None = None
    frame_sha256: str = ""
    native_id: str = ""
    steered: bool = False  # put into the running turn, beside its attempt


@dataclass(frozen=True, slots=True)
class SessionRow:
    """What is kept of a session to resume it within its epoch. `native_id` comes only from a turn that worked."""

    session: SessionId
    channel: ChannelId
    principal: PrincipalId
    backend: str
    epoch: str
    workspace: str
    native_id: str
    turns: int
    state: str  # "live", "ended" or "retired"
    created_at: datetime
    used_at: datetime
    compacted: bool = False  # the session block is owed again
    model: str = ""  # as it was chosen last; "" is the backend's own
    effort: str = ""


@dataclass(frozen=True, slots=True)
class Question:
    """A permission question as data: it lives in the store, not in a future."""

    ask: AskId
    turn: TurnId
    key: str  # the driver's key
    title: str
    detail: str
    choices: tuple[Choice, ...]
    state: AskState
    asked_at: datetime
    expires_at: datetime
    free_text: bool = False
    choice: str = ""
    answered_by: PrincipalId | None = None


@dataclass(frozen=True, slots=True)
class Outcome:
    """All that a turn came to: the input of the finish transaction."""

    state: TurnState
    text: str = ""
    tool_lines: tuple[str, ...] = ()
    incomplete: bool = False
    failure: FailureKind | None = None
    reason: str = ""
    detail: str = ""
    usage: Usage | None = None
    native_id: str = ""
    session_lost: bool = False
    compacted: bool = False
    resets_at: datetime | None = None


class DeliveryKind(StrEnum):
    ANSWER = "answer"
    QUESTION = "question"
    NOTICE = "notice"


@dataclass(frozen=True, slots=True)
class NewDelivery:
    """What is to be owed to an address; the store gives it id and number."""

    address: AddressId
    kind: DeliveryKind
    text: str
    turn: TurnId | None = None
    ask: AskId | None = None
    state: TurnState | None = None  # the state the turn ended in, on its last delivery


@dataclass(frozen=True, slots=True)
class Delivery:
    """One thing owed to an address. `number` grows over the whole store: the SSE id."""

    delivery: DeliveryId
    number: int
    address: AddressId
    bridge: str
    chat: str
    thread: str
    channel: ChannelId
    kind: DeliveryKind
    text: str
    state: DeliveryState
    created_at: datetime
    turn: TurnId | None = None
    ask: AskId | None = None
    turn_state: TurnState | None = None
    choices: tuple[Choice, ...] = ()


class ReceiptOutcome(StrEnum):
    """What the bridge says of a delivery: sent, surely not sent, or it cannot tell."""

    SENT = "sent"
    UNSENT = "unsent"
    UNKNOWN = "unknown"
    DROPPED = "dropped"


@dataclass(frozen=True, slots=True)
class Receipt:
    """The bridge's proof. `external_ids` are the chat app's ids of the parts that went out."""

    outcome: ReceiptOutcome
    external_ids: tuple[str, ...] = field(default=())
    problem: str = ""


@dataclass(frozen=True, slots=True)
class Progress:
    """A running turn so far: the whole text each time, no receipt. `tools` rows: name, target, ok (None: running)."""

    turn: TurnId
    state: str
    text: str
    tools: tuple[dict[str, Any], ...] = ()
