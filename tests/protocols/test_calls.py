"""Tool calls as people see them."""

import pytest

from kai.model.events import ChoiceKind
from kai.protocols.calls import arguments_of, content_text, once_or_not, target_of


@pytest.mark.parametrize(
    ("arguments", "target"),
    [
        ({"command": "ls\n-l", "description": "list"}, "ls -l"),
        ({"file_path": "/a"}, "/a"),
        ({"filePath": "/b"}, "/b"),
        ({"query": "q", "prompt": "p"}, "q"),
        ({"command": None, "path": "/c"}, "/c"),
        ({"unknown": 1}, ""),
        (None, ""),
        ([], ""),
        ("text", ""),
    ],
)
def test_the_target_of_a_call_is_one_telling_line(arguments: object, target: str) -> None:
    assert target_of(arguments) == target


def test_the_target_is_bounded() -> None:
    assert len(target_of({"command": "x" * 10_000})) == 200


def test_a_person_sees_the_whole_arguments() -> None:
    whole = arguments_of({"command": "x" * 10_000, "deep": {"a": [1, "é"]}})
    assert "x" * 10_000 in whole
    assert '"é"' in whole
    assert arguments_of({}) == arguments_of(None) == ""
    assert arguments_of([1]) == "[\n  1\n]"


@pytest.mark.parametrize(
    ("content", "said"),
    [
        ("plain", "plain"),
        ([{"type": "text", "text": "a"}, {"type": "text", "text": "b"}], "a\nb"),
        ([{"type": "content", "content": {"type": "text", "text": "wrapped"}}], "wrapped"),
        ({"type": "text", "text": "block"}, "block"),
        ([{"type": "image"}, None, 7, "x"], ""),
        (None, ""),
        ({"content": {"content": {"content": "deep"}}}, ""),
    ],
)
def test_the_text_of_content_in_its_shapes(content: object, said: str) -> None:
    assert content_text(content) == said


def test_the_usual_choices_have_a_wider_one_only_where_there_is_one() -> None:
    assert [choice.kind for choice in once_or_not()] == [ChoiceKind.ALLOW_ONCE, ChoiceKind.REJECT_ONCE]
    assert [choice.kind for choice in once_or_not("always")][1] is ChoiceKind.ALLOW_ALWAYS
