"""Sizes as the chat apps count them."""

from hypothesis import given
from hypothesis import strategies as st

from kai.text.units import code_points, utf16_units


def test_an_emoji_is_one_code_point_and_two_units() -> None:
    assert (code_points("😀"), utf16_units("😀")) == (1, 2)


@given(st.text())
def test_the_units_agree_with_the_codec(text: str) -> None:
    assert utf16_units(text) == len(text.encode("utf-16-le")) // 2


def test_a_lone_surrogate_is_measured_and_raises_nothing() -> None:
    assert utf16_units("\ud83d") == 1
