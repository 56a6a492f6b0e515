"""What agents may call: one table, of which HTTP routes, MCP tools, ``kai tool`` and the text of the block are made.

A tool is one row. No row exists yet: the issues that build scheduling, services, memory and history add theirs.
"""

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Literal

from kai.model.context import ToolNotice

ToolGroup = Literal["scheduling", "services", "memory", "history", "other"]


@dataclass(frozen=True, slots=True)
class Tool:
    """One row. `path` is the route on the agents' face. Who calls, and for whom, the run decides."""

    name: str
    group: ToolGroup
    summary: str
    path: str
    method: Literal["GET", "POST"] = "POST"


TOOLS: tuple[Tool, ...] = ()


def notices(tools: Iterable[Tool] = TOOLS, *, allowed: Callable[[Tool], bool] | None = None) -> tuple[ToolNotice, ...]:
    """What the block tells of the tools that a run may call, in the order of the table."""
    return tuple(ToolNotice(tool.name, tool.summary, tool.group) for tool in tools if allowed is None or allowed(tool))
