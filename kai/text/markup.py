"""Where the markup of a text begins and ends, so that no cut breaks it.

An honest reading of the Markdown that agents write: code fences, inline code, emphasis, links. It finds at least the
spans that a renderer would; a span too many costs a less pretty cut and nothing else.
"""

import re
from bisect import bisect_left, bisect_right
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import accumulate

_FENCE = re.compile(r"^([ \t]{0,8}(?:>[ \t]?){0,4})(`{3,8}|~{3,8})([^\n]*)$", re.MULTILINE)
# Emphasis does not reach over a blank line, nor from one list item, heading, quote or table row into the next.
_PARAGRAPH_END = re.compile(r"\n(?=[ \t]*(?:\n|[-*+][ \t]|\d{1,9}[.)][ \t]|#{1,6}[ \t]|>|\|))")
_CODE_CHARS = 10_000  # inline code is looked for no further, and no more marks than this are held open at a time:
_OPEN_MARKS = 32  # text that is made to be slow stays fast
_INLINE = re.compile(
    r"(?P<escape>\\[!-/:-@\[-`{-~])"
    r"|(?P<code>`+)"
    r"|(?P<link>!?\[[^\[\]\n]{0,2000}\]\((?:[^()\s]|\([^()\s]*\)){0,2000}\))"
    r"|(?P<address>https?://[^\s<>]+)"
    r"|(?P<mark>\*{1,3}|_{1,3}|~~)"
)


@dataclass(frozen=True, slots=True)
class Span:
    """``text[start:end]`` belongs together. A cut inside needs `closing` before it and `opening` after it.

    `inner` holds the bounds between which such a cut is possible at all. For what has no marks to repeat (a link, an
    address) it is empty.
    """

    start: int
    end: int
    inner: tuple[int, int]
    opening: str = ""
    closing: str = ""
    fence: bool = False

    def bears_cut(self, index: int) -> bool:
        """Whether the span can be closed and opened again at `index`, with something on either side."""
        return self.inner[0] < index < self.inner[1]


class Markup:
    """The spans of one text, and which of them a position lies in."""

    def __init__(self, text: str) -> None:
        self.spans = tuple(sorted(_spans(text), key=lambda span: (span.start, -span.end)))
        last = self.spans[-1] if self.spans else None
        self.unclosed = last.closing if last and last.fence and last.inner[1] == last.end else ""
        self._starts = [span.start for span in self.spans]
        self._reach = list(accumulate((span.end for span in self.spans), max))

    def fences(self, start: int, end: int) -> tuple[Span, ...]:
        """The code fences that begin at or after `start` and before `end`."""
        first, last = bisect_left(self._starts, start), bisect_left(self._starts, end)
        return tuple(span for span in self.spans[first:last] if span.fence)

    def around(self, index: int) -> tuple[Span, ...]:
        """The spans that a cut at `index` would go through, outermost first."""
        found: list[Span] = []
        place = bisect_right(self._starts, index - 1) - 1
        while place >= 0 and self._reach[place] > index:
            if self.spans[place].end > index:
                found.append(self.spans[place])
            place -= 1
        return tuple(reversed(found))


def _spans(text: str) -> Iterator[Span]:
    at = 0
    for fence in _fences(text):
        yield from _inline(text, at, fence.start)
        yield fence
        at = fence.end
    yield from _inline(text, at, len(text))


def _fences(text: str) -> Iterator[Span]:
    """Code fences with their marking lines. One that never closes reaches to the end."""
    opened: re.Match[str] | None = None
    for line in _FENCE.finditer(text):
        _, marks, info = line.groups()
        if opened is None:
            if marks[0] == "~" or "`" not in info:
                opened = line
        elif marks.startswith(opened.group(2)) and not info.strip():
            yield _fence(opened, line.start(), line.end())
            opened = None
    if opened is not None:
        yield _fence(opened, len(text), len(text))


def _fence(opened: re.Match[str], last_line: int, end: int) -> Span:
    prefix, marks, _ = opened.groups()
    inner = (min(opened.end() + 1, last_line), last_line)
    return Span(opened.start(), end, inner, opened.group() + "\n", prefix + marks, fence=True)


def _inline(text: str, start: int, end: int) -> Iterator[Span]:
    at = start
    for stop in [found.end() for found in _PARAGRAPH_END.finditer(text, start, end)] + [end]:
        yield from _paragraph(text, at, stop)
        at = stop


def _paragraph(text: str, start: int, end: int) -> Iterator[Span]:
    open_marks: list[tuple[str, int, int]] = []
    at = start
    while found := _INLINE.search(text, at, end):
        at = found.end()
        match found.lastgroup:
            case "code":
                if close := _closing_ticks(text, found, end):
                    yield Span(found.start(), close.end(), (found.end(), close.start()), found.group(), found.group())
                    at = close.end()
            case "mark":
                yield from _pair(text, found, open_marks)
            case _:
                yield Span(found.start(), found.end(), (found.end(), found.end()))


def _closing_ticks(text: str, opening: re.Match[str], end: int) -> re.Match[str] | None:
    pattern = re.compile(rf"(?<!`){opening.group()}(?!`)")
    return pattern.search(text, opening.end(), min(end, opening.end() + _CODE_CHARS))


def _pair(text: str, found: re.Match[str], open_marks: list[tuple[str, int, int]]) -> Iterator[Span]:
    """Close the nearest open mark of this kind, or open one."""
    mark, start, end = found.group(), found.start(), found.end()
    before, after = text[start - 1 : start], text[end : end + 1]
    inside_word = mark[0] == "_" and before.isalnum() and after.isalnum()
    if before and not before.isspace() and not inside_word:
        for place in range(len(open_marks) - 1, -1, -1):
            if open_marks[place][0] == mark:
                _, opened, inner = open_marks[place]
                del open_marks[place:]
                yield Span(opened, end, (inner, start), mark, mark)
                return
    if after and not after.isspace() and not inside_word:
        del open_marks[: -_OPEN_MARKS + 1]
        open_marks.append((mark, start, end))
