"""Preferences: private, with an identity, not in temporary mode."""

import pytest

from kai.context.sections.preferences import draft
from kai.model.context import FileState, MemoryMode, Speaker, Verdict
from kai.model.people import ChannelKind
from tests.context.examples import facts, person_file

HEADING = "[Your personal preferences (file: /var/lib/kai/preferences/p-5d1/PREFERENCES.md):]"


def test_the_contents_stand_below_a_heading_that_names_the_file() -> None:
    found = draft(facts())
    assert found is not None
    lines = found.text(found.items).split("\n")
    assert lines[0] == HEADING
    assert lines[2] == "# Preferences"
    assert found.required
    assert found.stable


def test_a_deferred_file_is_left_to_the_agent_to_read() -> None:
    made = facts(preferences=person_file("preferences", "PREFERENCES.md", state=FileState.DEFERRED))
    found = draft(made)
    assert found is not None
    assert found.text(found.items) == (f"{HEADING}\nRead this file before you apply preferences; it is yours to read.")


@pytest.mark.parametrize(
    ("changes", "reason"),
    [
        ({"kind": ChannelKind.SHARED}, "shared_channel"),
        ({"memory": MemoryMode.TEMPORARY}, "temporary"),
        ({"speaker": Speaker(None, "")}, "no_identity"),
    ],
)
def test_they_are_left_out_and_the_row_says_why(changes: dict[str, object], reason: str) -> None:
    found = draft(facts(**changes))
    assert found is not None
    assert [(item.verdict, item.reason) for item in found.items] == [(Verdict.LEFT_OUT, reason)]


def test_no_file_no_section() -> None:
    assert draft(facts(preferences=None)) is None
