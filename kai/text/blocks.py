"""Markdown as it streams in: which of its blocks are finished and can be shown for good."""

import re

LONGEST = 50_000  # code points; a longer block is shown in pieces, so that an endless one costs no more than its length
_FENCE = re.compile(r"[ \t]{0,3}(`{3,}|~{3,})(.*)")


class Blocks:
    """Collects pieces of Markdown and gives every top-level block once, whole, as soon as it cannot change any more.

    A block ends at a blank line that is followed by a line without indentation, and with its closing code fence. One
    that grows beyond `LONGEST` is cut at a line, its fence closed and opened again.
    """

    def __init__(self) -> None:
        self.tail = ""  # what has come and belongs to no finished block yet
        self._line = 0  # where in the tail the first line stands that has not been looked at
        self._fence = self._opening = ""
        self._is_after_blank = False

    def feed(self, piece: str) -> list[str]:
        """Take the next piece; give the blocks that it finished, without blank lines around them."""
        self.tail += piece
        finished: list[str] = []
        while True:
            # The line behind a blank one decides by its first character; any other has to be whole.
            if self._is_after_blank and not self._fence and self._ends_before(self._line):
                finished.append(self._take(self._line))
            end = self.tail.find("\n", self._line)
            if end < 0:
                return [block for block in finished if block]
            line, self._line = self.tail[self._line : end], end + 1
            if self._closes(line):
                finished.append(self._take(self._line))
            self._is_after_blank = not line.strip()
            if self._line > LONGEST:
                finished.append(self._cut())

    def finish(self) -> str:
        """The rest, as the last block; empty when there is none."""
        return self._take(len(self.tail))

    def _ends_before(self, index: int) -> bool:
        return index < len(self.tail) and not self.tail[index].isspace()

    def _take(self, end: int) -> str:
        block, self.tail = self.tail[:end], self.tail[end:]
        self._line, self._fence, self._is_after_blank = 0, "", False
        return block.strip("\n").rstrip()

    def _cut(self) -> str:
        fence, opening = self._fence, self._opening
        block = self._take(self._line)
        if not fence:
            return block
        self.tail = f"{opening}\n{self.tail}"
        return f"{block}\n{fence}"

    def _closes(self, line: str) -> bool:
        """Follow the fences; True when this line closes one."""
        found = _FENCE.fullmatch(line)
        if not found:
            return False
        marks, info = found.groups()
        if not self._fence:
            if marks[0] == "~" or "`" not in info:
                self._fence, self._opening = marks, line
            return False
        return marks.startswith(self._fence) and not info.strip()
