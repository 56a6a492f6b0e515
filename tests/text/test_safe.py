"""What somebody else wrote can show itself on a terminal and do nothing."""

import time
import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kai.text.safe import safe

HARMLESS = {
    "colour": ("\x1b[31mred\x1b[0m", "red"),
    "cursor and clear": ("a\x1b[2J\x1b[1;1Hb", "ab"),
    "one-byte colour": ("\x9b31mred", "red"),
    "window title": ("\x1b]0;owned\x07x", "x"),
    "clipboard": ("\x1b]52;c;ZXZpbA==\x1b\\x", "x"),
    "device string": ("\x1bPq#0\x1b\\x", "x"),
    "title that never ends": ("\x1b]0;the answer", "0;the answer"),
    "lone escape at the end": ("x\x1b", "x"),
    "bell and backspace": ("a\x07b\x08c", "abc"),
    "carriage return that overwrites": ("rm -rf /\rls      ", "rm -rf /ls      "),
    "windows line end": ("a\r\nb", "a\nb"),
    "tab and line feed stay": ("a\tb\nc", "a\tb\nc"),
    "right-to-left override": ("abc\u202edef", "abc<U+202E>def"),
    "isolate": ("\u2066x\u2069", "<U+2066>x<U+2069>"),
    "zero-width space": ("pass\u200bword", "pass<U+200B>word"),
    "line separator": ("a\u2028b", "a<U+2028>b"),
    "hidden tag text": ("hi\U000e0041\U000e0042", "hi<U+E0041><U+E0042>"),
    "a flag made of tags stays": ("🏴\U000e0067\U000e007f", "🏴\U000e0067\U000e007f"),
    "emoji family stays": ("👨‍👩‍👧", "👨‍👩‍👧"),
    "arabic stays": ("سلام", "سلام"),
    "halves of a pair are joined": ("\ud83d\ude00", "😀"),
    "a lone half is replaced": ("a\ud83db", "a\ufffdb"),
    "NUL": ("a\x00b", "ab"),
}


@pytest.mark.parametrize(("text", "shown"), HARMLESS.values(), ids=list(HARMLESS))
def test_text_is_made_harmless(text: str, shown: str) -> None:
    assert safe(text) == shown


@given(st.text(st.characters(exclude_categories=()) | st.sampled_from("\x1b[]0;m\x07\x9b\u202e\u2066\U000e0041")))
def test_no_text_at_all_leaves_a_control_character(text: str) -> None:
    shown = safe(text)
    shown.encode()
    assert not [sign for sign in shown if unicodedata.category(sign) == "Cc" and sign not in "\n\t"]
    assert not [sign for sign in shown if unicodedata.bidirectional(sign) in {"RLO", "LRO", "RLE", "LRE", "RLI", "LRI"}]


@given(st.text(st.characters(exclude_categories=())))
def test_making_harmless_text_harmless_changes_nothing(text: str) -> None:
    assert safe(safe(text)) == safe(text)


def test_many_sequences_that_never_end_take_no_noticeable_time() -> None:
    for begins in ("\x90", "\x9da", "\x1b]", "\x1b["):
        start = time.process_time()
        safe(begins * 50_000)
        assert time.process_time() - start < 1
