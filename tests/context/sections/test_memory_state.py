"""The state of memory: the operator's intent in every mode."""

import pytest

from kai.context.sections.memory_state import draft
from kai.model.context import Facts, MemoryMode, Speaker
from kai.model.people import ChannelKind
from tests.context.examples import enabled, facts


def said(made: Facts) -> str:
    found = draft(made)
    return found.text(found.items)


def test_every_mode_reads_differently() -> None:
    texts = {said(enabled(memory=mode)) for mode in MemoryMode}
    assert len(texts) == len(MemoryMode)
    assert all(text.startswith("[Memory subsystem: ") and text.endswith("]") for text in texts)


@pytest.mark.parametrize("mode", [mode for mode in MemoryMode if mode is not MemoryMode.TEMPORARY])
def test_in_a_shared_channel_it_is_unavailable_whatever_the_mode(mode: MemoryMode) -> None:
    made = enabled(memory=mode, kind=ChannelKind.SHARED)
    assert said(made) == "[Memory subsystem: unavailable in shared channels.]"


def test_temporary_mode_is_said_wherever_it_holds() -> None:
    for kind in ChannelKind:
        assert "Nothing is recalled or kept." in said(facts(memory=MemoryMode.TEMPORARY, kind=kind))


def test_no_way_to_save_is_named_that_this_run_does_not_have() -> None:
    assert "memory_save" in said(enabled())
    assert "memory_save" not in said(enabled(tools=()))
    assert "never claim" in said(enabled(tools=()))


def test_a_run_that_speaks_for_nobody_is_told_that_nothing_is_kept() -> None:
    assert "denied: no_identity" in said(enabled(speaker=Speaker(None, "")))
