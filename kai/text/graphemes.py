"""Where a text may be cut: never inside what a person sees as one character.

The rules of Unicode's UAX 29, as far as categories tell, and wider where they do not: keeping more together than needed
is harmless, a cut through a family emoji is not.
"""

import unicodedata
from collections.abc import Iterator

_ZWJ = "\u200d"
_CONTROLS = frozenset({"Cc", "Zl", "Zp"})
_MARKS = frozenset({"Mn", "Me", "Mc"})  # combining marks and variation selectors
_VIRAMA = 9  # combining class: joins the consonant that follows


def is_boundary(text: str, index: int) -> bool:
    """Whether a cut before ``text[index]`` leaves every character whole. Both ends are boundaries."""
    if index <= 0 or index >= len(text):
        return True
    before, after = text[index - 1], text[index]
    if before.isascii() and after.isascii():  # all of it but one pair
        return before + after != "\r\n"
    if unicodedata.category(before) in _CONTROLS or unicodedata.category(after) in _CONTROLS:
        return True
    if _extends(after) or before == _ZWJ:
        return False
    if _is_regional(before) and _is_regional(after):
        return _regionals_before(text, index) % 2 == 0
    return not (_joins_hangul(before, after) or unicodedata.combining(before) == _VIRAMA)


def clusters(text: str) -> Iterator[str]:
    """The characters of `text` as a person counts them; joined they are the text."""
    start = 0
    for index in range(1, len(text) + 1):
        if is_boundary(text, index):
            yield text[start:index]
            start = index


def cut(text: str, limit: int) -> str:
    """The longest beginning of `text` that has at most `limit` code points and ends between two characters.

    A first character longer than `limit` is cut all the same: a limit is a limit.
    """
    if len(text) <= limit:
        return text
    end = limit
    while end > 0 and not is_boundary(text, end):
        end -= 1
    return text[: end or limit]


def shorten(text: str, limit: int) -> str:
    """`text` on one line of at most `limit` code points; ``…`` stands for what was left out."""
    line = " ".join(text.split())
    return line if len(line) <= limit else cut(line, limit - 1).rstrip() + "…"


def _extends(sign: str) -> bool:
    if unicodedata.category(sign) in _MARKS or sign in "\u200c\u200d\uff9e\uff9f":
        return True
    return "\U0001f3fb" <= sign <= "\U0001f3ff" or "\U000e0020" <= sign <= "\U000e007f"  # skin tones, flag tags


def _is_regional(sign: str) -> bool:
    return "\U0001f1e6" <= sign <= "\U0001f1ff"


def _regionals_before(text: str, index: int) -> int:
    """How many regional indicators stand directly before `index`: two make one flag."""
    start = index
    while start > 0 and _is_regional(text[start - 1]):
        start -= 1
    return index - start


def _joins_hangul(before: str, after: str) -> bool:
    """Conjoining jamo: a leading consonant takes a vowel or syllable, those take a vowel or a tail."""
    leads = "\u1100" <= before <= "\u115f"
    if leads:
        return "\u1100" <= after <= "\u11a7" or "\uac00" <= after <= "\ud7a3"
    carries = "\u1160" <= before <= "\u11ff" or "\uac00" <= before <= "\ud7a3"
    return carries and "\u1160" <= after <= "\u11ff"
