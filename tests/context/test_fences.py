"""Fences: ids that nobody can guess, and code that does not swallow what follows."""

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kai.context.fences import ID_LENGTH, close_code, fence_id, fenced


def test_an_id_follows_from_its_source_and_from_nothing_else() -> None:
    assert fence_id("a") == fence_id("a") != fence_id("b")
    assert re.fullmatch("k[0-9a-f]{12}", fence_id("\ud800"))
    assert len(fence_id("")) == ID_LENGTH


def test_a_fence_opens_and_closes_on_lines_of_its_own() -> None:
    assert fenced("k0123456789ab", "record m-1", "one\ntwo") == "<<k0123456789ab record m-1\none\ntwo\nk0123456789ab>>"


@pytest.mark.parametrize(
    ("text", "closed"),
    [
        ("```python\nx = 1", "```python\nx = 1\n```"),
        ("~~~~\n~~~\nx", "~~~~\n~~~\nx\n~~~~"),
        ("```\n~~~\n```\nx", "```\n~~~\n```\nx"),
        ("``` `inline` ```\nx", "``` `inline` ```\nx"),
        ("```\n```python\nx", "```\n```python\nx\n```"),
        ("    ```\nindented code is no fence", "    ```\nindented code is no fence"),
        ("a ``` in a line", "a ``` in a line"),
    ],
)
def test_half_a_code_fence_is_closed_so_that_it_swallows_nothing(text: str, closed: str) -> None:
    assert close_code(text) == closed


@given(st.lists(st.sampled_from(["```", "````", "~~~", "```x", "text", "", "   ```", "`"])).map("\n".join))
def test_what_is_closed_stays_closed(text: str) -> None:
    assert close_code(close_code(text)) == close_code(text)
