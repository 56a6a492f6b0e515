"""What a run may call: by its definition, the settings that hold now, and where in a chain of delegation it stands."""

from dataclasses import dataclass

from kai.catalog.tools import Right, rights_of
from kai.model.context import AgentDefinition
from kai.turns.config import Config


@dataclass(frozen=True, slots=True)
class Entitled:
    """`depth`: 0 is the agent that a person talks to."""

    agent: AgentDefinition
    temporary: bool = False
    depth: int = 0
    is_shared: bool = False

    def rights(self, config: Config) -> frozenset[Right]:
        settings = config.settings
        return rights_of(
            self.agent.memory,
            remembers=settings.memory.enabled and not self.temporary,
            delegates=self.depth < settings.delegate.depth and len(config.agents) > 1,
            tasks=not (self.temporary or self.is_shared or self.depth),
            skills=bool(self.agent.skills),
        )
