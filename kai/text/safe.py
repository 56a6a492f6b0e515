"""Text that somebody else wrote, made harmless for a terminal: it can show itself and do nothing."""

import re

# Whole sequences go, so that a coloured line stays readable; what is left of a broken one is caught below.
_ESCAPES = re.compile(
    r"\x1b\[[0-?]*[ -/]*[@-~]"  # colours, cursor
    r"|\x9b[0-?]*[ -/]*[@-~]"
    # Title, clipboard, links. A body holds no other beginning: many of them in a row would be read to the end each.
    r"|(?:\x1b[\]PX^_]|[\x90\x98\x9d-\x9f])[^\x07\x1b\x90\x98\x9c-\x9f\n]{0,4096}+(?:\x07|\x1b\\|\x9c)"
    r"|\x1b[ -/]*[0-~]"
)
_LINE_ENDS = re.compile("\r\n|[\r\x0b\x0c\x85\u2028\u2029]")
_CONTROLS = re.compile(r"[\x00-\x08\x0b-\x1f\x7f-\x9f\ufeff]")
# Bidirectional controls make text read otherwise than it runs, tags and fillers hide text altogether.
_HIDDEN = re.compile("[\u061c\u200b\u200e\u200f\u2028-\u202e\u2060-\u206f\u115f\u1160\u3164\uffa0\ufff9-\ufffb]")
_TAGS = re.compile("(?<![\U0001f3f4\U000e0020-\U000e007f])[\U000e0000-\U000e007f]+")  # but a flag is made of them


def safe(text: str) -> str:
    r"""`text` without escape sequences and control characters; line feed and tab stay.

    Hidden and direction-turning characters show as ``<U+202E>``; halves of a surrogate pair are joined or replaced.
    """
    if text.isascii() and text.replace("\n", "").replace("\t", "").isprintable():
        return text
    clean = _CONTROLS.sub("", _ESCAPES.sub("", whole(text)))
    return _TAGS.sub(_shown, _HIDDEN.sub(_shown, clean))


def plain(text: str) -> str:
    """`text` as it is kept: line feeds for every kind of line end, nothing that cannot be seen or turns directions."""
    if text.isascii() and text.replace("\n", "").replace("\t", "").isprintable():
        return text
    lines = _LINE_ENDS.sub("\n", _ESCAPES.sub("", whole(text)))
    return _TAGS.sub("", _HIDDEN.sub("", _CONTROLS.sub("", lines)))


def whole(text: str) -> str:
    """`text` that UTF-8 can carry: halves of a surrogate pair are joined, a lone half becomes U+FFFD."""
    return text if text.isascii() else text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")


def _shown(found: re.Match[str]) -> str:
    return "".join(f"<U+{ord(sign):04X}>" for sign in found.group())
