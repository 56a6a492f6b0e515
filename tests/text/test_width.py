"""Columns on a terminal."""

import pytest

from kai.text.width import pad, width


@pytest.mark.parametrize(
    ("text", "columns"),
    [
        ("abc", 3),
        ("", 0),
        ("日本", 4),
        ("é", 1),
        ("e\u0301", 1),
        ("👨‍👩‍👧", 2),
        ("🇩🇪", 2),
        ("❤️", 2),
        ("ｱ", 1),
        ("a\u200bb", 2),
    ],
)
def test_a_text_takes_the_columns_that_a_terminal_gives_it(text: str, columns: int) -> None:
    assert width(text) == columns


def test_padding_counts_columns_and_not_code_points() -> None:
    assert pad("日本", 6) == "日本  "
    assert pad("long", 2) == "long"
