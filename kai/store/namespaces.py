"""Where records live, ``person/ID/…``, ``channel/ID/…``, ``global/…``, and what patterns of them reach. Pure."""

import re
from functools import lru_cache

from kai.model.memory import Kind, Scope

_TOPIC = re.compile(r"[a-z0-9][a-z0-9_-]{0,63}")
_FOLDERS = frozenset({"memory", "howto", "preferences", "notes"})
_OF_KIND = {Kind.PREFERENCE: "preferences", Kind.HOWTO: "howto", Kind.NOTE: "notes"}
EVERYBODY = "*"


def of_kind(scope: Scope, kind: Kind, *, shared: bool) -> str:
    """Where something is kept that names no place."""
    home = f"channel/{scope.channel}" if shared else f"person/{scope.principal}"
    return f"{home}/{_OF_KIND.get(kind, 'memory')}"


def is_sound(namespace: str) -> bool:
    """Whether records may live there. A pattern is no place."""
    match namespace.split("/"):
        case ["person", owner, folder]:
            return bool(owner) and owner not in ("self", EVERYBODY) and folder in _FOLDERS
        case ["channel", channel, topic]:
            return bool(channel) and channel not in ("this", EVERYBODY) and _TOPIC.fullmatch(topic) is not None
        case ["global", topic]:
            return _TOPIC.fullmatch(topic) is not None
    return False


def shelf(namespace: str) -> str:
    """The index that a record of this namespace stands in."""
    first, _, rest = namespace.partition("/")
    return first if first == "global" else f"{first}/{rest.partition('/')[0]}"


def within(patterns: tuple[str, ...], scope: Scope, *, shared: bool) -> tuple[str, ...]:
    """The patterns with their names filled in, without those that reach beyond this person and this channel.

    In a shared channel no person's namespace is searched. A wildcard is a whole segment, and never the second one of
    a person or a channel: it would widen to everybody's.
    """
    found = []
    for pattern in patterns:
        parts = pattern.split("/")
        own = {"person": ("self", scope.principal), "channel": ("this", scope.channel)}.get(parts[0])
        if own is not None and len(parts) == 3 and parts[1] in own and not (shared and parts[0] == "person"):
            found.append(f"{parts[0]}/{own[1]}/{parts[2]}")
        elif parts[0] == "global" and len(parts) == 2:
            found.append(pattern)
    return tuple(one for one in dict.fromkeys(found) if _is_pattern(one))


@lru_cache(maxsize=4_096)  # asked of every hit, and nearly always the same
def reaches(patterns: tuple[str, ...], namespace: str) -> bool:
    """Whether one of `patterns` (of `within`) names this namespace."""
    return any(_matches(pattern, namespace) for pattern in patterns)


def narrowed(wanted: tuple[str, ...], granted: tuple[str, ...]) -> tuple[str, ...]:
    """Those of `wanted` (of `within`) that lie inside what is granted."""
    return tuple(one for one in wanted if any(_matches(pattern, one) for pattern in granted))


def _matches(pattern: str, namespace: str) -> bool:
    ours, theirs = pattern.split("/"), namespace.split("/")
    pairs = zip(ours, theirs, strict=False)
    return len(ours) == len(theirs) and all(one in (EVERYBODY, other) for one, other in pairs)


def _is_pattern(pattern: str) -> bool:
    last = pattern.rpartition("/")[2]
    return last == EVERYBODY or is_sound(pattern)
