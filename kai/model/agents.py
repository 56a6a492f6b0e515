"""Agent definitions: what an agent is for, and what it reads of memory. All that a start knows of agents."""

from dataclasses import dataclass, field
from typing import Literal


@dataclass(frozen=True, slots=True)
class Policy:
    """What an agent definition reads of memory: `inject` goes along by itself, `tool` is what a search may read.

    Patterns are namespaces with whole segments as ``*``; ``self`` and ``this`` stand for the person and the channel.
    The two never fall back on each other, and an empty one means nothing. `own_only`: records of this definition alone.
    `write` and `delete` are where its tools may save and correct, and forget: nowhere, unless it says so.
    `learn` is what becomes of a person's own statements in their messages: nothing, a proposal, a record. `save_runs`:
    longer requests and their answers are kept as episodes.
    """

    inject: tuple[str, ...] = ("person/self/*", "global/*")
    tool: tuple[str, ...] = ("person/self/*", "channel/this/*", "global/*")
    top_k: int = 8
    min_score: float = 0.2
    max_tokens: int = 1_500
    own_only: bool = False
    write: tuple[str, ...] = ()
    delete: tuple[str, ...] = ()
    learn: Literal["off", "observe", "auto"] = "off"
    save_runs: bool = False


@dataclass(frozen=True, slots=True)
class Skill:
    """A named instruction text of an agent definition: a catalogue line always, its body on request."""

    name: str
    summary: str
    body: str = ""


@dataclass(frozen=True, slots=True)
class AgentDefinition:
    """Purpose, instructions, declared capabilities. It shapes behaviour, never access. `revision` is a hash."""

    name: str
    purpose: str
    instructions: str
    capabilities: tuple[str, ...] = ()
    skills: tuple[Skill, ...] = ()
    revision: str = ""
    memory: Policy = field(default_factory=Policy)
    aliases: tuple[str, ...] = ()  # by which other agents may call it
