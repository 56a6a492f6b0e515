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


@dataclass(frozen=True, slots=True)
class Why:
    """A setting's dotted name, its value as text, and where it came from."""

    setting: str
    value: str
    source: str


@dataclass(frozen=True, slots=True)
class Choices:
    """What was chosen for a place to talk; None and empty fields say nothing."""

    person: PersonEntry | None = None
    workspace: Workspace | None = None
    by_channel: Preference = field(default_factory=Preference)
    by_person: Preference = field(default_factory=Preference)
    record_permissions: str = ""  # the person's own choice, within the ceiling


def explain(found: Inspection) -> tuple[Why, ...]:
    """Every setting of the three files with its value and its source (``kai.yaml:3:1``, or "default")."""
    settings = found.settings or Settings()
    said = list(_leaves(settings, "", found.places))
    for prefix, entries in (("persons", settings.persons), ("workspaces", settings.workspaces)):
        for entry in entries:
            said += _leaves(entry, f"{prefix}.{entry.name}.", found.places)
    return tuple(said)


def explain_choices(
    settings: Settings, choices: Choices, *, automatic: str, manifests: Mapping[str, Manifest]
) -> tuple[Why, ...]:
    """Backend, model, effort, agent and permissions for a place to talk. `automatic`: what "auto" stands for now."""
    person, workspace = choices.person or PersonEntry(), choices.workspace or Workspace(path="")
    ours, own = choices.by_channel, choices.by_person
    backend = first(
        "backend",
        ("people.yaml (ceiling)", person.backend),
        ("channel's choice", ours.backend),
        ("workspace", workspace.backend),
        ("person's choice", own.backend),
        ("kai.yaml", settings.backend),
    )
    if backend.value == "auto":
        backend = Why("backend", automatic, f"{backend.source}: auto, the first that is installed and logged in")
    manifest = manifests.get(backend.value)
    # What was chosen together with another backend is no choice for this one.
    fitting = {
        source: choice if choice.backend in ("", backend.value) else Preference()
        for source, choice in (("channel's choice", ours), ("person's choice", own))
    }
    return (
        backend,
        first(
            "model",
            *((source, choice.model) for source, choice in fitting.items()),
            ("backend's default", manifest.default_model if manifest else ""),
        ),
        first("effort", *((source, choice.effort) for source, choice in fitting.items())),
        first("agent", ("channel's choice", ours.agent), ("person's choice", own.agent), ("kai.yaml", settings.agent)),
        first(
            "permissions",
            ("people.yaml (ceiling)", person.permissions),
            ("person's choice", choices.record_permissions),
            ("kai.yaml", settings.permissions),
        ),
    )


def first(setting: str, *rungs: tuple[str, str]) -> Why:
    """The first rung (source, value) that says something; else the backend CLI's own default."""
    return next((Why(setting, value, source) for source, value in rungs if value), Why(setting, "", "the CLI's own"))


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
