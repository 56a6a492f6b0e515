"""Tool calls and permission questions of ACP agents: titles that change, unannounced calls, odd options."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from kai.model.events import Ask, AskWithdrawn, Choice, ChoiceKind, ToolCall, ToolResult
from kai.protocols.calls import arguments_of, content_text, target_of
from kai.protocols.classify import short
from kai.protocols.driver import McpServer, Output, Send
from kai.wire import jsonrpc
from kai.wire.jsonrpc import Id
from kai.wire.values import Json, items, pretty, record, text

_PERMISSIONS = {kind.value: kind for kind in ChoiceKind if kind is not ChoiceKind.ANSWER}
_DEEDS = frozenset({"execute", "edit", "delete", "move"})
_ENDED = {"completed": True, "failed": False, "cancelled": False}


def unasked(servers: Sequence[McpServer]) -> frozenset[str]:
    """What agents call those tools of MCP servers that run without a question, in a title or by name."""
    forms = ("{1} ({0} MCP Server)", "{0}_{1}", "mcp__{0}__{1}", "mcp_{0}_{1}")
    return frozenset(form.format(one.name, tool) for one in servers for tool in one.unasked for form in forms)


@dataclass(frozen=True)
class _Open:
    """A request for permission: `options` are the agent's, by our keys."""

    id: Id
    tool_id: str
    choices: tuple[Choice, ...]
    options: dict[str, str]

    def option(self, choice: Choice) -> str:
        """The agent's id for an answer of this kind, of this very key where there are several; "" for none."""
        same = [own.key for own in self.choices if own.kind is choice.kind]
        key = choice.key if choice.key in same else next(iter(same), "")
        return self.options.get(key, "")


class Calls:
    """What is known of the calls of this turn, and the questions that are open."""

    def __init__(self, *, auto_allow: bool, unasked: frozenset[str] = frozenset()) -> None:
        self._auto_allow, self._unasked = auto_allow, unasked
        self._count = 0
        self._known: dict[str, dict[str, Any]] = {}
        self._ended: set[str] = set()
        self._denied: set[str] = set()
        self._open: dict[str, _Open] = {}

    @property
    def any(self) -> bool:
        """A tool was called in this turn."""
        return bool(self._known)

    def forget(self) -> None:
        """A new turn begins."""
        for known in (self._known, self._ended, self._denied):
            known.clear()

    def finish(self) -> list[Output]:
        """The turn ended as it should. Hermes never tells how an edit went that it had asked for."""
        left = [tool_id for tool_id in self._known if tool_id not in self._ended]
        return [ToolResult(tool_id, tool_id not in self._denied) for tool_id in left]

    def note(self, update: Json) -> list[Output]:
        """A ``tool_call`` or ``tool_call_update``: what changed is merged into what is known."""
        if not (tool_id := text(update.get("toolCallId"))):
            return []
        call = self._merge(tool_id, update)
        out: list[Output] = [ToolCall(tool_id, _name(call), _target(call))]
        ended = _ENDED.get(text(update.get("status")))
        if ended is not None:
            self._ended.add(tool_id)
            raw = update.get("rawOutput")
            said = text(raw) or text(record(raw).get("output")) or content_text(update.get("content"))
            out.append(ToolResult(tool_id, ended, said))
        return out

    def ask(self, request: Id, params: Json, *, anyone_there: bool) -> list[Output]:
        """A ``session/request_permission``. When no person waits for the turn it is cancelled at once."""
        if not anyone_there:
            return [_cancelled(request)]
        update = record(params.get("toolCall"))
        tool_id = self._meant(text(update.get("toolCallId")), text(update.get("kind")))
        call = self._merge(tool_id, update)
        choices, options = _choices(items(params.get("options")))
        item = _Open(request, tool_id, choices, options)
        # Some agents never announce a call that asks.
        announced = [ToolCall(tool_id, _name(call), _target(call))] if tool_id else []
        if (self._auto_allow or self._is_unasked(call)) and (allowed := _narrowest_allow(item)):
            return [*announced, _selected(request, allowed)]
        self._count += 1
        key = f"q{self._count}"
        self._open[key] = item
        title = text(call.get("title")) or _name(call)
        return [*announced, Ask(key, short(title), _detail(call), choices, tool_id)]

    def answer(self, ask: str, choice: Choice | None) -> list[Output]:
        """Late or unknown: nothing. No choice: the narrowest refusal there is, else "cancelled"."""
        item = self._open.pop(ask, None)
        if item is None:
            return []
        refusal = Choice("", "", ChoiceKind.REJECT_ONCE)
        option = item.option(choice or refusal) or item.option(refusal)
        if choice is None or choice.kind not in (ChoiceKind.ALLOW_ONCE, ChoiceKind.ALLOW_ALWAYS):
            self._denied.add(item.tool_id)
        return [_selected(item.id, option) if option else _cancelled(item.id)]

    def cancel(self) -> list[Output]:
        """Answer every open question with "cancelled", as the protocol demands after a cancel."""
        out: list[Output] = []
        for key, item in self._open.items():
            out += [_cancelled(item.id), AskWithdrawn(key)]
        self._open.clear()
        return out

    def _meant(self, tool_id: str, kind: str) -> str:
        """Hermes asks under an id of its own for a call that it has announced: the one that is open."""
        if tool_id in self._known:
            return tool_id
        running = [
            known for known, call in self._known.items() if call.get("kind") == kind and known not in self._ended
        ]
        return running[0] if len(running) == 1 else tool_id

    def _is_unasked(self, call: Json) -> bool:
        # The title of a shell command is the command, which could be called like a tool.
        names = {text(call.get("title")).strip(), _name(call)}
        return bool(names & self._unasked) and text(call.get("kind")) not in _DEEDS

    def _merge(self, tool_id: str, update: Json) -> dict[str, Any]:
        call = self._known.setdefault(tool_id, {})
        call.update({name: value for name, value in update.items() if value not in (None, "", [], {})})
        return call


