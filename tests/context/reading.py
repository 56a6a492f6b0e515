"""Reads a block back as a machine would, trusting nothing but its marks: the tests' own half."""

import re
import unicodedata
from dataclasses import dataclass

from kai.model.context import MARKER

_OPEN = re.compile(r"<<(k[0-9a-f]{12}) ")
_HIDDEN = re.compile(
    "[\u00ad\u034f\u061c\u115f\u1160\u17b4\u17b5\u180b-\u180f\u200b-\u200f\u202a-\u202e\u2060-\u206f\u3164"
    "\ufe00-\ufe0f\ufeff\uffa0\U000e0000-\U000e0fff]"
)


class BrokenBlockError(Exception):
    """The block cannot be read back."""


@dataclass(frozen=True)
class Read:
    """`frame` is everything outside fences, line by line; `quoted` the fenced texts with their labels, in order."""

    frame: tuple[str, ...]
    quoted: tuple[tuple[str, str], ...]
    words: str


def read(text: str) -> Read:
    """Split at the first marker, then walk the lines: a fence opens once, closes once, and never inside another."""
    if text.startswith(f"{MARKER}\n"):
        head, words = "", text.removeprefix(f"{MARKER}\n")
    else:
        head, found, words = text.partition(f"\n\n{MARKER}\n")
        if not found:
            raise BrokenBlockError("no marker")
    frame: list[str] = []
    quoted: list[tuple[str, str]] = []
    fence, label, body = "", "", list[str]()
    for line in head.split("\n"):
        opened = _OPEN.match(line)
        if fence:
            if line == f"{fence}>>":
                quoted.append((label, "\n".join(body)))
                fence = ""
            elif opened or re.search(r"k[0-9a-f]{12}>>", line):
                raise BrokenBlockError(f"a fence inside a fence: {line!r}")
            else:
                body.append(line)
        elif opened:
            fence, label, body = opened.group(1), line[opened.end() :], []
        elif re.search(r"<<k[0-9a-f]{12}|k[0-9a-f]{12}>>", line):
            raise BrokenBlockError(f"a fence mark out of place: {line!r}")
        else:
            frame.append(line)
    if fence:
        raise BrokenBlockError("a fence stays open")
    return Read(tuple(frame), tuple(quoted), words)


def plain(text: str) -> str:
    """What a reader sees, written down a second time: NFKC without characters of no width, one space for any run."""
    visible = _HIDDEN.sub("", unicodedata.normalize("NFKC", _HIDDEN.sub("", text)))
    return " ".join(visible.replace("’", "'").lower().split())


def markers_in(text: str) -> int:
    """How many markers a reader would see in `text`."""
    return plain(text).count(plain(MARKER))
