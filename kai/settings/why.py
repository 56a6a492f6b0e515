"""Which value holds, and why: operator's ceiling > channel's choice > workspace > person's choice > default."""

from collections.abc import Mapping
from dataclasses import dataclass, field, fields, is_dataclass
from typing import Any

from kai.model.backends import Manifest
from kai.model.people import Preference
from kai.settings.load import Inspection
from kai.settings.problems import Place
from kai.settings.values import PersonEntry, Settings, Workspace

DEFAULT = "default"
CEILING = "people.yaml (ceiling)"
CHANNEL = "channel's choice"
WORKSPACE = "workspaces.yaml"
PERSON = "person's choice"
SETTING = "kai.yaml"
BACKEND = "backend's default"


@dataclass(frozen=True, slots=True)
class Why:
    """A setting's dotted name, its value as text, and where it came from."""

    setting: str
    value: str
    source: str


@dataclass(frozen=True, slots=True)
class Choices:
    """What was chosen for a place to talk; None and empty fields say nothing. `ceiling` is the entry of people.yaml."""

    ceiling: PersonEntry | None = None
    workspace: Workspace | None = None
    by_channel: Preference = field(default_factory=Preference)
    by_person: Preference = field(default_factory=Preference)
    own_permissions: str = ""


def explain(found: Inspection) -> tuple[Why, ...]:
    """Every setting of the three files with its value and its source (``kai.yaml:3:1``, or "default")."""
    settings = found.settings or Settings()
    said = _leaves(settings, "", found.places)
    for prefix, entries in (("persons", settings.persons), ("workspaces", settings.workspaces)):
        for entry in entries:
            said += _leaves(entry, f"{prefix}.{entry.name}.", found.places)
    return tuple(said)


def backend(settings: Settings, choices: Choices) -> Why:
    """The backend for a place to talk, or "auto"."""
    return _first(
        "backend",
        (CEILING, choices.ceiling.backend if choices.ceiling else ""),
        (CHANNEL, choices.by_channel.backend),
        (WORKSPACE, choices.workspace.backend if choices.workspace else ""),
        (PERSON, choices.by_person.backend),
        (SETTING, settings.backend),
    )


def agent(settings: Settings, choices: Choices) -> Why:
    """The name of the agent definition."""
    ladder = ((CHANNEL, choices.by_channel.agent), (PERSON, choices.by_person.agent), (SETTING, settings.agent))
    return _first("agent", *ladder)


def permissions(settings: Settings, choices: Choices) -> Why:
    """ "ask" or "bypass"."""
    ceiling = choices.ceiling.permissions if choices.ceiling else ""
    ladder = ((CEILING, ceiling), (PERSON, choices.own_permissions), (SETTING, settings.permissions))
    return _first("permissions", *ladder)


def model(choices: Choices, manifest: Manifest) -> Why:
    """The model for a backend. One that was chosen together with another backend is no choice for this one."""
    chosen = ((source, each.model) for source, each in _fitting(choices, manifest))
    return _first("model", *chosen, (BACKEND, manifest.default_model))


def effort(choices: Choices, manifest: Manifest) -> Why:
    """The effort, likewise; empty: the CLI's own."""
    return _first("effort", *((source, each.effort) for source, each in _fitting(choices, manifest)))


def _fitting(choices: Choices, manifest: Manifest) -> list[tuple[str, Preference]]:
    both = ((CHANNEL, choices.by_channel), (PERSON, choices.by_person))
    return [(source, each) for source, each in both if each.backend in ("", manifest.id)]


def _first(setting: str, *rungs: tuple[str, str]) -> Why:
    return next((Why(setting, value, source) for source, value in rungs if value), Why(setting, "", BACKEND))


def _leaves(value: Any, prefix: str, places: Mapping[str, Place]) -> list[Why]:
    said: list[Why] = []
    for setting in fields(value):
        if setting.metadata.get("filled_in"):
            continue
        each, path = getattr(value, setting.name), prefix + setting.name
        if is_dataclass(each):
            said += _leaves(each, path + ".", places)
        else:
            said.append(Why(path, _text(each), str(places[path]) if path in places else DEFAULT))
    return said


def _text(value: Any) -> str:
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, tuple):
        return ", ".join(map(str, value))
    if isinstance(value, Mapping):
        return "; ".join(f"{key}: {_text(each)}" for key, each in value.items())
    return str(value)
