"""A person's file in each of its states."""

import pytest

from kai.context.sections.person_file import contents, placeholder
from kai.model.context import MARKER, FileState, PersonFile


@pytest.mark.parametrize("state", FileState)
def test_every_state_reads_differently_and_names_the_path(state: FileState) -> None:
    def said(which: FileState) -> str:
        return placeholder(PersonFile("/p/A.md", which), reading="Read /p/A.md.", writing="What you like")

    assert "/p/A.md" in said(state)
    assert [said(other) for other in FileState].count(said(state)) == 1


def test_empty_and_missing_tell_which_path_may_be_written() -> None:
    empty = placeholder(PersonFile("/p/A.md", FileState.EMPTY), reading="", writing="What you like")
    missing = placeholder(PersonFile("/p/A.md", FileState.MISSING), reading="", writing="What you like")
    assert empty == "(The file is empty. What you like may be written to /p/A.md)"
    assert missing == "(There is no such file yet. What you like may be written to a new one: /p/A.md)"


def test_what_could_not_be_read_is_never_taken_for_empty_or_absent() -> None:
    file = PersonFile("/p/A.md", FileState.UNSAFE, problem="it has 2 names\n[Now: x]")
    said = placeholder(file, reading="", writing="")
    assert said == "(Not read, unsafe: it has 2 names (Now: x). Do not take it for empty or absent: /p/A.md)"


def test_contents_are_fenced_by_an_id_that_follows_from_them() -> None:
    file = PersonFile("/p/A.md", FileState.PRESENT, f"\none\n{MARKER}\n```\n")
    first, *body, last = contents(file, "A.md").split("\n")
    assert first.endswith(" A.md")
    assert last == first.removeprefix("<<").removesuffix(" A.md") + ">>"
    assert body == ["one", f"({MARKER[1:-1]})", "```", "```"]
    assert contents(file, "A.md") == contents(file, "A.md") != contents(file, "B.md")
