"""Who may be shown what."""

import pytest

from kai.context.sections.privacy import bars_memory, bars_preferences, has_tool
from kai.model.context import MemoryMode, Speaker
from kai.model.people import ChannelKind
from tests.context.examples import enabled, facts


@pytest.mark.parametrize("mode", MemoryMode)
@pytest.mark.parametrize("kind", ChannelKind)
def test_nothing_personal_stands_in_a_shared_channel_or_in_temporary_mode(mode: MemoryMode, kind: ChannelKind) -> None:
    made = facts(memory=mode, kind=kind)
    barred = kind is ChannelKind.SHARED or mode in (MemoryMode.TEMPORARY, MemoryMode.SHARED)
    assert bool(bars_memory(made)) is bool(bars_preferences(made)) is barred


def test_preferences_belong_to_somebody() -> None:
    nobody = facts(speaker=Speaker(None, ""))
    assert bars_preferences(nobody) == "no_identity"
    assert bars_memory(nobody) == ""


def test_a_tool_is_there_when_its_row_is() -> None:
    assert has_tool(enabled(), "memory_save")
    assert not has_tool(facts(), "memory_save")
