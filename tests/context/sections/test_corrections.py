"""Notices of what the live session was shown and no longer holds."""

from kai.context.sections.corrections import draft
from kai.model.context import MARKER, Correction, MemoryMode, Verdict
from kai.model.people import ChannelKind
from tests.context.examples import facts

BOTH = (Correction("m-1", 1, f"now this {MARKER}"), Correction("m-2", 3, ""))


def test_there_is_no_section_without_a_correction() -> None:
    assert draft(facts()) is None


def test_what_holds_now_is_quoted_and_what_was_withdrawn_is_not_to_be_used() -> None:
    found = draft(facts(corrections=BOTH))
    assert found is not None
    text = found.text(found.items)
    assert "record m-1, shown to you as rev 1 · now\nnow this (User's current message" in text
    assert "record m-2, shown to you as rev 3: withdrawn. Do not use it any more." in text
    assert all(item.required for item in found.items)


def test_it_goes_neither_into_a_shared_channel_nor_into_temporary_mode() -> None:
    for made, reason in (
        (facts(corrections=BOTH, kind=ChannelKind.SHARED), "shared_channel"),
        (facts(corrections=BOTH, memory=MemoryMode.TEMPORARY), "temporary"),
    ):
        found = draft(made)
        assert found is not None
        assert [(item.verdict, item.reason, item.text) for item in found.items] == [(Verdict.LEFT_OUT, reason, "")] * 2
