"""A MEMORY.md as records: an item of a list or a paragraph each, with the heading above it. Pure."""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import UTC, datetime

from kai.model.memory import Kind

SEED = "Facts that I asked to have remembered, one a line, with the date."  # what an untouched file begins with
_HEADING = re.compile(r"(#{1,6})\s+(.+?)\s*#*$")
_ITEM = re.compile(r"\s*(?:[-*+]|\d{1,4}[.)])\s+(?:\[[ xX]\]\s+)?(.*)$")
_DAY = r"\(?(\d{4}-\d\d-\d\d)\)?"
_DATED = (re.compile(rf"{_DAY}\s*[:,–-]?\s+(?=\S)"), re.compile(rf"\s+{_DAY}\.?$"))
_COMMENT = re.compile(r"<!--.*?-->", re.DOTALL)
_KINDS = (("prefer", Kind.PREFERENCE), ("how to", Kind.HOWTO), ("howto", Kind.HOWTO), ("note", Kind.NOTE))


@dataclass(frozen=True, slots=True)
class Entry:
    """What would be a record, the line that it begins in, and the day that stands with it."""

    line: int
    text: str
    kind: Kind
    said_at: datetime | None = None


def entries(text: str) -> tuple[Entry, ...]:
    """In their order. A heading below the first level names its kind ("Preferences", "How to …", "Notes") or stands
    before each text below it, so that it can be understood by itself."""
    found, topic, kind = [], "", Kind.FACT
    # What is taken out leaves its lines behind, so that the numbers stay true.
    bare = _COMMENT.sub(lambda seen: "\n" * seen.group().count("\n"), text)
    for line, said in _blocks(bare):
        heading = _HEADING.match(said)
        if heading:
            named = heading.group(2).casefold()
            kind = next((kind for word, kind in _KINDS if word in named), Kind.FACT)
            topic = heading.group(2) if len(heading.group(1)) > 1 and kind is Kind.FACT else ""
        elif said != SEED and re.search(r"\w", said):
            words, said_at = _dated(said)
            found.append(Entry(line, f"{topic}: {words}" if topic else words, kind, said_at))
    return tuple(found)


def _blocks(text: str) -> Iterator[tuple[int, str]]:
    """(number of its first line, text): headings, items with the lines that go on with them, paragraphs."""
    first, lines, is_code = 0, list[str](), False
    for number, line in enumerate([*text.splitlines(), ""], start=1):
        item, is_fence = _ITEM.match(line), line.lstrip().startswith("```")
        begins = not is_code and (item is not None or _HEADING.match(line) is not None or not line.strip())
        if begins and lines:
            yield first, "\n".join(lines)
            lines = []
        is_code = is_code != is_fence
        said = item.group(1) if item and not is_code else line.rstrip() if is_code or is_fence else line.strip()
        if said.strip() or (is_code and lines):
            first = first if lines else number
            lines.append(said)
            if _HEADING.match(said) and not is_code:
                yield first, said
                lines = []
    if lines:
        yield first, "\n".join(lines)


def _dated(said: str) -> tuple[str, datetime | None]:
    for form in _DATED:
        if (seen := form.match(said) or form.search(said)) and (form is _DATED[1] or seen.start() == 0):
            try:
                day = datetime.strptime(seen.group(1), "%Y-%m-%d").replace(tzinfo=UTC)
            except ValueError:
                continue
            return (said[: seen.start()] + said[seen.end() :]).strip(), day
    return said, None
