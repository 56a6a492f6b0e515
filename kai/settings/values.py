"""Every setting, once: its type, its default, its bounds and what it does. Frozen; no third-party import.

The JSON schemas and `config/kai.example.yaml` are generated from here (`schema_export`).
"""

from collections.abc import Mapping
from dataclasses import dataclass, field, fields, replace
from typing import Annotated, Any, Literal, TypeVar, dataclass_transform

from kai.model.backends import Limits

Permissions = Literal["ask", "bypass"]
PeopleFilesMode = Literal["inline", "deferred", "as_owner"]
NowSetting = Literal["minute", "day", "off"]
LogLevel = Literal["debug", "info", "warning", "error"]

_T = TypeVar("_T")
DAY_S = 86_400.0
MIB = 1024 * 1024


@dataclass(frozen=True, slots=True)
class About:
    """What a setting does and which numbers it takes. pydantic finds the bounds through the two hooks."""

    text: str
    low: float | None = None
    high: float | None = None

    def __get_pydantic_core_schema__(self, source: Any, handler: Any) -> Any:
        bounds = {"ge": self.low, "le": self.high}
        return {**handler(source), **{name: bound for name, bound in bounds.items() if bound is not None}}

    def __get_pydantic_json_schema__(self, schema: Any, handler: Any) -> Any:
        return {**handler(schema), "description": self.text}


def filled_in() -> dict[str, Any]:
    """Metadata of a field that kai fills in itself: no file may set it."""
    return {"filled_in": True}


@dataclass_transform(frozen_default=True, field_specifiers=(field,))
def shape(cls: type[_T]) -> type[_T]:
    """A frozen dataclass that a mapping in YAML fills: strict types, an unknown key is an error."""
    cls.__pydantic_config__ = {"extra": "forbid", "strict": True}  # type: ignore[attr-defined]
    return dataclass(frozen=True, slots=True)(cls)


@shape
class PeopleSettings:
    """What holds for everybody's files."""

    files: Annotated[
        PeopleFilesMode,
        About(
            "Who reads a person's files (AGENTS.md, PREFERENCES.md, MEMORY.md): 'inline', the daemon; 'deferred', "
            "the agent, told where they are; 'as_owner', a short run as the person's OS user."
        ),
    ] = "inline"


@shape
class HistorySettings:
    """Bounds of the history that goes into the first message of a fresh session."""

    messages: Annotated[int, About("Newest messages that are considered.", 0, 1_000)] = 50
    message_chars: Annotated[int, About("Characters of one message before it is cut, and says so.", 100, 100_000)] = (
        6_000
    )
    total_chars: Annotated[int, About("Characters of them all, newest first.", 0, 1_000_000)] = 24_000


@shape
class ContextSettings:
    """What is put before a person's words."""

    block_cap_bytes: Annotated[
        int, About("Most bytes of one context block, the person's words included.", 4_096, 64 * MIB)
    ] = 524_288
    now: Annotated[
        NowSetting, About("How exact the line with the person's local time is: 'minute', 'day' or 'off'.")
    ] = "minute"
    fit_smaller: Annotated[bool, About("After a record that does not fit, still try smaller ones of a lower rank.")] = (
        False
    )
    history: HistorySettings = field(default_factory=HistorySettings)


@shape
class SnapshotSettings:
    """The exact text of every dispatch."""

    days: Annotated[int, About("Days that snapshots are kept.", 1, 36_500)] = 30
    required: Annotated[bool, About("Without a stored snapshot nothing is sent to a backend.")] = True


@shape
class SessionSettings:
    """Live backend processes."""

    max_live: Annotated[
        int, About("Most live backend processes; the one idle for longest goes first (110 to 930 MB each).", 1, 1_000)
    ] = 6
    idle_s: Annotated[float, About("Seconds of idleness after which a session is closed.", 1, 30 * DAY_S)] = 1_800.0


@shape
class LimitSettings:
    """Limits of a turn in seconds that hold for every backend; 0 takes the backend's own."""

    start_s: Annotated[float, About("From the start of a backend until it is ready.", 0, DAY_S)] = 0.0
    first_output_s: Annotated[float, About("From the prompt until the first sign of life.", 0, DAY_S)] = 0.0
    silence_s: Annotated[float, About("Between signs of life (output, or CPU used by any descendant).", 0, DAY_S)] = 0.0
    turn_s: Annotated[float, About("The whole turn.", 0, 30 * DAY_S)] = 0.0
    ask_s: Annotated[float, About("A person's answer to a permission question.", 0, 30 * DAY_S)] = 0.0
    stop_s: Annotated[float, About("From an interrupt until the turn has ended.", 0, 600)] = 0.0

    def over(self, base: Limits) -> Limits:
        """`base` with the limits that the operator has set in its place."""
        return replace(base, **{f.name: value for f in fields(self) if (value := getattr(self, f.name)) > 0})


