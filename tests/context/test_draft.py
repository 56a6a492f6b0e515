"""Drafts: what stands where before it is known what fits."""

from kai.context.draft import Draft, Item, fixed, left_out
from kai.model.context import Verdict


def test_a_frame_stands_around_the_admitted_items_and_empty_parts_leave_no_line() -> None:
    items = (Item("record", "a", "one"), Item("record", "b", "two"))
    draft = Draft("memory", items, lambda admitted: (f"{len(admitted)} shown", ""))
    assert draft.text(items) == "2 shown\none\ntwo"
    assert draft.text(()) == "0 shown"


def test_a_history_is_ranked_newest_first_and_read_oldest_first() -> None:
    items = (Item("message", "new", "later"), Item("message", "old", "earlier"))
    assert Draft("history", items, newest_first=True).text(items) == "earlier\nlater"


def test_what_a_rule_keeps_out_has_a_row_and_no_text() -> None:
    draft = left_out("session.preferences", "file", "PREFERENCES.md", "shared_channel")
    assert draft.items[0].verdict is Verdict.LEFT_OUT
    assert draft.items[0].reason == "shared_channel"
    assert draft.text(()) == ""


def test_a_section_of_one_piece_is_required() -> None:
    draft = fixed("now", "clock", "minute", "[Now]", stable=False)
    assert draft.required
    assert not draft.stable
    assert draft.items[0].required
