"""What agents may call: one table, of which HTTP routes, MCP tools, ``kai tool`` and the text of the block are made.

A tool is one row here and one handler in `kai.tools`. Who calls, and for whom, the run decides: no argument says it.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any, Literal

from kai.model.agents import Policy
from kai.model.context import ToolNotice
from kai.model.errors import BadInputError
from kai.model.memory import Kind

ToolGroup = Literal["scheduling", "services", "memory", "history", "other"]
Right = Literal["memory.read", "memory.write", "memory.delete", "delegate", "task", "skill"]
# What would name a person, a place or a right: it comes from the run, and from nowhere else.
FROM_THE_RUN = frozenset(
    """principal principal_id person user os_user uid as kai_as caller operator bridge sender audience members channel
    channel_id chat thread mode memory_mode run session turn scope scopes tools token""".split()  # noqa: SIM905
)


@dataclass(frozen=True, slots=True)
class Argument:
    """One argument. `most`: the greatest number, or how many code points a text may have. Without a default: needed.

    `choices`: the texts that it may be, where not any.
    """

    name: str
    summary: str
    kind: Literal["text", "number"] = "text"
    default: str | int | None = None
    most: int = 4_000
    choices: tuple[str, ...] = ()

    @property
    def schema(self) -> dict[str, Any]:
        """As JSON Schema has it."""
        bounds: dict[str, Any]
        if self.choices:
            bounds = {"type": "string", "enum": list(self.choices)}
        elif self.kind == "text":
            bounds = {"type": "string", "minLength": 0 if self.default == "" else 1, "maxLength": self.most}
        else:
            bounds = {"type": "integer", "minimum": 1, "maximum": self.most}
        return bounds | {"description": self.summary} | ({} if self.default is None else {"default": self.default})


@dataclass(frozen=True, slots=True)
class Tool:
    """One row. Called with ``POST /v1/tools/NAME`` on the agents' face, over MCP, or ``kai tool NAME``.

    `needs` is what the run must be entitled to (`rights_of`); "": every run has it. `changes`: it does more than look,
    so that an agent CLI which asks the person before it acts asks about it, too.
    """

    name: str
    group: ToolGroup
    summary: str
    arguments: tuple[Argument, ...] = ()
    needs: Right | Literal[""] = ""
    changes: bool = False

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
        if value == argument.default:
            return str(value)
        if argument.choices and value not in argument.choices:
            raise BadInputError(argument.name, f"is one of: {', '.join(argument.choices)}")
        if not isinstance(value, str) or not value.strip() or len(value) > argument.most:
            raise BadInputError(argument.name, f"is a text of 1 to {argument.most:,} characters")
        if "\0" in value:
            raise BadInputError(argument.name, "holds a NUL")
        return value
    if not isinstance(value, int) or isinstance(value, bool) or not 1 <= value <= argument.most:
        raise BadInputError(argument.name, f"is a whole number from 1 to {argument.most:,}")
    return value


_LIMIT = Argument("limit", "how many at most", "number", default=10, most=50)
_TEXT_CHARS = 16 * 1024  # beyond what a record may hold, which the store itself looks at in bytes
_RECORD = Argument("record", "its id, as memory_search and the block tell it", most=64)
_BASE = Argument("base", "the revision that you know: another one is a conflict", "number", most=2**53)
_OP = Argument("op", "an id of your own for this operation: a repeat is answered, not done again", default="", most=64)
NEWEST = 2**53  # beyond every message

TOOLS: tuple[Tool, ...] = (
    Tool(
        "turn_show", "other", "what you are answering now: who asks, where, who reads along, the files that came along"
    ),
    Tool(
        "memory_search",
        "memory",
        "find what is remembered, by words and by meaning, best first; only status 'empty' means that there is none",
        (
            Argument("query", "what to look for"),
            Argument("namespace", "look in this one alone, as person/self/howto [all that may be read]", default=""),
            _LIMIT,
        ),
        needs="memory.read",
    ),
    Tool(
        "memory_save",
        "memory",
        "remember something that the person asked you to; report only what the receipt says",
        (
            Argument("text", "what to keep, in one or a few sentences", most=_TEXT_CHARS),
            Argument("kind", "what it is; a preference goes along always", default="fact", choices=tuple(Kind)),
            Argument("family", "what it is about, where only one may hold, as car.parking", default="", most=128),
            _OP,
        ),
        needs="memory.write",
        changes=True,
    ),
    Tool(
        "memory_correct",
        "memory",
        "put another text in the place of a record's, when the person asks for it; report what the receipt says",
        (Argument("text", "what holds now", most=_TEXT_CHARS), _RECORD, _BASE, _OP),
        needs="memory.write",
        changes=True,
    ),
    Tool(
        "memory_forget",
        "memory",
        "use a record no more, when the person asks for it; report what the receipt says",
        (_RECORD, _BASE, _OP),
        needs="memory.delete",
        changes=True,
    ),
    Tool(
        "history_search",
        "history",
        "find earlier messages by their words, the best first",
        (Argument("query", "the words to look for"), _LIMIT),
    ),
    Tool(
        "history_read",
        "history",
        "read this channel, oldest first: the newest messages before a number",
        (Argument("before", "a message's number [the newest ones]", "number", default=NEWEST, most=NEWEST), _LIMIT),
    ),
)


_REF = Argument("ref", "the result's reference, as res-…", most=64)
_WAIT = Argument("seconds", "how many seconds to wait for it", "number", default=45, most=600)
TOOLS += (
    Tool(
        "result_read",
        "other",
        "read a result on: items or characters of it, from a number on",
        (
            _REF,
            Argument("start", "the first to read, from 1", "number", default=1, most=NEWEST),
            Argument("limit", "how many items, or characters of a text", "number", default=30, most=20_000),
        ),
    ),
    Tool(
        "skill_read",
        "other",
        "the body of one of your skills, by its name in the catalogue",
        (Argument("name", "the skill's name", most=64),),
        needs="skill",
    ),
    Tool(
        "delegate",
        "other",
        "hand a piece of work to another agent definition and wait for it; what it finds is a result",
        (
            Argument("task", "what to do, complete in itself: it has none of your instructions", most=32_000),
            Argument("agent", "the definition that shall do it; agents lists them", most=64),
            Argument("constraints", "what holds for it whatever it finds", default="", most=8_000),
            Argument("references", "results that it may read, their references with commas", default="", most=1_000),
            Argument(
                "history",
                "how much of the history goes along [as the operator has set]",
                default="",
                choices=("", "channel", "brief", "none"),
            ),
            _WAIT,
        ),
        needs="delegate",
        changes=True,
    ),
    Tool(
        "delegation_wait",
        "other",
        "wait on for work that you delegated in this turn; what of it has ended has its result",
        (Argument("delegation", "its id, as g-…", most=64), _WAIT),
        needs="delegate",
    ),
    Tool("agents", "other", "the agent definitions that work may be handed to", needs="delegate"),
    Tool("task_show", "other", "the open task of this channel: what was asked, inputs, notes", needs="task"),
    Tool(
        "task_note",
        "other",
        "keep something of a longer piece of work: it stands before every message until that ends",
        (
            Argument("text", "what to keep, in a sentence or two", most=4_000),
            Argument(
                "kind",
                "a note is your own view; the others cite what the person says in this message",
                default="note",
                choices=("note", "requirement", "restriction", "input"),
            ),
            Argument(
                "replaces",
                "the item of that kind which this stands in place of: it becomes historical",
                default="",
                most=64,
            ),
        ),
        needs="task",
        changes=True,
    ),
    Tool(
        "task_status",
        "other",
        "say how the open task stands; done and dropped end it",
        (Argument("status", "how it stands", choices=("open", "blocked", "done", "dropped")),),
        needs="task",
        changes=True,
    ),
    Tool(
        "task_withdraw",
        "other",
        "take back a note of yours; requirements and inputs stay",
        (Argument("item", "the note's id", most=64),),
        needs="task",
        changes=True,
    ),
)


def rights_of(
    policy: Policy, *, remembers: bool, delegates: bool = False, tasks: bool = False, skills: bool = False
) -> frozenset[Right]:
    """What an agent definition with this policy entitles a run to. `remembers`: semantic memory is on here.

    `delegates`: there is another to hand work to; `tasks`: its tasks are kept; `skills`: it has any.
    """
    work: dict[Right, bool] = {"delegate": delegates, "task": tasks, "skill": skills}
    lists: dict[Right, tuple[str, ...]] = {
        "memory.read": policy.tool,
        "memory.write": policy.write,
        "memory.delete": policy.delete,
    }
    granted = {right for right, patterns in lists.items() if remembers and patterns}
    return frozenset(granted | {right for right, holds in work.items() if holds})


def tools_of(rights: frozenset[Right], tools: Iterable[Tool] = TOOLS) -> tuple[Tool, ...]:
    """The tools that a run with these rights may call, in the order of the table."""
    return tuple(tool for tool in tools if not tool.needs or tool.needs in rights)


def notices(tools: Iterable[Tool]) -> tuple[ToolNotice, ...]:
    """What the block tells of the tools that a run may call."""
    return tuple(ToolNotice(tool.name, tool.summary, tool.group) for tool in tools)
