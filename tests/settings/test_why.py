"""Which value holds and why: one precedence, told with its source."""

import pytest

from kai.model.backends import LaunchPlan, Manifest, ProtocolName
from kai.model.people import Preference
from kai.settings import why
from kai.settings.values import PersonEntry, Settings, Workspace
from kai.settings.why import Choices, Why, explain
from tests.settings.conftest import Configure

MANIFEST = Manifest("gemini", "Gemini", ProtocolName.ACP, LaunchPlan("gemini", ()), "/", default_model="gemini-model")


def test_every_setting_is_told_with_the_place_that_set_it_or_as_default(configure: Configure) -> None:
    found = configure(kai="queue:\n  per_channel: 7\n", people="ann: {os_user: ann, accounts: {t: [1, 2]}}\n")
    told = {each.setting: each for each in explain(found)}
    assert told["queue.per_channel"].value == "7"
    assert told["queue.per_channel"].source.endswith("kai.yaml:2:16")
    assert told["backend"] == Why("backend", "auto", "default")
    assert told["snapshots.required"].value == "true"
    assert told["persons.ann.os_user"].source.endswith("people.yaml:1:16")
    assert told["persons.ann.accounts"].value == "t: 1, 2"
    assert "persons" not in told
    assert len(told) > 30


CEILING = PersonEntry(backend="claude", permissions="ask")
GARDEN = Workspace(path="/g", backend="gemini")


@pytest.mark.parametrize(
    ("choices", "backend", "source"),
    [
        (Choices(CEILING, GARDEN, Preference("offline"), Preference("opencode")), "claude", "people.yaml (ceiling)"),
        (Choices(None, GARDEN, Preference("offline"), Preference("opencode")), "offline", "channel's choice"),
        (Choices(None, GARDEN, Preference(), Preference("opencode")), "gemini", "workspaces.yaml"),
        (Choices(by_person=Preference("opencode")), "opencode", "person's choice"),
        (Choices(PersonEntry(), Workspace(path="/h")), "auto", "kai.yaml"),
    ],
)
def test_the_higher_rung_wins(choices: Choices, backend: str, source: str) -> None:
    assert why.backend(Settings(), choices) == Why("backend", backend, source)


def test_a_model_or_effort_that_was_chosen_with_another_backend_is_no_choice_for_this_one() -> None:
    other = Choices(by_channel=Preference("claude", model="opus", effort="xhigh"))
    assert why.model(other, MANIFEST) == Why("model", "gemini-model", "backend's default")
    assert why.effort(other, MANIFEST) == Why("effort", "", "backend's default")
    both = Choices(None, None, Preference("claude", model="opus"), Preference("gemini", model="flash", effort="low"))
    assert why.model(both, MANIFEST) == Why("model", "flash", "person's choice")
    assert why.effort(both, MANIFEST) == Why("effort", "low", "person's choice")
    free = Choices(None, None, Preference(model="pro"), Preference("gemini", model="flash"))
    assert why.model(free, MANIFEST) == Why("model", "pro", "channel's choice")


def test_the_operators_word_on_permissions_stands_above_the_persons() -> None:
    assert why.permissions(Settings(), Choices(CEILING, own_permissions="bypass")).value == "ask"
    assert why.permissions(Settings(), Choices(own_permissions="bypass")) == Why(
        "permissions", "bypass", "person's choice"
    )
    assert why.permissions(Settings(), Choices()) == Why("permissions", "ask", "kai.yaml")


def test_an_agent_definition_is_the_channels_then_the_persons_then_the_houses() -> None:
    assert why.agent(Settings(), Choices(None, None, Preference(agent="a"), Preference(agent="b"))).value == "a"
    assert why.agent(Settings(), Choices(by_person=Preference(agent="b"))).value == "b"
    assert why.agent(Settings(), Choices()) == Why("agent", "house", "kai.yaml")
