"""A manifest's file holds exactly what the model's manifest needs."""

from dataclasses import asdict, fields

from kai.catalog.shapes import (
    AgentShape,
    CanShape,
    LaunchShape,
    LimitsShape,
    LoginShape,
    ManifestShape,
    PolicyShape,
    SkillShape,
)
from kai.model.agents import AgentDefinition, Policy, Skill
from kai.model.backends import Can, LaunchPlan, Limits, Login, Manifest


def _names(cls: type) -> set[str]:
    return {field.name for field in fields(cls)}


def test_a_manifest_can_say_everything_but_its_id_and_folder_which_follow_from_where_it_stands() -> None:
    not_offered = {"home_files"}  # nothing seeds files yet: a manifest that lists some would promise what nobody does
    assert _names(ManifestShape) == _names(Manifest) - {"id", "folder"} - not_offered
    assert _names(LaunchShape) == _names(LaunchPlan)


def test_a_section_is_the_models_own() -> None:
    for shape, model in ((CanShape, Can), (LimitsShape, Limits), (LoginShape, Login)):
        assert fields(shape) == fields(model) or _names(shape) == _names(model)
        assert issubclass(shape, model)


def test_a_definition_can_say_everything_but_its_name_and_revision() -> None:
    assert _names(AgentShape) == _names(AgentDefinition) - {"name", "revision"}
    assert _names(SkillShape) == _names(Skill)
    assert asdict(PolicyShape()) == asdict(Policy())
