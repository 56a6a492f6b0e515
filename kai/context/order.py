"""The reading order of a block, as data. Behind the last section come the marker and the person's own words."""

from collections.abc import Callable
from dataclasses import dataclass

from kai.context.draft import Draft
from kai.context.sections import (
    about,
    agent,
    corrections,
    delegated,
    history,
    identity,
    memory,
    memory_file,
    memory_state,
    now,
    preferences,
    reminder,
    skills,
    tools,
    work,
    workspace,
)
from kai.model.context import Facts


@dataclass(frozen=True, slots=True)
class Place:
    """A section's place. Session parts stand only in the first message of a fresh session."""

    name: str
    draft: Callable[[Facts], Draft | None]
    session: bool = False
    steered: bool = False  # goes along with text that is steered into a running turn

    def has_turn(self, facts: Facts) -> bool:
        """Whether this kind of dispatch considers the section at all."""
        if facts.steered:
            return self.steered
        return facts.fresh or not self.session


ORDER: tuple[Place, ...] = (
    Place("reminder", reminder.draft, steered=True),
    Place("corrections", corrections.draft),
    Place("memory", memory.draft),
    Place("session.identity", identity.draft, session=True),
    Place("session.memory", memory_state.draft, session=True),
    Place("session.preferences", preferences.draft, session=True),
    Place("session.memory_file", memory_file.draft, session=True),
    Place("session.workspace", workspace.draft, session=True),
    Place("session.history", history.draft, session=True),
    Place("session.tools", tools.draft, session=True),
    Place("session.skills", skills.draft, session=True),
    Place("agent", agent.draft, steered=True),
    Place("delegated", delegated.draft),
    Place("work", work.draft),
    Place("now", now.draft),
    Place("about", about.draft, steered=True),
)

READING_ORDER: tuple[str, ...] = (*(place.name for place in ORDER), "marker", "words")
