"""Messages between the daemon and whatever starts runs: one JSON object a datagram, `version` in each.

Daemon to launcher: ``spawn``, ``kill``, ``claim``, ``stat``. Launcher to daemon: ``spawned``, ``exited``, ``gone``, ``stats``, ``error``.
"""

import json
from dataclasses import asdict, dataclass, field
from typing import Any

VERSION = 1
MAX_BYTES = 256 * 1024  # one datagram; a prompt never travels here


@dataclass(frozen=True)
class Spawn:
    """Start `argv` as `user` ("" means the launcher's own). The child's stdin, stdout and stderr come as descriptors.

    `hold_s`: how long the run may go on after the daemon is gone; 0 ends it at once.
    """

    run: str
    argv: list[str]
    env: dict[str, str]
    cwd: str
    user: str = ""
    hold_s: float = 0.0
    limits: dict[str, int] = field(default_factory=dict)
    version: int = VERSION


@dataclass(frozen=True)
class Spawned:
    run: str
    pid: int
    version: int = VERSION


@dataclass(frozen=True)
class Exited:
    """The leader ended: `code` from exit, or `signal`. Descendants may live on until ``gone``."""

    run: str
    code: int | None
    signal: int | None
    max_rss_kb: int = 0
    out_of_memory: bool = False
    version: int = VERSION


@dataclass(frozen=True)
class Gone:
    """No process of the run is left; `killed` had to be killed after the leader."""

    run: str
    killed: int = 0
    version: int = VERSION


@dataclass(frozen=True)
class Kill:
    """Signal the leader's process group, or with `tree` kill every descendant (setsid and double fork included)."""

    run: str
    signal: int
    tree: bool = False
    version: int = VERSION


@dataclass(frozen=True)
class Claim:
    """A daemon takes a run over again: its descriptors come with the answer."""

    run: str
    version: int = VERSION


@dataclass(frozen=True)
class Stat:
    run: str
    version: int = VERSION


@dataclass(frozen=True)
class Stats:
    """CPU seconds used by the whole tree so far, its live processes and resident memory."""

    run: str
    cpu_s: float
    processes: int
    rss_kb: int
    version: int = VERSION


@dataclass(frozen=True)
class Refused:
    """`kind` is "missing", "denied", "fork" or "bad"; `reason` says who lacks what."""

    run: str
    kind: str
    reason: str
    version: int = VERSION


Message = Spawn | Spawned | Exited | Gone | Kill | Claim | Stat | Stats | Refused
_KINDS: dict[str, type] = {
    "spawn": Spawn,
    "spawned": Spawned,
    "exited": Exited,
    "gone": Gone,
    "kill": Kill,
    "claim": Claim,
    "stat": Stat,
    "stats": Stats,
    "refused": Refused,
}
_NAMES = {kind: name for name, kind in _KINDS.items()}


class BadMessageError(ValueError):
    """A datagram that is no message of this protocol."""


def encode(message: Message) -> bytes:
    """One datagram. Raises `BadMessageError` when it would be longer than `MAX_BYTES`."""
    data = json.dumps({"op": _NAMES[type(message)], **asdict(message)}, separators=(",", ":")).encode()
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
    except (ValueError, KeyError, TypeError, AttributeError) as error:
        raise BadMessageError(str(error)) from error
    return message
