"""What comes in through the door and what is kept of it."""

from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum

from kai.model.ids import AttachmentRef, ChannelId, MessageId, PrincipalId, TurnId


@dataclass(frozen=True, slots=True)
class AttachmentInfo:
    """A stored file. `path` is absolute, readable by the daemon; `name` is what the sender called it, made harmless."""

    ref: AttachmentRef
    name: str
    media_type: str
    size_bytes: int
    sha256: str
    path: str


@dataclass(frozen=True, slots=True)
class InboundMessage:
    """One message as a bridge hands it in. Identity is not in it: the door adds it from the credential."""

    bridge: str
    chat: str
    thread: str
    sender: str  # the sender's account in the chat app
    external_id: str
    text: str
    attachments: tuple[AttachmentRef, ...] = ()
    reply_to: str = ""  # external id
    edit_of: str = ""  # external id
    deleted: bool = False
    sent_at: datetime | None = None
    temporary: bool = False  # nothing of it, of its answer and of what is sent for it is kept


class Author(StrEnum):
    PERSON = "person"
    AGENT = "agent"
    KAI = "kai"


@dataclass(frozen=True, slots=True)
class Message:
    """A stored message. `number` counts within its channel from 1; `text` is only the author's own words."""

    message: MessageId
    channel: ChannelId
    number: int
    author: Author
    principal: PrincipalId | None  # who said it; for an answer, whom it answers
    name: str  # the author's name as shown
    text: str
    created_at: datetime
    turn: TurnId | None = None
    backend: str = ""
    tool_lines: tuple[str, ...] = ()
    incomplete: bool = False
    attachments: tuple[AttachmentInfo, ...] = ()
    reply_to: MessageId | None = None
    edit_of: MessageId | None = None
    external_id: str = ""
    temporary: bool = False  # erased once its answer has arrived


@dataclass(frozen=True, slots=True)
class Accepted:
    """The receipt of `accept`: all of it is committed. `turn` is None for control messages and edits."""

    message: MessageId | None
    turn: TurnId | None
    channel: ChannelId
    duplicate: bool = False
    queued_before: int = 0  # turns of this channel that come first
    reply: str = ""  # what a control message did, in one sentence
