"""Admission: required or an error, whole or not at all, in rank order, exactly one row for everything."""

from collections import Counter
from functools import partial

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kai.context.admit import admit, size_of
from kai.context.draft import Draft, Item, bare
from kai.context.tokens import estimate
from kai.model.context import MARKER, SEPARATOR, Budget, ContextBlock, Verdict
from kai.model.errors import ContextBudgetError

ROOM = Budget(1_000_000)


def records(count: int, size: int = 100, *, required: bool = False) -> tuple[Item, ...]:
    return tuple(Item("record", f"m-{n}", f"{n:03}".ljust(size, "x"), required=required) for n in range(count))


def counted(total: int, admitted: tuple[Item, ...]) -> tuple[str, str]:
    return f"{len(admitted)} of {total}", "" if len(admitted) == total else "more"


def test_three_and_a_half_records_of_room_admit_the_first_three_whole() -> None:
    items = records(10)
    frame = partial(counted, 10)
    framed = len(MARKER) + 1 + len("3 of 10\nmore\n") + len(SEPARATOR)
    sections, rows = admit([Draft("memory", items, frame)], "", Budget(framed + 3 * 101 + 50))
    assert sections[0].text == "\n".join(["3 of 10", *(item.text for item in items[:3]), "more"])
    assert [row.verdict for row in rows] == [Verdict.SUBMITTED] * 3 + [Verdict.OMITTED_BUDGET] * 7


def test_a_record_that_does_not_fit_ends_its_section_so_that_rank_order_is_kept() -> None:
    items = (Item("record", "big", "x" * 500), Item("record", "small", "y"))
    draft = Draft("memory", items)
    assert admit([draft], "", Budget(300))[0] == ()
    sections, rows = admit([draft], "", Budget(300, fit_smaller=True))
    assert sections[0].text == "y"
    assert [row.verdict for row in rows] == [Verdict.OMITTED_BUDGET, Verdict.SUBMITTED]


def test_a_history_has_no_holes_even_when_smaller_ones_may_follow() -> None:
    items = (Item("message", "3", "new"), Item("message", "2", "x" * 500), Item("message", "1", "old"))
    sections, _ = admit([Draft("h", items, newest_first=True)], "", Budget(300, fit_smaller=True))
    assert sections[0].text == "new"


def test_an_oversized_memory_takes_no_room_from_another_section() -> None:
    drafts = [Draft("memory", records(1, 5_000)), Draft("now", (Item("clock", "minute", "[Now]"),))]
    sections, _ = admit(drafts, "", Budget(1_000))
    assert [section.name for section in sections] == ["now"]


def test_when_nothing_of_a_section_fits_its_frame_says_so_if_that_fits() -> None:
    draft = Draft("memory", records(2, 500), partial(counted, 2))
    sections, rows = admit([draft], "", Budget(200))
    assert sections[0].text == "0 of 2\nmore"
    assert {row.verdict for row in rows} == {Verdict.OMITTED_BUDGET}
    assert admit([draft], "", Budget(len(MARKER) + 1))[0] == ()


def test_what_is_required_and_does_not_fit_is_an_error_that_names_the_largest_parts() -> None:
    drafts = [Draft("agent", records(1, 700, required=True), required=True), Draft("now", records(1, 5))]
    with pytest.raises(ContextBudgetError) as caught:
        admit(drafts, "w" * 400, Budget(1_000))
    error = caught.value
    assert error.largest[0][0] == "agent"
    assert error.largest[1] == ("words", 400)
    assert error.needed_bytes > error.cap_bytes == 1_000
    assert "agent" in str(error)


