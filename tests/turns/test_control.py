"""Control messages are told from ordinary ones."""

from datetime import UTC, datetime

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kai.model.events import Choice, ChoiceKind
from kai.model.ids import AskId, TurnId
from kai.model.states import AskState
from kai.model.turns import Question
from kai.turns.control import COMMANDS, Command, Reply, chosen, help_text, meant, narrowest, question_text, recognise

# Odd on purpose: the wide permission first.
CHOICES = (
    Choice("aa", "Always allow", ChoiceKind.ALLOW_ALWAYS),
    Choice("ao", "Allow", ChoiceKind.ALLOW_ONCE),
    Choice("ro", "Reject", ChoiceKind.REJECT_ONCE),
)
WHEN = datetime(2026, 11, 30, tzinfo=UTC)


def a_question(*, free_text: bool = False) -> Question:
    return Question(AskId("q-1"), TurnId("t-1"), "k", "Run?", "rm x", CHOICES, AskState.OPEN, WHEN, WHEN, free_text)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("/stop", Command("stop", "")),
        ("  /STOP  ", Command("stop", "")),
        ("/backend codex gpt-5.5", Command("backend", "codex gpt-5.5")),
        ("/compact", None),
        ("/etc/passwd is a file", None),
        ("please /stop", None),
        ("", None),
        ("yes", None),
    ],
)
def test_commands_are_told_from_words(text: str, expected: Command | None) -> None:
    assert recognise(text, ()) == expected


@pytest.mark.parametrize(
    ("text", "name"),
    [
        *(("/stpo", "stop"), ("/hlep me", "help"), ("/HELPP", "help"), ("/nwe", "new"), ("/modle x", "model")),
        *(("/stop.", "stop"), ("/workspcae a", "workspace"), ("/statsu", "status"), ("/retyr\nnow", "retry")),
        *(("/stop", ""), ("//stpo", ""), (" /stpo", ""), ("/compact", ""), ("/hello there", ""), ("/stpo/x", "")),
        *(("/etc/passwd is a file", ""), ("/", ""), ("", ""), ("stpo", ""), ("/tmp", ""), ("/review", "")),
    ],
)
def test_a_mistyped_command_is_known_by_its_nearness_and_nothing_else_is(text: str, name: str) -> None:
    assert meant(text) == name


@given(st.text())
def test_no_text_is_both_a_command_and_a_mistyped_one(text: str) -> None:
    assert not (isinstance(recognise(text, ()), Command) and meant(text))


@pytest.mark.parametrize(
    ("text", "key"),
    [("yes", "ao"), ("2", "ao"), ("Always allow", "aa"), ("aa", "aa"), ("no.", "ro"), ("3", "ro"), ("deny", "ro")],
)
def test_an_answer_passes_the_queue(text: str, key: str) -> None:
    assert recognise(text, [a_question()]) == Reply(AskId("q-1"), key)


@pytest.mark.parametrize("text", ["what do you mean?", "²", "9" * 5000])
def test_other_words_are_no_answer(text: str) -> None:
    assert recognise(text, [a_question()]) is None


@pytest.mark.parametrize("text", ["4", "0"])
def test_a_number_that_is_no_choice_is_a_wrong_answer_and_no_message(text: str) -> None:
    assert recognise(text, [a_question()]) == Reply(AskId("q-1"), text)


def test_a_question_that_takes_words_takes_any() -> None:
    assert recognise("in blue", [a_question(free_text=True)]) == Reply(AskId("q-1"), "", "in blue")


def test_a_plain_yes_is_never_the_wide_permission_while_a_narrow_one_is_offered() -> None:
    assert chosen("yes", CHOICES) is CHOICES[1]
    assert narrowest(CHOICES[:1], ChoiceKind.ALLOW_ONCE, ChoiceKind.ALLOW_ALWAYS) is CHOICES[0]
    assert narrowest((), ChoiceKind.ALLOW_ONCE) is None


def test_the_help_names_every_command_and_the_backends_own() -> None:
    text = help_text(["/compact"])
    assert all(f"/{name}" in text for name in COMMANDS)
    assert "/compact" in text


def test_a_command_that_kai_takes_is_not_said_to_be_passed_on() -> None:
    assert help_text(["/compact", "/context"]).endswith("Passed on to the backend: /compact")
    assert "Passed on" not in help_text(["/context"])


def test_a_question_shows_its_whole_arguments_and_numbers() -> None:
    argument = "x" * 10_000
    text = question_text("Run?", argument, CHOICES)
    assert argument in text
    assert "2. Allow" in text


@given(st.text())
def test_no_text_upsets_it(text: str) -> None:
    recognise(text, [a_question()])
