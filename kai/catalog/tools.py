"""What agents may call: one table, of which HTTP routes, MCP tools, ``kai tool`` and the text of the block are made.

A tool is one row here and one handler in `kai.tools`. Who calls, and for whom, the run decides: no argument says it.
"""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import Any, Literal

from kai.model.context import ToolNotice
from kai.model.errors import BadInputError

ToolGroup = Literal["scheduling", "services", "memory", "history", "other"]
# What would name a person, a place or a right: it comes from the run, and from nowhere else.
FROM_THE_RUN = frozenset(
    """principal principal_id person user os_user uid as kai_as caller operator bridge sender audience members channel
    channel_id chat thread mode memory_mode run session turn scope scopes tools token""".split()  # noqa: SIM905
)


@dataclass(frozen=True, slots=True)
class Argument:
    """One argument. `most`: the greatest number, or how many code points a text may have. Without a default: needed."""

    name: str
    summary: str
    kind: Literal["text", "number"] = "text"
    default: str | int | None = None
    most: int = 4_000

    @property
    def schema(self) -> dict[str, Any]:
        """As JSON Schema has it."""
        if self.kind == "text":
            bounds: dict[str, Any] = {"type": "string", "minLength": 1, "maxLength": self.most}
        else:
            bounds = {"type": "integer", "minimum": 1, "maximum": self.most}
        return bounds | {"description": self.summary} | ({} if self.default is None else {"default": self.default})


@dataclass(frozen=True, slots=True)
class Tool:
    """One row. Called with ``POST /v1/tools/NAME`` on the agents' face, or ``kai tool NAME``."""

    name: str
    group: ToolGroup
    summary: str
    arguments: tuple[Argument, ...] = ()

    @property
    def schema(self) -> dict[str, Any]:
        """Of all arguments, as JSON Schema and MCP have it."""
        needed = [one.name for one in self.arguments if one.default is None]
        properties = {one.name: one.schema for one in self.arguments}
        return {"type": "object", "properties": properties, "required": needed, "additionalProperties": False}

    def checked(self, given: Mapping[str, Any]) -> dict[str, Any]:
        """The arguments, with defaults. What belongs to the run has no effect. Raises `BadInputError`."""
        known = {one.name: one for one in self.arguments}
        given = {name: value for name, value in given.items() if name in known or name not in FROM_THE_RUN}
        if strange := [name for name in given if name not in known]:
            raise BadInputError(strange[0][:100], "there is no such argument", f"It takes: {', '.join(known) or '-'}.")
        return {name: _value(one, given.get(name, one.default)) for name, one in known.items()}


def _value(argument: Argument, value: Any) -> str | int:
    if value is None:
        raise BadInputError(argument.name, "is missing", argument.summary)
    if argument.kind == "text":
        if not isinstance(value, str) or not value.strip() or len(value) > argument.most:
            raise BadInputError(argument.name, f"is a text of 1 to {argument.most:,} characters")
        return value
    if not isinstance(value, int) or isinstance(value, bool) or not 1 <= value <= argument.most:
        raise BadInputError(argument.name, f"is a whole number from 1 to {argument.most:,}")
    return value


_LIMIT = Argument("limit", "how many at most", "number", default=10, most=50)
NEWEST = 2**53  # beyond every message

TOOLS: tuple[Tool, ...] = (
    Tool(
        "turn_show", "other", "what you are answering now: who asks, where, who reads along, the files that came along"
    ),
    Tool(
        "history_search",
        "history",
        "find earlier messages of this channel by their words, the best first",
        (Argument("query", "the words to look for"), _LIMIT),
    ),
    Tool(
        "history_read",
        "history",
        "read this channel, oldest first: the newest messages before a number",
        (Argument("before", "a message's number [the newest ones]", "number", default=NEWEST, most=NEWEST), _LIMIT),
    ),
)


def notices(tools: Iterable[Tool] = TOOLS, *, allowed: Callable[[Tool], bool] | None = None) -> tuple[ToolNotice, ...]:
    """What the block tells of the tools that a run may call, in the order of the table."""
    return tuple(ToolNotice(tool.name, tool.summary, tool.group) for tool in tools if allowed is None or allowed(tool))