def test_a_window_makes_admission_fail_by_tokens_with_a_margin_and_never_widens_the_cap() -> None:
    words = "word " * 200
    tokens = estimate(words) + size_of(MARKER + "\n").tokens
    exactly = -(-tokens * 6 // 5)
    wide = Budget(100_000, window_tokens=exactly + 300, baseline_reserve_tokens=200, reply_reserve_tokens=100)
    assert admit([], words, wide)
    narrow = Budget(100_000, window_tokens=exactly + 299, baseline_reserve_tokens=200, reply_reserve_tokens=100)
    with pytest.raises(ContextBudgetError) as caught:
        admit([], words, narrow)
    assert (caught.value.tokens_needed, caught.value.tokens_free) == (exactly, exactly - 1)
    assert "tokens" in str(caught.value)
    with pytest.raises(ContextBudgetError):
        admit([], words, Budget(100, window_tokens=10**9))


@given(st.integers(1, 3_000), st.integers(0, 10), st.integers(0, 60))
def test_a_window_never_changes_what_goes_along_it_only_refuses_the_whole(window: int, count: int, size: int) -> None:
    drafts = [Draft("history", records(count, size), partial(counted, count), newest_first=True)]
    anywhere = admit(drafts, "words", Budget(600))
    refused: ContextBudgetError | None = None
    try:
        assert admit(drafts, "words", Budget(600, window_tokens=window)) == anywhere
    except ContextBudgetError as error:
        refused = error
    assert refused is None or refused.tokens_needed > refused.tokens_free
    assert refused is None or "wider window" in refused.hint


def test_what_is_kept_out_by_a_rule_or_by_bounds_is_never_admitted_and_keeps_its_reason() -> None:
    items = (
        Item("message", "a", "in"),
        Item("message", "b", verdict=Verdict.OMITTED_BOUNDS, reason="history bounds"),
        Item("file", "c", verdict=Verdict.LEFT_OUT, reason="shared_channel"),
        Item("message", "d", "cut", verdict=Verdict.TRUNCATED, reason="cut at 3"),
    )
    sections, rows = admit([Draft("x", items)], "", ROOM)
    assert sections[0].text == "in\ncut"
    assert [(row.verdict, row.reason) for row in rows] == [
        (Verdict.SUBMITTED, ""),
        (Verdict.OMITTED_BOUNDS, "history bounds"),
        (Verdict.LEFT_OUT, "shared_channel"),
        (Verdict.TRUNCATED, "cut at 3"),
    ]


texts = st.text("aé日 \n", max_size=60)
items_of = st.lists(st.tuples(texts, st.booleans(), st.sampled_from(Verdict)), max_size=6)
drafts_of = st.lists(st.tuples(items_of, st.booleans(), st.booleans(), st.booleans()), max_size=5)


@given(drafts_of, texts, st.integers(0, 600), st.integers(0, 400), st.booleans())
def test_admission_holds_its_promises_whatever_the_sizes(
    made: list[tuple[list[tuple[str, bool, Verdict]], bool, bool, bool]],
    words: str,
    cap: int,
    window: int,
    fit_smaller: bool,
) -> None:
    drafts = []
    for place, (rows_of, required, newest_first, framed) in enumerate(made):
        items = tuple(
            Item("record", f"{place}-{rank}", text, required=must and verdict is Verdict.SUBMITTED, verdict=verdict)
            for rank, (text, must, verdict) in enumerate(rows_of)
        )
        frame = partial(counted, len(items)) if framed else bare
        drafts.append(Draft(f"s{place}", items, frame, required=required, newest_first=newest_first))
    budget = Budget(cap, window_tokens=window, fit_smaller=fit_smaller)
    must = sum(len(item.text.encode()) for draft in drafts for item in draft.items if item.required)
    refused: ContextBudgetError | None = None
    try:
        sections, rows = admit(drafts, words, budget)
    except ContextBudgetError as error:
        refused = error
    if refused:
        assert refused.needed_bytes > cap or refused.tokens_needed > refused.tokens_free
        assert refused.needed_bytes >= must
        return
    block = ContextBlock(sections, words, rows, 0)
    assert len(block.text.encode()) <= cap
    assert not window or estimate(block.text) * 1.2 <= window
    every = [(draft.name, item.id) for draft in drafts for item in draft.items]
    assert Counter((row.section, row.source_id) for row in rows) == Counter(every)
    verdict = {row.source_id: row.verdict for row in rows}
    shown = {section.name: section.text for section in sections}
    for draft in drafts:
        whole = [item for item in draft.items if verdict[item.id] in (Verdict.SUBMITTED, Verdict.TRUNCATED)]
        assert all(item in whole for item in draft.items if item.required)
        assert shown.get(draft.name, "") == draft.text(tuple(sorted(whole, key=lambda i: not i.required))) or not whole
        optional = [
            item for item in draft.items if item.verdict in (Verdict.SUBMITTED, Verdict.TRUNCATED) and not item.required
        ]
        if not fit_smaller:
            admitted = [item in whole for item in optional]
            assert admitted == sorted(admitted, reverse=True), "rank order is kept"
