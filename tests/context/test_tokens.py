"""The estimate of tokens."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kai.context.tokens import estimate

# A text twenty times over, and what the tokenizers of Claude, of GPT-4 and of GPT-4o count in it.
COUNTED = {
    "The pump schedule is stored in flash, so it survives a power cut. ": (301, 301, 301),
    "for index, item in enumerate(items):\n    total += item.size_bytes * 2\n": (400, 360, 360),
    "Die Bewässerung läuft weiter, auch wenn der Strom für einen Augenblick ausfällt. ": (541, 461, 381),
    "水泵按照存储在闪存中的时间表运行。请检查在调整时钟之后会发生什么。": (620, 740, 500),
    '{"id": 17, "value": 0.1839, "name": "item-17"}, ': (421, 461, 461),
}


@pytest.mark.parametrize("text", COUNTED)
def test_the_estimate_with_its_margin_is_on_the_safe_side_and_not_far_off(text: str) -> None:
    for counted in COUNTED[text]:
        assert counted <= estimate(text * 20) * 1.2 <= counted * 2.2


@given(st.text(), st.text())
def test_two_texts_joined_are_never_more_than_apart_nor_less_than_one(a: str, b: str) -> None:
    assert estimate(a) <= estimate(a + b) <= estimate(a) + estimate(b)


def test_nothing_is_no_token_and_any_sign_is_at_least_one() -> None:
    assert estimate("") == 0
    assert estimate(" ") == estimate("é") == estimate("\ud800") == 1
