"""Months and years in questions."""

from datetime import UTC, datetime

import pytest

from kai.memory.dates import named


@pytest.mark.parametrize(
    ("question", "years", "months"),
    [
        ("What did we do in May 2023?", {2023}, {5}),
        ("May I borrow the car?", set(), set()),
        ("Who said it on 7 May?", set(), {5}),
        ("Was war im März 2024 und im Mai?", {2024}, {3, 5}),
        ("What happened in June and July?", set(), {6, 7}),
        ("2026-11-30: what was said?", {2026}, {11}),
        ("2023年5月に何をした", {2023}, {5}),
        ("¿Qué pasó en agosto?", set(), {8}),
        ("my number is 12345 and 20234", set(), set()),
        ("", set(), set()),
        ("marching band", set(), set()),
    ],
)
def test_what_a_question_names(question: str, years: set[int], months: set[int]) -> None:
    found = named(question)
    assert (set(found.years), set(found.months)) == (years, months)


def test_a_moment_lies_in_what_is_named() -> None:
    moment = datetime(2023, 5, 7, tzinfo=UTC)
    assert [named(text).holds(moment) for text in ("in May 2023", "in 2023", "in May 2022", "in June")] == [
        True,
        True,
        False,
        False,
    ]
    assert not named("nothing")


def test_a_million_words_are_read_to_their_bound() -> None:
    assert not named("word " * 1_000_000 + "in May 2023")
