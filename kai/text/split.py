"""Cuts a long text into parts that a chat app takes: at a paragraph, else a sentence, else a word, else a character.

What is cut through (code fences, emphasis, inline code) is closed and opened again: each part renders by itself.
"""

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass

from kai.text.graphemes import is_boundary
from kai.text.markup import Markup, Span
from kai.text.units import code_points

MIN_LIMIT = 64  # less leaves no room for a reopened fence

_PARAGRAPH = re.compile(r"\n[ \t]*\n\s*(?:(?<=\n)|$)")
_SENTENCE = re.compile(r"\n|[.!?…][\"'”’)\]*_]*\s+|[。！？]")
_WORD = re.compile(r"\s+")
_LEAD = re.compile(r"(?:[^\S\n]*\n)*")
_BLANK = re.compile(r"\s*\n|\s+")

Size = Callable[[str], int]


@dataclass(frozen=True, slots=True)
class Part:
    """One message. `text` is what to send; `source` is the piece of the original that it stands for."""

    source: str
    text: str


def split(text: str, limit: int, size: Size = code_points) -> tuple[Part, ...]:
    """Parts of `text`, each with ``size(part.text) <= limit``; their sources joined are `text`.

    `size` measures a part as the chat app will: in its unit and after escaping, such as
    ``lambda part: utf16_units(html.escape(part))``. Raises `ValueError` for a limit below `MIN_LIMIT`.
    """
    if limit < MIN_LIMIT:
        raise ValueError(f"a limit of {limit} is below {MIN_LIMIT}")
    cutter = _Cutter(text, limit, size)
    return tuple(cutter.parts())


class _Cutter:
    """One text being cut."""

    def __init__(self, text: str, limit: int, size: Size) -> None:
        self.text, self.limit, self.size = text, limit, size
        self.markup = Markup(text)

    def parts(self) -> Iterator[Part]:
        start = 0
        while start < len(self.text):
            end = self._next_cut(start)
            yield self._part(start, end)
            start = end

    def _part(self, start: int, end: int) -> Part:
        opening, _ = self._marks_at(start)
        closing = self.markup.unclosed if end == len(self.text) else self._marks_at(end)[1]
        body = self.text[self._begin(start) : end]
        if not self._in_fence(end):
            body = body.rstrip()
        if opening and not self._in_fence(start):
            body = body.lstrip()
        needs_line = closing and (self._in_fence(end) or end == len(self.text)) and not body.endswith("\n")
        return Part(self.text[start:end], opening + body + ("\n" if needs_line else "") + closing)

    def _begin(self, start: int) -> int:
        """Where the visible part of a part begins: blank lines before it say nothing."""
        if self._in_fence(start):
            return start
        begin = _LEAD.match(self.text, start).end()  # type: ignore[union-attr]  # it matches the empty string
        indent = len(self.text[begin : begin + self.limit]) - len(self.text[begin : begin + self.limit].lstrip())
        return begin + indent if indent > self.limit // 4 else begin

    def _in_fence(self, index: int) -> bool:
        return any(span.fence for span in self.markup.around(index))

    def _marks_at(self, index: int) -> tuple[str, str]:
        """What opens and closes the spans around a cut; nothing where that would eat up the part."""
        spans = [span for span in self.markup.around(index) if span.bears_cut(index)]
        opening = "".join(span.opening for span in spans)
        closing = "".join(span.closing for span in reversed(spans))
        if len(opening) <= self.limit // 4:
            return opening, closing
        return (closing + "\n", closing) if spans[0].fence else ("", "")  # the fence without its language

    def _fits(self, start: int, end: int) -> bool:
        return self.size(self._part(start, end).text) <= self.limit

    def _next_cut(self, start: int) -> int:
        begin = self._begin(start)
        window = min(len(self.text), begin + self.limit)
        if window == len(self.text) and self._fits(start, window):
            return window
        end = self._longest(start, begin, window)
        fence = next((span for span in self.markup.around(end) if span.fence), None)
        if fence and fence.start > begin and self._fits(fence.start, fence.end):
            return fence.start  # it goes whole into the next part
        return self._best(start, begin, end)

    def _longest(self, start: int, begin: int, window: int) -> int:
        """About the last index that still fits."""
        low, high = begin + 1, window
        while low < high:
            middle = (low + high + 1) // 2
            low, high = (middle, high) if self._fits(start, middle) else (low, middle - 1)
        return low

    def _best(self, start: int, begin: int, end: int) -> int:
        """The most natural cut: first without leaving a part mostly empty, then anywhere, at last through a span."""
        for floor, through in (((end - begin) // 4, False), (0, False), (0, True)):
            for candidates in (self._paragraphs, self._sentences, self._words, self._characters):
                for index in candidates(begin, end):
                    if index <= begin + floor:
                        break
                    cut = self._past_blanks(index)
                    if (through or self._is_clean(cut)) and self._fits(start, cut):
                        return cut
        return end  # one single character that is larger than the limit

    def _paragraphs(self, begin: int, end: int) -> Iterator[int]:
        edges = [found.end() for found in _PARAGRAPH.finditer(self.text, begin, end)]
        edges += [edge for span in self.markup.fences(begin, end) for edge in (span.start, span.end) if edge <= end]
        return (index for index in sorted(edges, reverse=True) if not self._in_fence(index))

    def _sentences(self, begin: int, end: int) -> Iterator[int]:
        return reversed([found.end() for found in _SENTENCE.finditer(self.text, begin, end)])

    def _words(self, begin: int, end: int) -> Iterator[int]:
        return reversed([found.end() for found in _WORD.finditer(self.text, begin, end)])

    def _characters(self, begin: int, end: int) -> Iterator[int]:
        return (index for index in range(end, begin, -1) if is_boundary(self.text, index))

    def _past_blanks(self, index: int) -> int:
        """Behind the white space at a cut, but before the indentation of the next line."""
        found = None if self._in_fence(index) else _BLANK.match(self.text, index)
        return found.end() if found else index

    def _is_clean(self, index: int) -> bool:
        return all(span.bears_cut(index) and not self._is_short(span) for span in self.markup.around(index))

    def _is_short(self, span: Span) -> bool:
        return not span.fence and span.end - span.start <= self.limit // 4
