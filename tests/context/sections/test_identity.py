"""The agent's identity away from home."""

from kai.context.sections.identity import draft
from kai.model.context import FileState
from tests.context.examples import facts, foreign


def test_away_from_home_the_identity_goes_along_and_at_home_the_cli_finds_it_by_itself() -> None:
    found = draft(foreign(facts()))
    assert found is not None
    assert found.text(found.items).startswith("[Your core identity and instructions:]\n<<k")
    assert "You look after the garden." in found.text(found.items)
    assert draft(facts(identity=foreign(facts()).identity)) is None
    assert draft(facts(home=False)) is None


def test_a_deferred_identity_is_to_be_read_first() -> None:
    found = draft(foreign(facts(), FileState.DEFERRED))
    assert found is not None
    text = found.text(found.items)
    assert text.endswith("\nRead this file before you answer: /var/lib/kai/homes/p-5d1/AGENTS.md")
