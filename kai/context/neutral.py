"""Makes data unable to pass for anything but data, and keeps it readable.

Whatever an agent could take for a part of the block (the marker, a fence, one of kai's headings) or for another
speaker (a role tag) gets round brackets in place of its own: ``[User's …:]`` becomes ``(User's …:)``. Compared is what
a reader sees (`seen`): NFKC, without characters that have no width, look-alike letters folded. Nothing else of the
text changes, except that control, direction and tag characters are dropped: nobody sees them, and an agent reads them.

Every pattern is linear: possessive runs that stop where the next candidate starts, and a callback for each candidate.
"""

import re
import unicodedata

from kai.text.graphemes import shorten

# What each of kai's headings begins with, as `seen` gives it. Data that says so did not come from kai.
HEADINGS = (
    "[about this message:",
    "[agent:",
    "[background from memory",
    "[corrections:",
    "[external services available:",
    "[memory search:",
    "[memory subsystem:",
    "[no earlier messages",
    "[now:",
    "[recent archived conversation context",
    "[recent canonical conversation context",
    "[scheduling api:",
    "[skills again:",
    "[workspace:",
    "[your core identity and instructions:",
    "[your persistent memory",
    "[your personal preferences",
)
_ROLES = frozenset({"human", "assistant", "user", "system", "developer", "tool", "function", "model", "sys"})
_OPEN, _CLOSE, _LESS, _MORE, _COLON = r"\[［﹇", r"\]］﹈", "<＜﹤", ">＞﹥", ":：﹕︓ː∶"
_HIDDEN = (  # Unicode's default ignorables: they take no room, so they separate nothing for a reader
    "\u00ad\u034f\u061c\u115f\u1160\u17b4\u17b5\u180b-\u180f\u200b-\u200f\u202a-\u202e\u2060-\u206f\u3164"
    "\ufe00-\ufe0f\ufeff\uffa0\U000e0000-\U000e0fff"
)
_INVISIBLE = re.compile(f"[{_HIDDEN}]+")
_LOOKALIKES = str.maketrans("аеорсухіѕһոυνοαιτг’‘ʼ′‐‑‒–—―−", "aeopcyxishnuvoaitr''''-------")

_BREAK = re.compile("\r\n|[\r\x0b\x0c\x85\u2028\u2029]")
_DROPPED = re.compile(
    r"\x1b\[[0-?]*+[ -/]*+[@-~]"  # colours and cursor moves, whole; of other sequences the text stays
    r"|[\x00-\x08\x0e-\x1f\x7f-\x9f\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069\ufeff\ufff9-\ufffb\U000e0000-\U000e007f]+"
)

_IN_BRACKETS = re.compile(f"[{_OPEN}][^{_OPEN}{_CLOSE}]*+[{_CLOSE}]")
_MARK = re.compile(r"\[ ?user'?s current message ?-? ?respond to this ?:? ?\]")
_MODEL_MARK = re.compile(r"\[ ?/? ?(?:inst|system_prompt|available_tools|tool_calls|tool_results) ?\]")
_HEADS = re.compile(
    rf"\[\s*/?\s*(?:user|inst|system_|available|tool_|{'|'.join(heading[1:4] for heading in HEADINGS)})", re.IGNORECASE
)

_IN_ANGLES = re.compile(f"[{_LESS}][^{_LESS}{_MORE}]*+[{_MORE}]")
_TAG_HEADS = re.compile(
    rf"<\s*(?:\||/?\s*(?:[\w-]+:)?(?:{'|'.join(sorted(_ROLES))}|command-|local-|bash-|start_|end_|invoke|antml))",
    re.IGNORECASE,
)
_TAG = re.compile(r"/? ?(?:[\w-]+:)?([\w.-]+)")
_MODEL_TAG = re.compile(
    r"(?:system[-_.]|tool_|function_|command-|local-command-|bash-(?:input|std)|(?:start|end)_of_turn).*|invoke|antml"
)

_DOUBLED = re.compile(f"[{_LESS}](?:[{_HIDDEN}]*+[{_LESS}])++|[{_MORE}](?:[{_HIDDEN}]*+[{_MORE}])++")
_FENCE_ID = re.compile("k[0-9a-f]{12}")
_NEAR = 60  # characters beside a doubled angle in which a fence id would stand

_BEFORE_COLON = re.compile(f"^[^\n{_COLON}]*+(?=[{_COLON}])", re.MULTILINE)
_HARMLESS = re.compile(r"[A-Za-z0-9 _.,:;/()+='-]*")
_AT = re.compile("@(?<![A-Za-z0-9_/]@)(?!\u200b)")


