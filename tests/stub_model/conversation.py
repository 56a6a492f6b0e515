"""A request of any API, reduced to what decides the reply."""

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

# What agent CLIs put around or beside the person's words by themselves.
_WRAPPING = re.compile(
    r"\s*<(system-reminder|session_context|current_datetime|environment_context)>.*?</\1>\s*", re.DOTALL
)


@dataclass(frozen=True, slots=True)
class Conversation:
    """`text` is the newest user text, `tools` maps names to JSON schemas, `tool_result` is set while one is due.

    `answer_schema` is set when the reply must be JSON of that shape.
    """

    text: str
    tools: Mapping[str, dict[str, Any]] = field(default_factory=dict)
    tool_result: str | None = None
    model: str = "stub"
    stream: bool = False
    answer_schema: dict[str, Any] | None = None


def bare(text: str) -> str:
    """`text` without what agent CLIs wrap into it."""
    return _WRAPPING.sub("", text)


def newest(texts: Iterable[str]) -> str:
    """The last of `texts` that says something of its own; "" when none does."""
    return next((text for text in reversed([bare(text) for text in texts]) if text.strip()), "")


def flat(content: Any) -> str:
    """The text of a message content: a string, or a list of blocks that may nest."""
    if isinstance(content, str):
        return content
    if isinstance(content, list):
        return "\n".join(flat(block) for block in content)
    if isinstance(content, dict):
        return flat(content.get("text") or content.get("content") or "")
    return ""


def tokens(value: object) -> int:
    """A rough count, so that usage figures grow with the request."""
    return max(1, len(str(value)) // 4)