@shape
class QueueSettings:
    """Messages that wait while a turn runs."""

    per_channel: Annotated[int, About("Most messages that wait in one channel; one more is refused.", 1, 10_000)] = 20


@shape
class AttachmentSettings:
    """Files that come with messages."""

    max_bytes: Annotated[int, About("Most bytes of one file.", 1_024, 4_096 * MIB)] = 25 * MIB
    days: Annotated[int, About("Days that files are kept.", 1, 36_500)] = 30


@shape
class ApiSettings:
    """The door."""

    max_body_bytes: Annotated[int, About("Most bytes of one request, files aside.", 65_536, 256 * MIB)] = 8 * MIB


@shape
class MemorySettings:
    """Semantic memory."""

    enabled: Annotated[bool, About("Not built yet: must stay false.")] = False


@shape
class LogSettings:
    """What the daemon writes to stderr."""

    level: Annotated[LogLevel, About("Least level that is written: 'debug', 'info', 'warning' or 'error'.")] = "info"


@shape
class PersonEntry:
    """A person in ``people.yaml``; the key is the name."""

    os_user: Annotated[str, About("OS user that the person's agents run as; empty: the daemon's own.")] = ""
    email: Annotated[str, About("Shown to agents whose definition asks for it.")] = ""
    zone: Annotated[str, About("IANA time zone; empty: the machine's.")] = ""
    legacy_chat_id: Annotated[
        str, About("Folder name of an older installation, read while the person has no folder of their own.")
    ] = ""
    permissions: Annotated[
        Literal["", "ask", "bypass"], About("'ask' or 'bypass', above every choice; empty: the setting.")
    ] = ""
    backend: Annotated[str, About("The only backend of this person, above every choice; empty: their choice.")] = ""
    accounts: Annotated[
        Mapping[str, tuple[str | int, ...]], About("Verified accounts: bridge instance to account ids.")
    ] = field(default_factory=dict)
    name: str = field(default="", metadata=filled_in())  # the key

    def account_ids(self, bridge: str) -> tuple[str, ...]:
        """This person's accounts in a bridge, as text: a chat app's numeric id may be written either way."""
        return tuple(str(account) for account in self.accounts.get(bridge, ()))


@shape
class Workspace:
    """A folder an agent works in, from ``workspaces.yaml``; the key is the name."""

    path: Annotated[str, About("Absolute path.")]
    system_prompt: Annotated[str, About("Instructions for every agent that works here.")] = ""
    system_prompt_file: Annotated[
        str, About("A file with them instead: relative to the config folder, or absolute (a person's file).")
    ] = ""
    backend: Annotated[str, About("Backend used here, above the person's choice; empty: their choice.")] = ""
    native_files: Annotated[bool, About("Let the agent CLI find this folder's own instruction files.")] = True
    name: str = field(default="", metadata=filled_in())  # the key


@shape
class Settings:
    """``kai.yaml``, ``people.yaml`` and ``workspaces.yaml`` as one frozen value. Settings() holds every default."""

    backend: Annotated[
        str, About("Backend of whoever has chosen none; 'auto' takes the first that is installed and logged in.")
    ] = "auto"
    agent: Annotated[str, About("Agent definition of whoever has chosen none.")] = "house"
    permissions: Annotated[
        Permissions,
        About("When an agent wants to act: 'ask' the person, or 'bypass' (only where you trust the isolation)."),
    ] = "ask"
    operators: Annotated[
        tuple[str, ...],
        About("OS users that may do everything, beside root and the daemon's own user. Empty: nobody else."),
    ] = ()
    people: PeopleSettings = field(default_factory=PeopleSettings)
    context: ContextSettings = field(default_factory=ContextSettings)
    snapshots: SnapshotSettings = field(default_factory=SnapshotSettings)
    sessions: SessionSettings = field(default_factory=SessionSettings)
    limits: LimitSettings = field(default_factory=LimitSettings)
    queue: QueueSettings = field(default_factory=QueueSettings)
    attachments: AttachmentSettings = field(default_factory=AttachmentSettings)
    api: ApiSettings = field(default_factory=ApiSettings)
    memory: MemorySettings = field(default_factory=MemorySettings)
    log: LogSettings = field(default_factory=LogSettings)
    persons: tuple[PersonEntry, ...] = field(default=(), metadata=filled_in())  # people.yaml, in its order
    workspaces: tuple[Workspace, ...] = field(default=(), metadata=filled_in())  # workspaces.yaml, in its order

    def person(self, name: str) -> PersonEntry | None:
        """The entry of that name."""
        return next((entry for entry in self.persons if entry.name == name), None)

    def workspace(self, name_or_path: str) -> Workspace | None:
        """The workspace of that name or that exact path."""
        return next((w for w in self.workspaces if name_or_path in (w.name, w.path)), None)