def _choices(offered: Sequence[Any]) -> tuple[tuple[Choice, ...], dict[str, str]]:
    """Choices by kind, never by id. An option of a kind that is not known is not offered: it may mean anything."""
    choices: list[Choice] = []
    options: dict[str, str] = {}
    for option in map(record, offered):
        kind = _PERMISSIONS.get(text(option.get("kind")))
        if kind is not None and (option_id := text(option.get("optionId"))):
            key = str(len(choices) + 1)
            choices.append(Choice(key, text(option.get("name")) or kind.value.replace("_", " "), kind))
            options[key] = option_id
    if not any(choice.kind is ChoiceKind.REJECT_ONCE for choice in choices):
        choices.append(Choice("deny", "Deny", ChoiceKind.REJECT_ONCE))  # answered as "cancelled"
    return tuple(choices), options


def _narrowest_allow(item: _Open) -> str:
    once, always = (Choice("", "", kind) for kind in (ChoiceKind.ALLOW_ONCE, ChoiceKind.ALLOW_ALWAYS))
    return item.option(once) or item.option(always)


def _name(call: Json) -> str:
    meta = record(record(call.get("_meta")).get("claudeCode"))
    return text(call.get("name")) or text(meta.get("toolName")) or text(call.get("kind")) or "tool"


def _target(call: Json) -> str:
    places = (text(record(place).get("path")) for place in items(call.get("locations")))
    return target_of(call.get("rawInput")) or short(text(call.get("title"))) or next(places, "")


def _detail(call: Json) -> str:
    """The whole of what would be done: arguments, and the changes to files that some agents show instead."""
    parts = [arguments_of(call.get("rawInput")) or text(call.get("title"))]
    for block in map(record, items(call.get("content"))):
        if block.get("type") == "diff":
            parts.append(
                f"{text(block.get('path'))}\n- {pretty(block.get('oldText'))}\n+ {pretty(block.get('newText'))}"
            )
        else:
            parts.append(content_text(block))
    return "\n".join(part for part in parts if part)


def _selected(request: Id, option: str) -> Send:
    return Send(jsonrpc.result(request, {"outcome": {"outcome": "selected", "optionId": option}}))


def _cancelled(request: Id) -> Send:
    return Send(jsonrpc.result(request, {"outcome": {"outcome": "cancelled"}}))
