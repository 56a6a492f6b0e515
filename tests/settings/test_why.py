"""Which value holds and why: one precedence, told with its source."""

import pytest

from kai.model.backends import LaunchPlan, Manifest, ProtocolName
from kai.model.people import Preference
from kai.settings.values import PersonEntry, Settings, Workspace
from kai.settings.why import Choices, Why, explain, explain_choices, first
from tests.settings.conftest import Configure

MANIFESTS = {
    name: Manifest(name, name, ProtocolName.ACP, LaunchPlan(name, ()), "/", default_model=f"{name}-model")
    for name in ("claude", "gemini", "offline")
}


def _chosen(choices: Choices, settings: Settings | None = None) -> dict[str, tuple[str, str]]:
    told = explain_choices(settings or Settings(), choices, automatic="offline", manifests=MANIFESTS)
    return {why.setting: (why.value, why.source) for why in told}


def test_every_setting_is_told_with_the_place_that_set_it_or_as_default(configure: Configure) -> None:
    found = configure(kai="queue:\n  per_channel: 7\n", people="ann: {os_user: ann, accounts: {t: [1, 2]}}\n")
    told = {why.setting: why for why in explain(found)}
    assert told["queue.per_channel"].value == "7"
    assert told["queue.per_channel"].source.endswith("kai.yaml:2:16")
    assert told["backend"] == Why("backend", "auto", "default")
    assert told["snapshots.required"].value == "true"
    assert told["persons.ann.os_user"].source.endswith("people.yaml:1:16")
    assert told["persons.ann.accounts"].value == "t: 1, 2"
    assert "persons" not in told
    assert len(told) > 30


_EVERYTHING = Choices(
    person=PersonEntry(backend="claude"),
    workspace=Workspace(path="/g", backend="gemini"),
    by_channel=Preference(backend="offline"),
    by_person=Preference(backend="gemini"),
)


@pytest.mark.parametrize(
    ("choices", "backend", "source"),
    [
        (_EVERYTHING, "claude", "people.yaml (ceiling)"),
        (
            Choices(None, _EVERYTHING.workspace, _EVERYTHING.by_channel, _EVERYTHING.by_person),
            "offline",
            "channel's choice",
        ),
        (Choices(None, _EVERYTHING.workspace, Preference(), Preference(backend="claude")), "gemini", "workspace"),
        (Choices(by_person=Preference(backend="gemini")), "gemini", "person's choice"),
        (Choices(), "offline", "kai.yaml: auto, the first that is installed and logged in"),
    ],
)
def test_the_higher_rung_wins(choices: Choices, backend: str, source: str) -> None:
    assert _chosen(choices)["backend"] == (backend, source)


def test_a_model_that_was_chosen_with_another_backend_is_no_choice_for_this_one() -> None:
    choices = Choices(
        workspace=Workspace(path="/g", backend="gemini"),
        by_channel=Preference(backend="claude", model="opus", effort="high"),
        by_person=Preference(model="anything"),
    )
    forced = _chosen(Choices(person=PersonEntry(backend="gemini"), by_channel=choices.by_channel))
    assert forced["model"] == ("gemini-model", "backend's default")
    assert forced["effort"] == ("", "the CLI's own")
    assert _chosen(choices)["model"] == ("opus", "channel's choice")
    assert _chosen(Choices(by_person=Preference(model="m")))["model"] == ("m", "person's choice")


def test_the_operators_word_on_permissions_stands_above_the_persons() -> None:
    assert _chosen(Choices(person=PersonEntry(permissions="ask"), record_permissions="bypass"))["permissions"] == (
        "ask",
        "people.yaml (ceiling)",
    )
    assert _chosen(Choices(record_permissions="bypass"))["permissions"] == ("bypass", "person's choice")
    assert _chosen(Choices())["permissions"] == ("ask", "kai.yaml")


def test_nothing_said_is_the_clis_own() -> None:
    assert first("model", ("a", ""), ("b", "")) == Why("model", "", "the CLI's own")
