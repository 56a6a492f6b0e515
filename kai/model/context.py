"""The context block: what goes into it (`Facts`), what comes out (`ContextBlock`), what a driver gets (`Prompt`)."""

from dataclasses import dataclass, field
from datetime import datetime
from enum import StrEnum
from hashlib import sha256

from kai.model.agents import AgentDefinition as AgentDefinition  # noqa: PLC0414 - they are part of what goes into it
from kai.model.agents import Skill as Skill  # noqa: PLC0414
from kai.model.ids import AttachmentRef, ChannelId, DispatchId, MessageId, PrincipalId, TurnId
from kai.model.memory import Searched
from kai.model.messages import AttachmentInfo, Message
from kai.model.people import ChannelKind
from kai.model.work import Delegation, Result, Task

MARKER = "[User's current message - respond to this:]"


class FileState(StrEnum):
    """What became of reading a person's file. "Not allowed" is never "absent"."""

    PRESENT = "present"
    EMPTY = "empty"
    MISSING = "missing"
    UNREADABLE = "unreadable"
    UNSAFE = "unsafe"
    OVERSIZED = "oversized"
    MALFORMED = "malformed"
    DEFERRED = "deferred"  # not read here: the agent, running as the owner, reads it


@dataclass(frozen=True, slots=True)
class PersonFile:
    """A per-person file. `path` is what the block names; `problem` explains every state but present and empty."""

    path: str
    state: FileState
    text: str = ""
    problem: str = ""


class MemoryMode(StrEnum):
    """The intent, as the block states it. An outage never reads as "there are no memories"."""

    ENABLED = "enabled"
    DISABLED = "disabled"
    SHARED = "unavailable in shared channels"
    TEMPORARY = "temporary"
    FAULT = "fault"


class RetrievalStatus(StrEnum):
    """How a retrieval ended; only ``empty`` may read as "nothing is remembered"."""

    OK = "ok"
    EMPTY = "empty"
    DENIED = "denied"
    UNAVAILABLE = "unavailable"
    DISABLED = "disabled"
    TEMPORARY = "temporary"
    OMITTED_BUDGET = "omitted_budget"


@dataclass(frozen=True, slots=True)
class Hit:
    """One remembered record that is eligible here, in rank order. `said_at` is shown as a date."""

    record: str
    revision: int
    kind: str
    said_by: str
    said_at: datetime
    text: str
    parts: str = ""  # of its score, as the formula has them (kai/memory/ranking.py)


@dataclass(frozen=True, slots=True)
class Correction:
    """A record that the live session was shown and that has since changed."""

    record: str
    shown_revision: int
    text: str  # what holds now; empty: it was withdrawn
    revision: int = 0  # of what holds now


@dataclass(frozen=True, slots=True)
class Retrieval:
    """Hits in rank order, with how many more were eligible than this session has. `reason` refines the status.

    `shown` are hits that the live session was sent before, `corrections` what it was sent and no longer holds.
    `searched` is for the audit; `max_tokens` bounds the hits that go along, 0: only the block's own budget does.
    """

    status: RetrievalStatus
    hits: tuple[Hit, ...] = ()
    eligible: int = 0
    reason: str = ""
    shown: tuple[Hit, ...] = ()
    corrections: tuple[Correction, ...] = ()
    searched: tuple[Searched, ...] = ()
    max_tokens: int = 0


@dataclass(frozen=True, slots=True)
class ToolNotice:
    """A tool that this run may call, as the block names it: ``kai tool NAME``, and ``NAME`` of the MCP server kai."""

    name: str
    summary: str
    group: str  # "scheduling", "services", "memory", "history", "other"


@dataclass(frozen=True, slots=True)
class Speaker:
    """Whose words follow the marker; None fields are not known."""

    principal: PrincipalId | None
    name: str
    email: str = ""
    zone: str = ""


@dataclass(frozen=True, slots=True)
class HistoryFacts:
    """The newest messages strictly before the current one, oldest first, of `total` earlier in this channel.

    `canonical` False: this route has no canonical channel and `archive_dir` points at the JSONL archive.
    """

    messages: tuple[Message, ...] = ()
    total: int = 0
    canonical: bool = True
    archive_dir: str = ""
    refused: frozenset[MessageId] = frozenset()  # those that a provider refused: shown again, they poison every turn


