"""Which sentences tell something lasting of whoever writes them."""

import pytest

from kai.memory.learning import MOST, statements
from kai.model.memory import Kind


@pytest.mark.parametrize(
    ("text", "kind"),
    [
        ("Please always answer in German.", Kind.PREFERENCE),
        ("I don't like long answers.", Kind.PREFERENCE),
        ("From now on, name the source.", Kind.PREFERENCE),
        ("My sister lives in Ulm.", Kind.FACT),
        ("I'm allergic to nuts!", Kind.FACT),
        ("We have two cats.", Kind.FACT),
        ("Meine Schwester wohnt in Ulm.", Kind.FACT),
    ],
)
def test_a_statement_is_taken_word_for_word(text: str, kind: Kind) -> None:
    assert statements(f"Hello there. {text} What now?") == ((kind, text),)


@pytest.mark.parametrize(
    "text",
    [
        "Is my sister living in Ulm?",
        "I have a question about it.",
        "I am going home.",
        "> My sister lives in Ulm.",
        "```\nmy key is blue\n```",
        "The pump is loud.",
        "My `x` is 7 today.",
        "my " + "very " * 80 + "old house is red.",
    ],
)
def test_questions_quotes_code_and_what_is_of_no_known_form_are_not(text: str) -> None:
    assert statements(text) == ()


def test_of_one_message_only_the_first_few() -> None:
    assert len(statements("My house is red.\n" * 9)) == MOST
