"""Memory: what is remembered for whom, under which rules, and the receipts of what was done to it."""

from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum

from kai.model.agents import Policy as Policy  # noqa: PLC0414 - what is read of it
from kai.model.errors import DeniedError
from kai.model.ids import ChannelId, MessageId, PrincipalId, TurnId


class Kind(StrEnum):
    """What sort of thing a record is."""

    PREFERENCE = "preference"
    FACT = "fact"
    NOTE = "note"
    HOWTO = "howto"
    EPISODE = "episode"


class Status(StrEnum):
    """Only an active record is ever shown to an agent."""

    ACTIVE = "active"
    SUPERSEDED = "superseded"
    FORGOTTEN = "forgotten"
    EXPIRED = "expired"
    CANDIDATE = "candidate"


class Origin(StrEnum):
    """How a revision came about. The daemon says it from the way it came, never the caller."""

    EXPLICIT_USER = "explicit_user"
    AUTO_RUN = "auto_run"
    LEARNED = "learned"
    IMPORT = "import"
    ADMIN = "admin"
    AGENT_NOTE = "agent_note"


class Way(StrEnum):
    """By which way memory is reached."""

    AUTO = "auto"  # put before a message by itself
    TOOL = "tool"  # an agent asked
    ADMIN = "admin"  # an operator speaks for the person
    JOB = "job"
    API = "api"  # the person: in the chat or from their own shell


class Deed(StrEnum):
    """What became of an operation."""

    COMMITTED = "committed"
    REJECTED = "rejected"
    CONFLICT = "conflict"
    NOOP = "noop"


@dataclass(frozen=True, slots=True)
class Scope:
    """For whom and where. There is no scope without a person: a search for nobody would search everyone.

    Who is present in `channel` is looked up each time, never told. `actor` is who acts when it is not the person.
    `message` is the person's own, the source of what is saved. Raises `DeniedError` without a person or a place.
    """

    principal: PrincipalId
    channel: ChannelId
    agent: str = ""
    way: Way = Way.API
    actor: str = ""
    turn: TurnId | None = None
    message: MessageId | None = None

    def __post_init__(self) -> None:
        if not self.principal or not self.channel:
            raise DeniedError("no_identity: memory is always somebody's", "Say for whom, with --as PERSON.")


@dataclass(frozen=True, slots=True)
class NewRecord:
    """What is to be kept. An empty `namespace` is that of the kind, of the person or of the shared channel.

    `sources` are records with the revisions that it was made from: its audience is what theirs have in common.
    """

    text: str
    kind: Kind = Kind.FACT
    namespace: str = ""
    family: str = ""
    pinned: bool | None = None  # None: as the kind has it
    ttl_s: float = 0.0  # 0: for good
    sensitivity: str = ""
    sources: tuple[tuple[str, int], ...] = ()


@dataclass(frozen=True, slots=True)
class Record:
    """A record with its current revision."""

    seq: int
    record: str
    owner: PrincipalId
    namespace: str
    family: str
    kind: Kind
    status: Status
    revision: int
    channel: ChannelId | None
    audience: str | None  # JSON
    sensitivity: str
    agent: str
    pinned: bool
    text: str
    digest: bytes
    origin: Origin
    said_by: str
    said_at: datetime
    expires_at: datetime | None = None


@dataclass(frozen=True, slots=True)
class MemoryReceipt:
    """The proof of an operation; `reason` is a word for a program. `revision` is the current one afterwards."""

    op: str
    operation: str
    outcome: Deed
    record: str = ""
    base: int = 0
    revision: int = 0
    reason: str = ""
    actor: str = ""
    way: Way = Way.API
    turn: TurnId | None = None
    at: datetime | None = None

    @property
    def is_done(self) -> bool:
        """What was asked holds now."""
        return self.outcome in (Deed.COMMITTED, Deed.NOOP)


@dataclass(frozen=True, slots=True)
class Searched:
    """One namespace that was searched, or was not: a row of the audit. `status` is a retrieval's."""

    namespace: str
    status: str
    reason: str = ""
    eligible: int = 0
    hits: int = 0
    submitted: int = 0
