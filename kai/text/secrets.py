"""Knows a secret when it sees one: keys, tokens, card numbers, private keys. What is kept for long must hold none."""

import re
import unicodedata

from kai.text.safe import plain

_NAMES = (
    r"pass(?:word|wort|phrase|code)|kennwort|contraseña|mot de passe|api[ _-]?key|secret[ _-]?(?:access[ _-]?)?key"
    r"|client[ _-]?secret|(?:access|auth|refresh)[ _-]?token"
)
# Something that nobody would say for itself: six signs or more in one, not letters alone.
_VALUE = r"[\"'`]?(?=[^\s\"'`]*[0-9!@#$%^&*_+=-])[^\s\"'`]{6,}"
_KINDS: tuple[tuple[str, re.Pattern[str]], ...] = tuple(
    (kind, re.compile(pattern))
    for kind, pattern in (
        ("private_key", r"-----BEGIN [A-Z ]*PRIVATE KEY|PuTTY-User-Key-File-\d|AGE-SECRET-KEY-1[0-9A-Z]{20}"),
        ("token", r"\b(?:gh[pousr]_|github_pat_|glpat-|npm_|pypi-|hf_|dop_v1_|shp(?:at|ss)_)[A-Za-z0-9_-]{16,}"),
        ("token", r"\bxox[abeoprs]-[A-Za-z0-9-]{10,}|\bxapp-\d-[A-Za-z0-9-]{10,}"),
        ("token", r"\bsk-[A-Za-z0-9_-]{16,}|\b[sr]k_(?:live|test)_[A-Za-z0-9]{16,}|\bAIza[A-Za-z0-9_-]{30,}"),
        ("token", r"\b(?:AKIA|ASIA|ABIA|ACCA)[A-Z0-9]{16}\b|\bya29\.[A-Za-z0-9_-]{20,}"),
        ("token", r"\beyJ[A-Za-z0-9_-]{8,}\.[A-Za-z0-9_-]{8,}\.[A-Za-z0-9_-]{4,}"),
        ("token", r"\b\d{8,10}:AA[A-Za-z0-9_-]{32,}|\bsyt_[A-Za-z0-9+/_-]{10,}|\bSG\.[\w-]{16,}\.[\w-]{16,}"),
        ("token", r"(?i)\bbearer\s+[a-z0-9._~+/=-]{20,}"),
        ("password", r"[a-zA-Z][a-zA-Z0-9+.-]{1,15}://[^\s/:@]{1,200}:[^\s/@]{3,200}@"),
        ("password", rf"(?i)\b(?:{_NAMES})\b[^\n:=]{{0,40}}?(?:\s(?:is|ist|lautet|est|es)\s|[:=])\s*{_VALUE}"),
        ("pin", r"(?i)\bpin(?:[ -]?(?:code|number|nummer))?\b[^\n:=\d]{0,30}(?:\s(?:is|ist)\s|[:=])\s*\d{4,8}\b"),
    )
)
_DIGITS = re.compile(r"(?<![\d.])\d(?:[ -]?\d){12,18}(?![\d.])")
_ISSUERS = re.compile(r"4|5[1-5]|2[2-7]|3[47]|6(?:011|5|4[4-9])|35|30[0-5]|3[68]")


def secret_in(text: str) -> str:
    """The kind of the first secret in `text`, empty when there is none. Forms that look the same are the same."""
    seen = plain(unicodedata.normalize("NFKC", text)).replace("\u200c", "").replace("\u200d", "")
    for kind, pattern in _KINDS:
        if pattern.search(seen):
            return kind
    return "card" if any(_is_card(found.group()) for found in _DIGITS.finditer(seen)) else ""


def _is_card(text: str) -> bool:
    """Digits of an issuer whose check digit is right (Luhn)."""
    digits = [int(sign) for sign in text if sign.isdecimal()]
    if not 13 <= len(digits) <= 19 or not _ISSUERS.match("".join(map(str, digits))):
        return False
    doubled = [sum(divmod(2 * digit, 10)) for digit in digits[-2::-2]]
    return (sum(digits[-1::-2]) + sum(doubled)) % 10 == 0