def data(text: str) -> str:
    """`text` as it may stand in the block before the marker: readable, and nothing but data."""
    if not text.replace("\n", "").replace("\t", "").isprintable():
        text = _DROPPED.sub("", _BREAK.sub("\n", whole(text)))
    plain = text.isascii()  # then its brackets are these and no others
    if not plain or "[" in text:
        text = _IN_BRACKETS.sub(_bracketed, text)
    angles = not plain and any(sign in text for sign in _LESS + _MORE)
    if angles or "<<" in text or ">>" in text:
        text = _DOUBLED.sub(_doubled, text)
    if angles or ("<" in text and ">" in text):
        text = _IN_ANGLES.sub(_angled, text)
    return at_signs(_BEFORE_COLON.sub(_spoken, text))


def line(text: str, limit: int = 200) -> str:
    """`data` on one line of about `limit` characters, with no brackets or quotes of its own: for names and quotes."""
    if len(text) <= limit and _HARMLESS.fullmatch(text):
        return text
    flat = data(shorten(text[: 20 * limit], limit)).replace("\n", " ")
    return flat.replace("[", "(").replace("]", ")").replace('"', "'")


def path(text: str) -> str:
    """A path on one line. Nothing is cut and brackets stay, or it would name another file."""
    return " ".join(data(text).split("\n"))


def at_signs(text: str) -> str:
    """`text` with a zero-width space behind every ``@`` at a word start: some CLIs read ``@/any/path`` unasked."""
    return _AT.sub("@\u200b", text)


def whole(text: str) -> str:
    """`text` with halves of surrogate pairs joined or replaced: the one thing that no wire can carry."""
    return text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")


def seen(text: str) -> str:
    """What a reader takes `text` for: NFKC, without width, look-alikes folded, single spaces, lower case."""
    if not text.isascii():
        normal = unicodedata.normalize("NFKC", _INVISIBLE.sub("", text))
        text = _INVISIBLE.sub("", normal).lower().translate(_LOOKALIKES)
    return " ".join(text.lower().split())


def _bracketed(found: re.Match[str]) -> str:
    text = found.group()
    if text.isascii() and not _HEADS.match(text):
        return text
    plain = seen(text)
    forged = _MARK.fullmatch(plain) or _MODEL_MARK.fullmatch(plain) or plain.startswith(HEADINGS)
    return f"({text[1:-1]})" if forged else text


def _angled(found: re.Match[str]) -> str:
    text = found.group()
    if text.isascii() and not _TAG_HEADS.match(text):
        return text
    plain = seen(text[1:-1])
    tag = _TAG.match(plain)
    if tag is None:
        return f"({text[1:-1]})" if plain.startswith("|") and plain.endswith("|") else text
    name, before = tag.group(1), found.string[found.start() - 1 : found.start()]
    # `Promise<User>` and `<User/>` are code; a role tag stands alone, or closes.
    alone = plain.startswith("/") or not (before.isalnum() or before == "_" or plain.endswith("/"))
    return f"({text[1:-1]})" if _MODEL_TAG.fullmatch(name) or (name in _ROLES and alone) else text


def _doubled(found: re.Match[str]) -> str:
    """``<<`` and ``>>`` beside something like a fence id, or beside so much hidden text that one may be behind it."""
    angles = _INVISIBLE.sub("", found.group())
    opens = angles[0] in _LESS
    if opens:
        near = found.string[found.end() : found.end() + _NEAR]
    else:
        near = found.string[max(0, found.start() - _NEAR) : found.start()]
    stuffed = False
    if not near.isascii():
        stuffed = len(near) == _NEAR and len(_INVISIBLE.sub("", near)) < 13
        near = seen(near)
    beside = near[:13] if opens else near[-13:]
    if stuffed or _FENCE_ID.fullmatch(beside.lower()):
        return ("(" if opens else ")") * len(angles)
    return found.group()


def _spoken(found: re.Match[str]) -> str:
    """A speaker's name at a line start. ``User:`` names one; ``user:`` is a key of somebody's configuration."""
    text = found.group()
    if len(text) > 24 and (text.isascii() or not _INVISIBLE.search(text)):
        return text
    name = seen(text).strip("#*>_~-` ")
    written_large = name in _ROLES and any(sign.isupper() for sign in unicodedata.normalize("NFKC", text))
    return f"({text.strip()})" if written_large or name in {"human", "assistant"} else text
