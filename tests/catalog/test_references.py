"""A backend or an agent definition that is named in the settings is there, or the place of the name is told."""

from kai.catalog.references import unknown_names
from kai.settings.load import Inspection
from tests.settings.conftest import Configure, configure, folders

__all__ = ["configure", "folders"]
BACKENDS, AGENTS = ("claude", "gemini"), ("house",)


def _told(found: Inspection) -> list[str]:
    return [str(problem).rpartition("/")[2] for problem in unknown_names(found, BACKENDS, AGENTS)]


def test_a_name_that_is_not_there_is_told_with_its_place_and_the_nearest_known(configure: Configure) -> None:
    found = configure(
        kai="agent: huose\nbackend: claud\n",
        people="ann: {backend: gemni}\nbob: {backend: claude}\n",
        workspaces="g:\n  path: /g\n  backend: codex\n",
    )
    assert _told(found) == [
        "kai.yaml:2:10: backend: there is no backend 'claud' (did you mean 'claude'?)",
        "kai.yaml:1:8: agent: there is no agent definition 'huose' (did you mean 'house'?)",
        "people.yaml:1:16: persons.ann.backend: there is no backend 'gemni' (did you mean 'gemini'?)",
        "workspaces.yaml:3:12: workspaces.g.backend: there is no backend 'codex' (known: claude, gemini)",
    ]


def test_what_is_there_or_left_open_is_fine(configure: Configure) -> None:
    assert _told(configure(kai="backend: auto\n", people="ann:\n")) == []
    assert _told(configure(kai="backend: 5\n")) == []  # told already


def test_a_default_that_is_not_there_is_told_as_well(configure: Configure) -> None:
    assert [str(each) for each in unknown_names(configure(), BACKENDS, ())] == [
        "kai.yaml: agent: there is no agent definition 'house'"
    ]
