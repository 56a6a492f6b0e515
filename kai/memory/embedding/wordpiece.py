"""The tokenizer of BERT's uncased models, in plain Python: the usual package for it brings 40 MB and a hub's client.

Gives what the models' own ``tokenizer.json`` gives (a test compares the two).
"""

import re
import unicodedata
from collections.abc import Iterator, Mapping
from functools import lru_cache

_WORD_CHARS = 100  # a longer word is unknown
_ASCII_WORD = re.compile(r"[a-z0-9]+|[!-/:-@\[-`{-~]")
_ASCII_CONTROLS = dict.fromkeys([*range(9), 11, 12, *range(14, 32), 127])
_CJK = (
    (0x4E00, 0x9FFF),
    (0x3400, 0x4DBF),
    (0x20000, 0x2A6DF),
    (0x2A700, 0x2B73F),
    (0x2B740, 0x2B81F),
    (0x2B820, 0x2CEAF),
    (0xF900, 0xFAFF),
    (0x2F800, 0x2FA1F),
)


class WordPiece:
    """Token ids of a text. `vocabulary` maps pieces to ids; continuations begin with ``##``."""

    def __init__(self, vocabulary: Mapping[str, int], max_tokens: int) -> None:
        self._ids = vocabulary
        self._begin, self._end, self._unknown = (vocabulary[name] for name in ("[CLS]", "[SEP]", "[UNK]"))
        self._room = max_tokens - 2
        self._pieces = lru_cache(maxsize=16_384)(self._cut)

    def ids(self, text: str) -> list[int]:
        """At most `max_tokens` ids, the begin and end marks among them. Never empty."""
        found: list[int] = []
        # No word is shorter than a character: what lies far beyond the room is never looked at.
        for word in _words(text[: self._room * _WORD_CHARS]):
            found += self._pieces(word)
            if len(found) >= self._room:
                break
        return [self._begin, *found[: self._room], self._end]

    def _cut(self, word: str) -> tuple[int, ...]:
        if len(word) > _WORD_CHARS:
            return (self._unknown,)
        pieces: list[int] = []
        start = 0
        while start < len(word):
            prefix = "##" if start else ""
            for end in range(len(word), start, -1):
                piece = self._ids.get(prefix + word[start:end])
                if piece is not None:
                    break
            else:
                return (self._unknown,)
            pieces.append(piece)
            start = end
        return tuple(pieces)


def _words(text: str) -> Iterator[str]:
    """Words and single signs, in lower case, without accents."""
    if text.isascii():
        return iter(_ASCII_WORD.findall(text.translate(_ASCII_CONTROLS).lower()))
    return _unicode_words(text)


def _unicode_words(text: str) -> Iterator[str]:
    spaced = "".join(_spaced(text))
    plain = "".join(c for c in unicodedata.normalize("NFD", spaced) if unicodedata.category(c) != "Mn").lower()
    word = ""
    for char in plain:
        if char.isspace():
            if word:
                yield word
            word = ""
        elif _is_punctuation(char):
            if word:
                yield word
            word = ""
            yield char
        else:
            word += char
    if word:
        yield word


def _spaced(text: str) -> Iterator[str]:
    for char in text:
        if char in "\t\n\r" or unicodedata.category(char) == "Zs":
            yield " "
        elif char in "\0\ufffd" or unicodedata.category(char) in ("Cc", "Cf", "Co"):
            continue
        elif char > "\u2fff" and any(low <= ord(char) <= high for low, high in _CJK):
            yield f" {char} "
        else:
            yield char


def _is_punctuation(char: str) -> bool:
    # ASCII's symbols stand alone too, though Unicode does not call them punctuation.
    return (char.isascii() and not char.isalnum()) or unicodedata.category(char)[0] == "P"
