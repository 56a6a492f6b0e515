"""Messages between the daemon and whatever starts runs: one JSON object a datagram, `version` in each.

Daemon to launcher: ``spawn``, ``kill``, ``claim``, ``stat``, ``watch``. Launcher to daemon: ``spawned``, ``exited``,
``gone``, ``stats``, ``refused``, ``watched``. The spawner takes one run a connection.

Named tuples rather than dataclasses: those import ``inspect``, which would be a third of the time and of the memory
of the process that attends a run.
"""

import json
from typing import Any, NamedTuple

VERSION = 1
MAX_BYTES = 256 * 1024  # one datagram; a prompt never travels here


class Spawn(NamedTuple):
    """Start `argv` as `user` ("" means the launcher's own). The child's stdin, stdout and stderr come as descriptors.

    `hold_s`: how long the run may go on after the daemon is gone; 0 ends it at once. `limits` by their name in
    `resource` without ``RLIMIT_``.
    """

    run: str
    argv: list[str]
    env: dict[str, str]
    cwd: str
    user: str = ""
    hold_s: float = 0.0
    limits: dict[str, int] = {}  # noqa: RUF012 - named tuples know no factory; nobody writes into a message
    version: int = VERSION


class Spawned(NamedTuple):
    """`keeper` is the pid of the process that keeps the run, parent of all its orphans."""

    run: str
    pid: int
    keeper: int = 0
    version: int = VERSION


class Exited(NamedTuple):
    """The leader ended: `code` from exit, or `signal`. Descendants may live on until ``gone``."""

    run: str
    code: int | None
    signal: int | None
    max_rss_kb: int = 0
    out_of_memory: bool = False
    version: int = VERSION


class Gone(NamedTuple):
    """No process of the run is left; `killed` had to be killed by the launcher."""

    run: str
    killed: int = 0
    version: int = VERSION


class Kill(NamedTuple):
    """Signal the leader's process group, or with `tree` kill every descendant (setsid and double fork included)."""

    run: str
    signal: int
    tree: bool = False
    version: int = VERSION


class Claim(NamedTuple):
    """A later daemon takes the run over: ``spawned`` again, and ``exited`` if it has. The pipes are its own affair."""

    run: str
    version: int = VERSION


class Stat(NamedTuple):
    run: str
    version: int = VERSION


class Stats(NamedTuple):
    """CPU seconds used by the whole tree so far, its live processes and resident memory.

    `apart`: "pid age_s name" of those in another process group than the leader, the first 1,000 of them.
    """

    run: str
    cpu_s: float
    processes: int
    rss_kb: int
    apart: list[str] = []  # noqa: RUF012 - as above
    version: int = VERSION


class Watch(NamedTuple):
    """This connection only shows that the spawner lives: answered by ``watched``, it ends when the spawner ends."""

    version: int = VERSION


class Watched(NamedTuple):
    """`pid` is the spawner's; `groups` the folder below which every run has a control group of its own, "" if none."""

    pid: int
    groups: str = ""
    version: int = VERSION


class Refused(NamedTuple):
    """`kind` is "missing", "denied", "fork", "bad" or "alive"; `reason` says who lacks what."""

    run: str
    kind: str
    reason: str
    version: int = VERSION


class RefusedError(Exception):
    """The agent was not started. `kind` and `reason` as in `messages.Refused`."""

    def __init__(self, kind: str, reason: str) -> None:
        super().__init__(reason)
        self.kind = kind
        self.reason = reason


Message = Spawn | Spawned | Exited | Gone | Kill | Claim | Stat | Stats | Watch | Watched | Refused
_KINDS: dict[str, type[Message]] = {
    "spawn": Spawn,
    "spawned": Spawned,
    "exited": Exited,
    "gone": Gone,
    "kill": Kill,
    "claim": Claim,
    "stat": Stat,
    "stats": Stats,
    "watch": Watch,
    "watched": Watched,
    "refused": Refused,
}
_NAMES = {kind: name for name, kind in _KINDS.items()}


class BadMessageError(ValueError):
    """A datagram that is no message of this protocol."""


def encode(message: Message) -> bytes:
    """One datagram. Raises `BadMessageError` when it would be longer than `MAX_BYTES`."""
    data = json.dumps({"op": _NAMES[type(message)], **message._asdict()}, separators=(",", ":")).encode()
    if len(data) > MAX_BYTES:
        raise BadMessageError(f"{len(data)} bytes are more than the {MAX_BYTES} of one message")
    return data


def decode(data: bytes) -> Message:
    """The message in one datagram. Raises `BadMessageError` for anything else; unknown fields are refused."""
    try:
        fields: Any = json.loads(data)
        kind = _KINDS[fields.pop("op")]
        if fields.get("version") != VERSION:
            raise BadMessageError(f"version {fields.get('version')!r}, not {VERSION}")
        message: Message = kind(**fields)
    except (ValueError, KeyError, TypeError, AttributeError, RecursionError) as error:
        raise BadMessageError(str(error)) from error
    for name, expected in kind.__annotations__.items():
        if not _fits(getattr(message, name), expected):
            raise BadMessageError(f"{name} is no {expected}")
    return message


def _fits(value: object, expected: Any) -> bool:
    """Whether `value` is what an annotation says: a plain type, a union of them, or a list or dict of strings."""
    if expected is float:
        return isinstance(value, float | int)
    if isinstance(value, bool) and expected is not bool:
        return False
    if isinstance(value, list):
        return expected == list[str] and all(isinstance(item, str) for item in value)
    if isinstance(value, dict):
        inner = {dict[str, str]: str, dict[str, int]: int}.get(expected)
        return inner is not None and all(isinstance(item, inner) for item in value.values())
    return isinstance(value, getattr(expected, "__origin__", expected))
