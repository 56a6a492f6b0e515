"""The configuration in force: settings, manifests, agent definitions. A bad file keeps the last good one, loudly."""

from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, TypeVar

from kai.catalog import agents, manifests
from kai.catalog.references import unknown_names
from kai.log import log
from kai.model.agents import AgentDefinition
from kai.model.backends import Manifest
from kai.model.errors import UnknownThingError
from kai.resources import folder
from kai.settings.load import Inspection, inspect
from kai.settings.problems import ConfigError, Problem, nearest
from kai.settings.values import Settings, Workspace
from kai.settings.where import Folders

if TYPE_CHECKING:
    from kai.settings.why import Why

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class Loaded:
    """One consistent reading of everything."""

    settings: Settings
    manifests: Mapping[str, Manifest]
    agents: Mapping[str, AgentDefinition]
    found: Inspection = field(default_factory=lambda: Inspection(None, ()))  # with the place of every setting
    files: Mapping[str, tuple[int, int]] = field(default_factory=dict)  # as read: name → (changed at, in ns; bytes)


def read(folders: Folders) -> Loaded:
    """Read and validate the whole configuration. Raises `ConfigError` with every problem of every file."""
    problems: list[Problem] = []
    files = _files(folders.config)  # first: what changes during the reading was not read
    found = inspect(folders)
    problems += found.problems
    try:
        backends = manifests.load(folder("backends"), _overrides(folders.config / "backends"))
    except ConfigError as error:
        problems += error.problems
        backends = {}
    try:
        definitions = agents.load(folder("data") / "agents", folders.config / "agents")
    except ConfigError as error:
        problems += error.problems
        definitions = {}
    named = backends or _names(folder("backends"), folders.config / "backends")
    problems += unknown_names(found, named, definitions or _names(folder("data") / "agents", folders.config / "agents"))
    if problems or found.settings is None:
        raise ConfigError(tuple(problems))
    return Loaded(found.settings, backends, definitions, found, files)


def refused(folders: Folders) -> tuple[str, ...]:
    """Every problem of the configuration as a line; blocking."""
    try:
        read(folders)
    except ConfigError as error:
        return tuple(str(problem) for problem in error.problems)
    return ()


def _files(place: Path) -> dict[str, tuple[int, int]]:
    """Every file of the configuration, by its name within the folder."""
    found = {}
    for glob in ("*.yaml", "agents/*", "backends/*/backend.yaml"):
        for file in place.glob(glob):
            with suppress(OSError):
                stat = file.stat()
                found[str(file.relative_to(place))] = stat.st_mtime_ns, stat.st_size
    return found


def _names(*places: Path) -> set[str]:
    """What there is, where one of it is bad, so that the others were not read."""
    return {each.stem for place in places if place.is_dir() for each in place.iterdir()}


def _overrides(path: Path) -> Path | None:
    return path if path.is_dir() else None


class Config:
    """Holds what is in force. `problems` is what the last reload found; empty while everything is well."""

    def __init__(self, folders: Folders, loaded: Loaded) -> None:
        self._folders = folders
        self._loaded = loaded
        self.problems: tuple[str, ...] = ()

    @property
    def folder(self) -> Path:
        """Where the configuration lies."""
        return self._folders.config

    @property
    def settings(self) -> Settings:
        return self._loaded.settings

    @property
    def manifests(self) -> Mapping[str, Manifest]:
        return self._loaded.manifests

    def manifest(self, backend: str) -> Manifest:
        """Raises `UnknownThingError` with the known names, the nearest first."""
        return _named("backend", backend, self._loaded.manifests)

    def workspace(self, name: str) -> Workspace:
        """Raises `UnknownThingError` with the known names, the nearest first."""
        return _named("workspace", name, {workspace.name: workspace for workspace in self.settings.workspaces})

    def agent(self, name: str) -> AgentDefinition:
        """Raises `UnknownThingError` with the known names, the nearest first."""
        return _named("agent definition", name, self._loaded.agents)

    @property
    def agents(self) -> Mapping[str, AgentDefinition]:
        return self._loaded.agents

    def warnings(self) -> list[str]:
        """What is not wrong, but unwise (blocking)."""
        return [str(one) for one in agents.warnings(folder("data") / "agents", self.folder / "agents")]

    def changed(self) -> list[str]:
        """Files that are not any more what is in force (blocking)."""
        now, then = _files(self.folder), self._loaded.files
        return sorted(name for name in now.keys() | then.keys() if now.get(name) != then.get(name))

    def explained(self) -> "tuple[Why, ...]":
        """Every setting in force, and where it came from."""
        from kai.settings.why import explain  # noqa: PLC0415 - first use

        return explain(self._loaded.found)

    def reload(self) -> bool:
        """Read everything again (blocking); True when it is in force now, False when the last good one stays."""
        try:
            self._loaded = read(self._folders)
        except ConfigError as error:
            self.problems = tuple(str(problem) for problem in error.problems)
            log.error("config.refused", problems=len(self.problems), first=self.problems[0])
            return False
        self.problems = ()
        log.info("config.loaded", backends=len(self._loaded.manifests), agents=len(self._loaded.agents))
        return True


def _named(what: str, name: str, known: Mapping[str, T]) -> T:
    if name not in known:
        raise UnknownThingError(what, name, nearest(name, known), tuple(known))
    return known[name]
