"""Names in the settings that must be those of a backend or of an agent definition."""

from collections.abc import Collection

from kai.settings.load import Inspection
from kai.settings.problems import Place, Problem, did_you_mean, problem


def unknown_names(found: Inspection, backends: Collection[str], agents: Collection[str]) -> list[Problem]:
    """A problem, with its place, for each name in the settings that is not among `backends` or `agents`."""
    named = dict(found.named)
    if settings := found.settings:
        named = {"backend": settings.backend, "agent": settings.agent}
        named |= {f"persons.{person.name}.backend": person.backend for person in settings.persons}
        named |= {f"workspaces.{each.name}.backend": each.backend for each in settings.workspaces}
    return [
        problem(
            found.places.get(path, Place("kai.yaml")),
            path,
            f"there is no {'agent definition' if path == 'agent' else 'backend'} {name!r}",
            did_you_mean(name, known),
        )
        for path, name in named.items()
        for known in [agents if path == "agent" else backends]
        if name not in ("", "auto") and name not in known
    ]
