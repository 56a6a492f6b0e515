"""Tool calls and questions as people see them, whatever the backend calls its arguments."""

from collections.abc import Sequence
from typing import Any

from kai.model.events import Choice, ChoiceKind
from kai.protocols.classify import short
from kai.wire.values import items, pretty, record, text

TARGET_CHARS = 200
_PLACES = ("command", "cmd", "file_path", "filePath", "path", "notebook_path", "pattern", "query", "url", "skill")
_TELLING = (*_PLACES, "description", "prompt", "title")  # in this order


def target_of(arguments: Any) -> str:
    """What a call is about, in one line: its path, command or query, else nothing."""
    fields = record(arguments)
    found = next((said for name in _TELLING if (said := text(fields.get(name)))), "")
    return short(found, TARGET_CHARS)


def content_text(content: Any) -> str:
    """The text of a content value: a string, a block, or a list of blocks (also ACP's wrapped ones)."""
    if isinstance(content, str):
        return text(content)
    if isinstance(content, dict):
        return text(content.get("text")) or (content_text(content["content"]) if _nests(content) else "")
    return "\n".join(said for block in items(content) if isinstance(block, dict) and (said := content_text(block)))


def _nests(block: dict[str, Any]) -> bool:
    # One level only: the depth of what others wrote must not become the depth of our stack.
    inner = block.get("content")
    return isinstance(inner, str) or (isinstance(inner, dict) and not isinstance(inner.get("content"), dict | list))


def arguments_of(arguments: Any) -> str:
    """The whole arguments, one after the other: a person must see all of what is being allowed."""
    fields = record(arguments)
    if not fields:
        return "" if arguments is None or arguments == {} else pretty(arguments)
    return "\n".join(f"{name}: {pretty(value)}" for name, value in fields.items())


def answers_of(options: Sequence[Any]) -> tuple[tuple[Choice, ...], str]:
    """The offered answers to a question that is no permission, and a line for each that explains itself."""
    offered = [record(option) for option in options]
    lines = [f"{text(o.get('label'))}: {text(o.get('description'))}" for o in offered if o.get("description")]
    choices = (Choice(str(at), text(o.get("label")), ChoiceKind.ANSWER) for at, o in enumerate(offered, 1))
    return tuple(choices), "\n".join(lines)


def once_or_not(always: str = "") -> tuple[Choice, ...]:
    """The usual answers to a permission question; `always` labels the wider one where there is one."""
    choices = [Choice("allow", "Allow once", ChoiceKind.ALLOW_ONCE)]
    if always:
        choices.append(Choice("always", always, ChoiceKind.ALLOW_ALWAYS))
    return (*choices, Choice("deny", "Deny", ChoiceKind.REJECT_ONCE))
