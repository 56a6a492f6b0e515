"""Every version of a definition that was in force can be read as it was."""

from dataclasses import replace

import pytest

from kai.model.context import AgentDefinition, Skill
from kai.model.errors import UnknownThingError
from kai.store import definitions
from tests.store.house import START, House

FIRST = AgentDefinition(
    "pumps", "keep them going", "Be careful.", skills=(Skill("check", "how", "Turn."),), revision="a1"
)
SECOND = replace(FIRST, instructions="Be bold.", revision="b2")


def test_a_version_keeps_its_text_and_the_time_at_which_it_was_seen_first(house: House) -> None:
    definitions.note(house.db, [FIRST], START)
    definitions.note(house.db, [SECOND], house.now)
    definitions.note(house.db, [FIRST], house.now)
    assert [one["revision"] for one in definitions.revisions(house.db, "pumps")] == ["b2", "a1"]
    assert definitions.revisions(house.db, "pumps")[1]["seen_at"] == START
    assert definitions.content(house.db, "pumps", "a")["instructions"] == "Be careful."
    assert definitions.content(house.db, "pumps", "b2")["skills"][0]["body"] == "Turn."


@pytest.mark.parametrize(("name", "revision"), [("pumps", "zz"), ("pumps", ""), ("other", "a1"), ("pumps", "%")])
def test_what_was_never_in_force_is_unknown(house: House, name: str, revision: str) -> None:
    definitions.note(house.db, [FIRST], START)
    with pytest.raises(UnknownThingError):
        definitions.content(house.db, name, revision)
