"""How a problem is told."""

import pytest

from kai.settings.problems import ConfigError, FolderError, Place, Problem, did_you_mean, nearest, problem


def test_a_problem_reads_as_file_line_column_path_what_and_what_to_do() -> None:
    found = problem(Place("kai.yaml", 3, 7), "context.now", "it is empty", "give it a value")
    assert found == Problem("kai.yaml", 3, 7, "context.now", "it is empty", "give it a value")
    assert str(found) == "kai.yaml:3:7: context.now: it is empty (give it a value)"
    assert found.place == Place("kai.yaml", 3, 7)


def test_a_problem_of_a_whole_file_has_no_position() -> None:
    assert str(Problem("kai.yaml", 0, 0, "", "there is no such file")) == "kai.yaml: there is no such file"


@pytest.mark.parametrize(
    ("name", "near"),
    [("historyx", "history"), ("max-live", "max_live"), ("Messages", "messages"), ("xyzzy", ""), ("", "")],
)
def test_the_nearest_known_name_is_found_whatever_its_case_and_dashes(name: str, near: str) -> None:
    assert nearest(name, ["history", "max_live", "messages"]) == near


def test_without_a_near_name_all_known_ones_are_told() -> None:
    assert did_you_mean("xyzzy", ["b", "a"]) == "known: a, b"
    assert did_you_mean("histor", ["history"]) == "did you mean 'history'?"
    assert did_you_mean("x", []) == ""


def test_the_errors_are_sentences_with_a_hint() -> None:
    one = ConfigError((Problem("f", 1, 2, "a", "wrong"),))
    assert str(one) == "f:1:2: a: wrong"
    folder = FolderError("/run/kai", "it belongs to user 0, not to user 1", "choose another")
    assert (folder.sentence, folder.hint) == ("/run/kai: it belongs to user 0, not to user 1.", "choose another")
