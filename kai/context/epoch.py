"""The epoch: the hash of all that a session was started under. When it changes, the session is not resumed."""

import json
from dataclasses import asdict, dataclass
from functools import lru_cache
from hashlib import sha256

from kai.model.context import MemoryMode, PersonFile
from kai.model.ids import ChannelId, PrincipalId
from kai.model.people import ChannelKind


@dataclass(frozen=True, slots=True)
class Grounds:
    """What a session stands on. `argv` is the launch argv without the resume group; ids in it would change each time.

    `audience` is who is present; `policy` and `agent` are revisions (hashes). With `sets_model` the protocol can change
    model and effort in place, so that they are no ground for a new session.
    """

    backend: str
    version: str
    argv: tuple[str, ...]
    workspace: str
    os_user: str
    channel: ChannelId
    kind: ChannelKind
    audience: tuple[PrincipalId, ...]
    agent: str
    memory: MemoryMode
    model: str = ""
    effort: str = ""
    sets_model: bool = False
    policy: str = ""
    identity: str = ""
    tools: tuple[str, ...] = ()


@lru_cache(maxsize=1024)  # asked at each turn, and nearly always of the same grounds
def epoch(grounds: Grounds) -> str:
    """64 hexadecimal digits; the same grounds give the same epoch after any restart."""
    facts = asdict(grounds)
    if grounds.sets_model:
        facts["model"] = facts["effort"] = ""
    if grounds.memory is MemoryMode.FAULT:  # an outage is no change of intent
        facts["memory"] = MemoryMode.ENABLED
    facts["audience"] = sorted(grounds.audience)
    facts["tools"] = sorted(grounds.tools)
    return sha256(json.dumps(facts, sort_keys=True).encode()).hexdigest()


def revision(file: PersonFile | None) -> str:
    """The revision of an identity file: its state and contents. One that is not read here counts by its path alone."""
    if file is None:
        return ""
    return sha256(f"{file.path}\0{file.state}\0{file.text}".encode(errors="replace")).hexdigest()
