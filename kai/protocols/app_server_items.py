"""The items of a Codex turn that are tools, and what a person sees of them."""

from collections.abc import Mapping

from kai.model.events import ToolCall, ToolResult
from kai.protocols.calls import TARGET_CHARS, content_text, target_of
from kai.protocols.classify import short
from kai.wire.values import Json, integer, items, pretty, record, text

_NO_TOOLS = frozenset({"userMessage", "agentMessage", "reasoning", "plan", "hookPrompt", "contextCompaction"})
_NO_TOOLS |= {"functionCallOutput", "enteredReviewMode", "exitedReviewMode", "subAgentActivity"}
_NAMES: Mapping[str, str] = {"commandExecution": "shell", "fileChange": "edit", "webSearch": "web search"}


def call_of(item: Json) -> ToolCall | None:
    """The tool call that an item is; None for any other item."""
    kind, tool_id = text(item.get("type")), text(item.get("id"))
    if not kind or not tool_id or kind in _NO_TOOLS:
        return None
    name = ".".join(part for part in (text(item.get("server")), text(item.get("tool"))) if part)
    return ToolCall(tool_id, name or _NAMES.get(kind, kind), _target(item))


def result_of(item: Json) -> ToolResult | None:
    """The outcome of a completed item that is a tool call."""
    if call_of(item) is None:
        return None
    status, error = text(item.get("status")), text(record(item.get("error")).get("message"))
    ok = status not in ("failed", "declined") and not error and not integer(item.get("exitCode"))
    said = "" if status == "declined" else _said(item)
    return ToolResult(text(item.get("id")), ok and item.get("success") is not False, said or error or status)


def command_of(fields: Json) -> str:
    """The command as the model wrote it, without the shell that Codex puts around it."""
    actions = [text(record(action).get("command")) for action in items(fields.get("commandActions"))]
    return " && ".join(action for action in actions if action) or text(fields.get("command"))


def changes_of(item: Json) -> str:
    """Every change to a file, as it would be made."""
    changes = [record(change) for change in items(item.get("changes"))]
    return "\n".join(
        f"{text(record(change.get('kind')).get('type')) or 'change'} {text(change.get('path'))}\n"
        f"{text(change.get('diff'))}"
        for change in changes
    )


def _target(item: Json) -> str:
    paths = [text(record(change).get("path")) for change in items(item.get("changes"))]
    known = command_of(item) or ", ".join(path for path in paths if path)
    return short(known, TARGET_CHARS) if known else target_of(item.get("arguments")) or target_of(item)


def _said(item: Json) -> str:
    result = item.get("result")
    shown = content_text(record(result).get("content")) or content_text(item.get("contentItems"))
    return text(item.get("aggregatedOutput")) or shown or (pretty(result) if result else "") or changes_of(item)
