"""Persons, channels, addresses, seats."""

from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum

from kai.model.ids import AddressId, ChannelId, PrincipalId, SeatId


@dataclass(frozen=True, slots=True)
class Person:
    """A human kai knows. `os_user` is the OS user their agents run as; `zone` is an IANA name."""

    principal: PrincipalId
    name: str
    os_user: str
    zone: str = ""
    email: str = ""
    legacy_chat_id: str = ""
    permissions: str = ""  # "", "ask" or "bypass"; empty: the operator's default


class ChannelKind(StrEnum):
    PRIVATE = "private"
    SHARED = "shared"


@dataclass(frozen=True, slots=True)
class Channel:
    """An ordered conversation. `kind` follows from the members: private while its only human is one person."""

    channel: ChannelId
    kind: ChannelKind
    title: str
    owner: PrincipalId | None  # of a private channel
    members: tuple[PrincipalId, ...]  # present now, oldest first
    created_at: datetime
    os_user: str = ""  # of a shared channel's seat; empty: the daemon's own
    temporary: bool = False  # what is said from now on is not kept
    parent: ChannelId | None = None  # delegated work is done here for that channel; nobody talks in it


@dataclass(frozen=True, slots=True)
class Address:
    """A place in a chat app. `bridge` is the bridge instance."""

    address: AddressId
    bridge: str
    chat: str
    thread: str
    channel: ChannelId


@dataclass(frozen=True, slots=True)
class Seat:
    """Where an agent sits."""

    seat: SeatId
    os_user: str
    channel: ChannelId
    workspace: str  # canonical absolute path
    agent: str  # name of the agent definition


@dataclass(frozen=True, slots=True)
class Preference:
    """What was chosen with ``kai use`` for a person or a channel; empty fields say nothing."""

    backend: str = ""
    model: str = ""
    effort: str = ""
    workspace: str = ""
    agent: str = ""
