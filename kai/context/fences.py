"""Fences: where quoted text begins and ends.

``<<ID label`` opens and ``ID>>`` closes, each at the start of its own line. The id cannot be guessed by whoever wrote
the text: in volatile sections it comes from the turn's random seed, in stable ones from the hash of what it holds.
"""

import re
from hashlib import sha256

ID_LENGTH = 13
_CODE = re.compile(r"^ {0,3}(`{3,}|~{3,})(.*)$", re.MULTILINE)


def fence_id(source: str) -> str:
    """``k`` and twelve hexadecimal digits; the same source gives the same id."""
    return "k" + sha256(source.encode(errors="replace")).hexdigest()[: ID_LENGTH - 1]


def fenced(fence: str, label: str, body: str) -> str:
    """`body` between its marks. Both must be neutral already."""
    return f"<<{fence} {label}\n{body}\n{fence}>>"


def close_code(text: str) -> str:
    """`text` with a Markdown code fence that it leaves open closed, so that it swallows nothing behind it."""
    if "```" not in text and "~~~" not in text:
        return text
    mark = ""
    for line in _CODE.finditer(text):
        signs, rest = line.groups()
        if not mark:
            if signs[0] == "~" or "`" not in rest:  # else it is code inside a line
                mark = signs
        elif signs.startswith(mark) and not rest.strip():
            mark = ""
    return f"{text}\n{mark}" if mark else text