@dataclass(frozen=True, slots=True)
class Budget:
    """Bounds of one block. Bytes are UTF-8; tokens come from `context.tokens.estimate`. `window_tokens` 0: unknown."""

    block_cap_bytes: int
    window_tokens: int = 0
    baseline_reserve_tokens: int = 0
    reply_reserve_tokens: int = 0
    fit_smaller: bool = False


@dataclass(frozen=True, slots=True)
class HistoryBounds:
    messages: int = 50
    message_chars: int = 6_000
    total_chars: int = 24_000


@dataclass(frozen=True, slots=True)
class Facts:
    """Everything the assembler may look at. Same facts, same bytes.

    `fence_seed` is random per turn (it makes the fence ids of volatile sections). `identity` is the home AGENTS.md,
    read only for a foreign workspace. `preferences` and `memory_file` are None where they are left out. `words` are
    the person's own, verbatim. `now` is aware; `zone` the IANA name it is shown in.
    """

    turn: TurnId
    channel: ChannelId
    kind: ChannelKind
    speaker: Speaker
    words: str
    fresh: bool
    home: bool
    workspace: str
    memory: MemoryMode
    agent: AgentDefinition
    history: HistoryFacts
    budget: Budget
    now: datetime
    zone: str
    fence_seed: str
    now_setting: str = "minute"  # "minute", "day" or "off"
    retrieval: Retrieval = field(default_factory=lambda: Retrieval(RetrievalStatus.DISABLED))
    corrections: tuple[Correction, ...] = ()
    identity: PersonFile | None = None
    preferences: PersonFile | None = None
    memory_file: PersonFile | None = None
    workspace_instructions: str = ""
    workspace_file: PersonFile | None = None  # a system_prompt_file inside a home: a person file, in place of them
    tools: tuple[ToolNotice, ...] = ()
    skill_bodies: tuple[Skill, ...] = ()
    delegated: Delegation | None = None
    task: Task | None = None
    results: tuple[Result, ...] = ()
    reply_quote: str = ""
    attachments: tuple[AttachmentInfo, ...] = ()
    attachment_paths: tuple[str, ...] = ()
    bounds: HistoryBounds = field(default_factory=HistoryBounds)
    steered: bool = False  # steered into a running turn: sections 1, 5, 6b, 7 and 8 only
    native_command: bool = False  # goes bare, with no block


class Verdict(StrEnum):
    """What became of a considered item."""

    SUBMITTED = "submitted"
    OMITTED_BUDGET = "omitted_budget"
    OMITTED_BOUNDS = "omitted_bounds"  # outside the fixed bounds of its section
    TRUNCATED = "truncated"  # cut at its cap, and says so
    LEFT_OUT = "left_out"  # a rule keeps it out (private in shared, temporary, …); `reason` names it


@dataclass(frozen=True, slots=True)
class Disposition:
    """Exactly one per considered item."""

    section: str
    source_kind: str
    source_id: str
    revision: int
    size_bytes: int
    tokens: int
    verdict: Verdict
    reason: str = ""
    parts: str = ""  # of the score by which it stands where it stands


@dataclass(frozen=True, slots=True)
class Section:
    """One part of the block, with its heading. `text` ends without a newline."""

    name: str
    text: str
    required: bool
    stable: bool

    @property
    def sha256(self) -> str:
        return sha256(self.text.encode()).hexdigest()


SEPARATOR = "\n\n"


@dataclass(frozen=True, slots=True)
class ContextBlock:
    """The exact bytes of a dispatch: sections, then the marker, then the words. A bare block has no sections.

    `tokens` is the estimate for the whole text.
    """

    sections: tuple[Section, ...]
    words: str
    dispositions: tuple[Disposition, ...]
    tokens: int
    bare: bool = False

    @property
    def text(self) -> str:
        """The whole prompt; for a bare block the words alone."""
        if self.bare:
            return self.words
        head = SEPARATOR.join(section.text for section in self.sections)
        return f"{head}{SEPARATOR}{MARKER}\n{self.words}" if head else f"{MARKER}\n{self.words}"


@dataclass(frozen=True, slots=True)
class Media:
    """A file that goes along as a block of its own where the backend takes it. `data` is the raw bytes."""

    ref: AttachmentRef
    media_type: str
    data: bytes


@dataclass(frozen=True, slots=True)
class Prompt:
    """What a driver sends: the text byte for byte, media before it. `dispatch` makes ids that repeat safely."""

    dispatch: DispatchId
    text: str
    media: tuple[Media, ...] = ()
    bare: bool = False
