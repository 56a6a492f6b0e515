"""`load`: the config folder as one frozen value, or every problem of every file at once."""

import os
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TypeVar

from kai.settings import checks
from kai.settings.files import children, read
from kai.settings.problems import ConfigError, Place, Problem, did_you_mean, problem
from kai.settings.schema import validated
from kai.settings.values import PersonEntry, Settings, UpstreamEntry, Workspace
from kai.settings.where import Folders
from kai.settings.yaml_marks import MAX_BYTES, KeyPath, Marked, dotted, parse

_Entry = TypeVar("_Entry", PersonEntry, UpstreamEntry, Workspace)
KNOWN_FILES = ("kai.yaml", "people.yaml", "workspaces.yaml", "egress.yaml")


@dataclass(frozen=True, slots=True)
class Inspection:
    """All that was found. `settings` is None exactly when there are problems.

    `places`: where a value was set, by dotted path; entries of the siblings as ``persons.NAME…``, ``workspaces.NAME…``.
    """

    settings: Settings | None
    problems: tuple[Problem, ...]
    places: Mapping[str, Place] = field(default_factory=dict)
    named: Mapping[str, str] = field(default_factory=dict)  # backends and agents, by path: of bad settings, too


def load(folders: Folders) -> Settings:
    """Read kai.yaml, people.yaml and workspaces.yaml (each optional). Raises `ConfigError` with all problems."""
    found = inspect(folders)
    if found.settings is None:
        raise ConfigError(found.problems)
    return found.settings


def inspect(folders: Folders) -> Inspection:
    """As `load`, but problems are returned, with the place of every value that a file sets."""
    problems = _folder_problems(folders)
    marked = {name: read_marked(folders.config / name) for name in KNOWN_FILES}
    settings = validated(Settings, marked["kai.yaml"])
    checks.settings(settings, marked["kai.yaml"])
    persons = _entries(PersonEntry, marked["people.yaml"])
    checks.persons(persons, marked["people.yaml"])
    workspaces = _entries(Workspace, marked["workspaces.yaml"])
    checks.upstreams(_entries(UpstreamEntry, marked["egress.yaml"]), marked["egress.yaml"])
    prompted = checks.workspaces(workspaces, marked["workspaces.yaml"], folders.config, settings)
    problems += [each for file in marked.values() for each in file.problems]
    prefixes: dict[str, KeyPath] = {name: (name.removesuffix(".yaml"),) for name in KNOWN_FILES}
    prefixes |= {"kai.yaml": (), "people.yaml": ("persons",)}
    places = {
        dotted((*prefixes[name], *path)): place
        for name, file in marked.items()
        for path, place in file.values.items()
        if path
    }
    if problems or settings is None:
        named = {
            dotted((*prefixes[name], *path)): str(file.at(path))
            for name, file in marked.items()
            for path in file.values
            if path[-1:] in (("backend",), ("agent",)) and len(path) == len(prefixes[name]) + 1
            if not file.is_bad(path)
        }
        return Inspection(None, in_order(problems), places, named)
    return Inspection(replace(settings, persons=tuple(persons.values()), workspaces=prompted), (), places)


def egress(folders: Folders) -> tuple[dict[str, UpstreamEntry], dict[str, Place]]:
    """What ``egress.yaml`` lists, and where: the one file that ``kai egress`` reads. Raises `ConfigError`."""
    marked = read_marked(folders.config / "egress.yaml", optional=False)
    found = _entries(UpstreamEntry, marked)
    checks.upstreams(found, marked)
    if marked.problems:
        raise ConfigError(tuple(marked.problems))
    return found, {str(path[0]): place for path, place in marked.values.items() if path}


def in_order(problems: Iterable[Problem]) -> tuple[Problem, ...]:
    """Problems as they are met when the files are read from the top."""
    return tuple(sorted(problems, key=lambda each: (each.file, each.line, each.column)))


def read_marked(path: Path, *, optional: bool = True) -> Marked:
    """A YAML file with its marks; an absent optional one is empty. Problems of reading stand in it, too."""
    source = read(path, optional=optional, max_bytes=MAX_BYTES)
    if isinstance(source, bytes):
        return parse(source, str(path))
    return Marked(str(path), {}, problems=[source], bad={()}) if source else Marked(str(path), {})


def _entries(cls: type[_Entry], marked: Marked) -> dict[str, _Entry]:
    """The entries of a file that maps names to mappings; those with problems are left out."""
    if not isinstance(marked.data, dict):
        marked.add((), "this must be a mapping of names", "begin with 'NAME:' and indent what belongs to it")
        return {}
    entries: dict[str, _Entry] = {}
    for name, data in marked.data.items():
        if data is None:  # a name with nothing below it
            marked.data[name] = {}
        entry = validated(cls, marked, (name,))
        if entry is not None and not marked.is_bad((name,)):
            entries[name] = replace(entry, name=name)
    return entries


def _folder_problems(folders: Folders) -> list[Problem]:
    problems: list[Problem] = []
    if folders.config_from != "default" and not os.path.lexists(folders.config):
        told = f"there is no such folder (from {folders.config_from})"
        problems.append(problem(Place(str(folders.config)), "", told, "make it, or run 'kai init'"))
    elif folders.is_of_service and not os.path.lexists(folders.config / "kai.yaml"):
        told = "there is no such file, and a service goes on no guess"
        remedy = "'kai system install' writes one; one without a setting is fine"
        problems.append(problem(Place(str(folders.config / "kai.yaml")), "", told, remedy))
    stray = [path for path in children(folders.config, problems) if path.suffix in (".yaml", ".yml")]
    problems += [
        _stray_problem(path)
        for path in stray
        if path.name not in KNOWN_FILES and not path.name.endswith(".example.yaml")
    ]
    return problems


def _stray_problem(path: Path) -> Problem:
    if path.name == "services.yaml":
        return problem(Place(str(path)), "", "services are not built yet", "move the file away until they are")
    return problem(Place(str(path)), "", "kai reads no file of this name", did_you_mean(path.name, KNOWN_FILES))
