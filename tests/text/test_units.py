"""Sizes as the chat apps count them."""

from hypothesis import given
from hypothesis import strategies as st

from kai.text.units import code_points, utf8_bytes, utf16_units


def test_an_emoji_is_one_code_point_two_units_and_four_bytes() -> None:
    assert (code_points("😀"), utf16_units("😀"), utf8_bytes("😀")) == (1, 2, 4)


@given(st.text())
def test_the_units_agree_with_the_codecs(text: str) -> None:
    assert utf16_units(text) == len(text.encode("utf-16-le")) // 2
    assert utf8_bytes(text) == len(text.encode())


def test_a_lone_surrogate_is_measured_and_raises_nothing() -> None:
    assert utf8_bytes("\ud83d") == 3
