"""Longer work: pieces that are delegated, results that are read on by reference, tasks."""

from dataclasses import dataclass
from datetime import datetime
from typing import Literal

from kai.model.ids import ChannelId, MessageId, PrincipalId, TurnId

History = Literal["channel", "brief", "none"]
BRIEF_MESSAGES = 6


@dataclass(frozen=True, slots=True)
class Delegation:
    """A piece of work that an agent handed to another: `turn` does it, `parent` asked for it, `root` is the person's.

    `lineage` are the definitions above `agent`, the person's first; `number` that of the person's message.
    """

    delegation: str
    turn: TurnId
    channel: ChannelId
    parent: TurnId
    root: TurnId
    number: int
    depth: int
    lineage: tuple[str, ...]
    agent: str
    revision: str
    history: str
    constraints: str
    refs: tuple[str, ...]
    limit_s: float
    begun_at: datetime
    ended_at: datetime | None = None
    result: str | None = None
    reason: str = ""


@dataclass(frozen=True, slots=True)
class Result:
    """An immutable answer. `total` and `returned` count items, or characters of one text; `items` is JSON."""

    ref: str
    owner: PrincipalId
    channel: ChannelId
    turn: TurnId | None
    producer: str
    source: str
    unit: str
    items: str
    returned: int
    total: int
    is_whole: bool
    audience: tuple[PrincipalId, ...]
    as_of: datetime
    inputs: tuple[str, ...] = ()
    previous: str | None = None
    temporary: bool = False


@dataclass(frozen=True, slots=True)
class TaskItem:
    """A requirement, a restriction, an input or a note of a task. `message` is what it cites."""

    item: str
    task: str
    kind: str
    text: str
    status: str
    replaces: str | None
    message: MessageId | None
    agent: str
    at: datetime


@dataclass(frozen=True, slots=True)
class Task:
    """A longer piece of work with what it needs, oldest first."""

    task: str
    channel: ChannelId
    principal: PrincipalId
    title: str
    status: str
    begun_at: datetime
    changed_at: datetime
    items: tuple[TaskItem, ...] = ()
