"""What a person sees as one character is never cut."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kai.text.graphemes import clusters, cut, is_boundary, shorten

WHOLE = {
    "family": "👨‍👩‍👧‍👦",
    "skin tone": "👍🏽",
    "flag": "🇩🇪",
    "flag of tags": "🏴\U000e0067\U000e0062\U000e0065\U000e006e\U000e0067\U000e007f",
    "keycap": "1️⃣",
    "combining marks": "e\u0301\u0323",
    "variation selector": "❤️",
    "hangul jamo": "각",
    "devanagari conjunct": "क्षि",
    "carriage return and line feed": "\r\n",
    "rainbow flag": "🏳️‍🌈",
}


@pytest.mark.parametrize("sign", WHOLE.values(), ids=list(WHOLE))
def test_a_character_of_several_code_points_is_one_cluster(sign: str) -> None:
    assert list(clusters(f"a{sign}b")) == ["a", sign, "b"]


@pytest.mark.parametrize("sign", WHOLE.values(), ids=list(WHOLE))
def test_a_cut_at_any_length_keeps_every_character_whole(sign: str) -> None:
    text = f"ab{sign}cd"
    for limit in range(1, len(text)):
        assert cut(text, limit) in {"a", "ab", f"ab{sign}", f"ab{sign}c"}


def test_flags_in_a_row_are_cut_between_pairs_only() -> None:
    assert list(clusters("🇩🇪🇫🇷🇮🇹")) == ["🇩🇪", "🇫🇷", "🇮🇹"]


def test_a_line_break_ends_a_character_whatever_follows() -> None:
    assert list(clusters("\n\u0301a\u200d\n")) == ["\n", "\u0301", "a\u200d", "\n"]


def test_a_single_character_longer_than_the_limit_is_cut_all_the_same() -> None:
    assert cut("e" + "\u0301" * 50, 10) == "e" + "\u0301" * 9


@given(st.text())
def test_clusters_joined_are_the_text(text: str) -> None:
    assert "".join(clusters(text)) == text
    assert is_boundary(text, 0)
    assert is_boundary(text, len(text))


@given(st.text(), st.integers(2, 40))
def test_a_shortened_text_is_one_line_within_its_limit(text: str, limit: int) -> None:
    line = shorten(text, limit)
    assert len(line) <= limit
    assert "\n" not in line


def test_a_shortened_text_says_that_something_was_left_out() -> None:
    assert shorten("one two\nthree", 8) == "one two…"
    assert shorten("one\n two", 8) == "one two"
