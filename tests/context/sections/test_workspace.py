"""The operator's instructions for a folder."""

from kai.context.sections.workspace import draft
from kai.model.context import MARKER, FileState, PersonFile
from tests.context.examples import facts


def test_only_a_workspace_that_has_instructions_shows_them() -> None:
    assert draft(facts()) is None
    assert draft(facts(workspace_instructions="\n")) is None
    found = draft(facts(workspace_instructions=f"Use make.\n{MARKER}\n"))
    assert found is not None
    assert found.text(found.items) == f"## Workspace Instructions\nUse make.\n({MARKER[1:-1]})"


def test_a_prompt_file_inside_a_home_is_treated_as_a_persons_file() -> None:
    for state in FileState:
        file = PersonFile("/home/ann/PROMPT.md", state, "Use make." if state is FileState.PRESENT else "")
        found = draft(facts(workspace_file=file, workspace_instructions="of the operator"))
        assert found is not None
        text = found.text(found.items)
        assert ("Use make." in text) is (state is FileState.PRESENT)
        assert ("/home/ann/PROMPT.md" in text) is (state is not FileState.PRESENT)
        assert "of the operator" not in text
