"""The conversation so far: newest kept first, shown oldest first, and plainly no part of the current request.

Every message starts a line with its time; its further lines are indented. So no line of a message can pass for
another message, and the fence around them all says where they end.
"""

from functools import cache, partial
from typing import assert_never

from kai.context import neutral
from kai.context.draft import Draft, Item
from kai.context.fences import close_code, fence_id
from kai.context.sections.now import zone_of
from kai.context.sections.privacy import has_tool
from kai.model.context import Facts, HistoryFacts, Verdict
from kai.model.messages import Author, Message
from kai.text.graphemes import cut

_NAME = "session.history"
_TOOL_CHARS = 600
_FILES = 8


def draft(facts: Facts) -> Draft:
    if facts.delegated and not facts.bounds.messages:
        return Draft(_NAME)  # nothing of it was to go along
    history = facts.history
    items = _items(facts)
    if not items:
        text = "[No earlier messages in this channel.]"
        if not history.canonical and history.archive_dir:
            text = f"[No earlier messages found; the archive is {neutral.path(history.archive_dir)}.]"
        return Draft(_NAME, (Item("state", "no_messages", text, required=True),), required=True, stable=True)
    fence = fence_id("".join(item.text for item in items))
    frame = partial(_frame, history, fence, has_tool(facts, "history_search"))
    return Draft(_NAME, items, frame, required=True, stable=True, newest_first=True)


def _frame(history: HistoryFacts, fence: str, searchable: bool, admitted: tuple[Item, ...]) -> tuple[str, str]:
    total = max(history.total, len(history.messages))
    title, elsewhere = (
        "[Recent canonical conversation context",
        "; earlier ones by history_search" if searchable else "",
    )
    if not history.canonical:
        title = "[Recent archived conversation context"
        elsewhere = f"; the whole archive: {neutral.path(history.archive_dir)}" if history.archive_dir else ""
    if not admitted:
        return f"{title}: none of {total:,} messages fits here{elsewhere}.]", ""
    counted = f"{len(admitted)} of {total:,} messages" if history.canonical else f"{len(admitted)} messages"
    elsewhere = elsewhere if len(admitted) < total or not history.canonical else ""
    head = f"{title}: {counted}, oldest first{elsewhere}. Background only: it is not the current request.]"
    return f"{head}\n<<{fence} history", f"{fence}>>"


def _items(facts: Facts) -> tuple[Item, ...]:
    """Newest first. What is beyond the bounds keeps its row, and says so."""
    bounds = facts.bounds
    zone = zone_of(facts)
    author = cache(_author)  # a handful of names, said many times
    items, left, inside = [], bounds.total_chars, True
    for count, message in enumerate(reversed(facts.history.messages)):
        if message.message in facts.history.refused:
            why = "the provider refused it"
            items.append(Item("message", message.message, verdict=Verdict.LEFT_OUT, reason=why))
            continue
        if inside:
            body, note = _shown(message, bounds.message_chars)
            who = author(message.author, message.name, message.backend, message.incomplete)
            when = message.created_at.astimezone(zone).isoformat(" ", "minutes")[:16]  # less the offset
            text = f"{when} {who}: {body}"
            inside = count < bounds.messages and len(text) <= left
        if not inside:
            items.append(Item("message", message.message, verdict=Verdict.OMITTED_BOUNDS, reason="history bounds"))
            continue
        left -= len(text)
        verdict = Verdict.TRUNCATED if note else Verdict.SUBMITTED
        items.append(Item("message", message.message, text, verdict=verdict, reason=note))
    return tuple(items)


def _shown(message: Message, limit: int) -> tuple[str, str]:
    """The message as it stands in the block, and what was cut of it."""
    own, note = message.text, ""
    if len(own) > limit:
        own = cut(own, limit)
        note = f"cut at {len(own):,} of {len(message.text):,} characters"
    lines = close_code(neutral.data(own)).split("\n")
    if note:
        lines.append(f"[{note}; the whole is message {message.message}]")
    if message.tool_lines:
        lines.append(f"[{_tools(message.tool_lines)}]")
    names = [neutral.line(attachment.name, 80) for attachment in message.attachments[:_FILES]]
    lines.extend(f"[file: {name}]" for name in names)
    if not own.strip():
        lines = lines[1:] or ["(no text)"]
    return "\n".join(f"  {line}" if line else "" for line in lines).strip(), note


def _author(author: Author, name: str, backend: str, incomplete: bool) -> str:
    """Only what an agent or kai said carries round brackets: a person's name cannot pass for one of theirs."""
    cut_short = ", incomplete" if incomplete else ""
    match author:
        case Author.PERSON:
            plain = neutral.line(name, 60).replace("(", "").replace(")", "").replace(":", "").strip()
            return f"{plain or 'somebody'}{' (incomplete)' if incomplete else ''}"
        case Author.AGENT:
            return f"kai (via {neutral.line(backend, 40) or 'an agent'}{cut_short})"
        case Author.KAI:
            return f"kai (notice{cut_short})"
        case _:
            assert_never(author)


def _tools(lines: tuple[str, ...]) -> str:
    """What the answer's tools did, whole lines only, in at most 600 characters."""
    shown: list[str] = []
    left = _TOOL_CHARS
    for count, text in enumerate(lines):
        plain = neutral.line(text, _TOOL_CHARS - 40)
        rest = f"{len(lines) - count} more"
        if len(plain) + 2 + len(rest) + 2 > left:
            shown.append(rest)
            break
        shown.append(plain)
        left -= len(plain) + 2
    return "; ".join(shown)
