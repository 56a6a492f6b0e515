"""What a run may call, by definition, settings and where it stands."""

from types import SimpleNamespace
from typing import Any, cast

import pytest

from kai.model.context import AgentDefinition, Skill
from kai.model.memory import Policy
from kai.settings.values import DelegateSettings, MemorySettings, Settings
from kai.turns.config import Config
from kai.turns.entitled import Entitled

HOUSE = AgentDefinition("house", "", "", skills=(Skill("a", "b"),), memory=Policy(write=("person/self/*",)))


def rights(*, agents: int = 2, settings: Settings | None = None, **where: Any) -> set[str]:
    config = SimpleNamespace(settings=settings or Settings(), agents=dict.fromkeys(range(agents)))
    return set(Entitled(where.pop("agent", HOUSE), **where).rights(cast("Config", config)))


def test_a_person_s_agent_has_what_its_definition_gives() -> None:
    assert rights() == {"memory.read", "memory.write", "delegate", "task", "skill"}


@pytest.mark.parametrize(
    ("where", "without"),
    [
        ({"temporary": True}, {"memory.read", "memory.write", "task"}),
        ({"is_shared": True}, {"task"}),
        ({"depth": 1}, {"task"}),
        ({"depth": 5}, {"task", "delegate"}),
        ({"agents": 1}, {"delegate"}),
        ({"agent": AgentDefinition("x", "", "")}, {"skill", "memory.write"}),
        ({"settings": Settings(memory=MemorySettings(enabled=False))}, {"memory.read", "memory.write"}),
        ({"settings": Settings(delegate=DelegateSettings(depth=0))}, {"delegate"}),
    ],
)
def test_where_it_stands_takes_some_of_it(where: dict[str, Any], without: set[str]) -> None:
    assert rights(**where) == rights() - without
