"""One tokenizer for rows and queries."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kai.store import words


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("The pumps are pumping, again and AGAIN", ["pump", "pump", "again", "again"]),
        ("meter number 4711", ["meter", "number", "4711"]),
        ("C++ don't a_b x.y", ["c", "a_b", "x", "y"]),
        ("\uff21\uff22\uff23 ﬁne Straße", ["abc", "fine", "strass"]),
        ("日本語", ["日本", "本語", "語"]),
        ("水", ["水"]),
        ("see 東京 map", ["see", "東京", "京", "map"]),
        ("นา", ["นา", "า"]),
        ("a\0b\ud800c", ["b", "c"]),
        ("", []),
        ("the of and", []),
    ],
)
def test_text_becomes_words(text: str, expected: list[str]) -> None:
    assert list(words.tokens(text)) == expected


def test_a_lone_unspaced_sign_in_a_query_begins_a_pair() -> None:
    assert list(words.tokens("猫", query=True)) == ["猫*"]
    assert list(words.tokens("黒猫", query=True)) == ["黒猫"]


@given(st.text(), st.booleans())
def test_a_word_holds_nothing_that_a_query_could_mistake(text: str, query: bool) -> None:
    for token in words.tokens(text, query=query):
        assert not set(token.rstrip("*")) & set("\"'():^-+* \0\n\t")
        assert 0 < len(token) <= 70


def test_a_megabyte_costs_no_more_than_its_beginning() -> None:
    assert len(list(words.tokens("word " * 200_000))) == 10_000


def test_a_word_without_end_is_cut() -> None:
    (token,) = words.tokens("x" * 1000)
    assert len(token) == 64


def test_every_channel_has_a_mark_of_its_own() -> None:
    assert words.mark(1) + "2_x" != words.mark(12) + "_x"
