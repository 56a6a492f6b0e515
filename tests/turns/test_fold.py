"""Events fold into one outcome."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kai.model.errors import FailureKind
from kai.model.events import (
    BackendEvent,
    Compacted,
    Failed,
    Finished,
    Started,
    TextDelta,
    Thinking,
    ToolCall,
    ToolResult,
    Usage,
)
from kai.model.states import TurnState
from kai.model.turns import Outcome
from kai.turns.fold import TOOL_LINE_CHARS, TOOL_LINES, Fold


def outcome_of(*events: BackendEvent) -> Outcome:
    fold = Fold()
    for event in events:
        fold.add(event)
    return fold.outcome()


def test_text_pieces_join_into_the_answer_with_its_tools_and_usage() -> None:
    outcome = outcome_of(
        Started("native-1"),
        TextDelta("Hel"),
        ToolCall("a", "Read", "schedule.c"),
        ToolResult("a", ok=True),
        TextDelta("lo"),
        Usage(input_tokens=7),
        Finished(),
    )
    assert outcome.state is TurnState.DONE
    assert outcome.text == "Hello"
    assert outcome.tool_lines == ("Read schedule.c: ok",)
    assert outcome.usage == Usage(input_tokens=7)
    assert outcome.native_id == "native-1"
    assert not outcome.incomplete


def test_the_backends_whole_text_wins_over_its_pieces() -> None:
    assert outcome_of(TextDelta("Hel"), Finished(text="Hello")).text == "Hello"


def test_a_success_without_words_or_tools_is_a_failure() -> None:
    outcome = outcome_of(Started("x"), TextDelta("  \n"), Finished())
    assert (outcome.state, outcome.failure) == (TurnState.FAILED, FailureKind.EMPTY)


def test_a_success_with_tools_but_no_words_is_done() -> None:
    assert outcome_of(ToolCall("a", "Bash", "make"), ToolResult("a", ok=True), Finished()).state is TurnState.DONE


def test_a_failure_keeps_the_partial_text_and_marks_it() -> None:
    outcome = outcome_of(TextDelta("half an ans"), Failed(FailureKind.CRASH, "It crashed.", session_lost=True))
    assert (outcome.state, outcome.text, outcome.incomplete) == (TurnState.FAILED, "half an ans", True)
    assert (outcome.failure, outcome.reason, outcome.session_lost) == (FailureKind.CRASH, "It crashed.", True)


def test_a_stop_is_no_failure() -> None:
    outcome = outcome_of(TextDelta("half"), Finished(stopped=True))
    assert (outcome.state, outcome.failure, outcome.incomplete) == (TurnState.STOPPED, None, True)


def test_events_without_an_end_are_an_interrupted_turn() -> None:
    outcome = outcome_of(Started("x"), TextDelta("half"))
    assert (outcome.state, outcome.incomplete, outcome.session_lost) == (TurnState.INTERRUPTED, True, True)


def test_a_second_end_is_ignored() -> None:
    assert outcome_of(TextDelta("a"), Finished(), Failed(FailureKind.CRASH, "late"), TextDelta("b")).text == "a"


def test_thinking_is_no_part_of_the_answer() -> None:
    assert outcome_of(Thinking("hm"), TextDelta("a"), Finished()).text == "a"


def test_a_compaction_is_remembered() -> None:
    assert outcome_of(Compacted(), TextDelta("a"), Finished()).compacted


def test_a_tool_named_later_gets_its_better_target() -> None:
    outcome = outcome_of(ToolCall("a", "Bash"), ToolCall("a", "", "make test"), TextDelta("x"), Finished())
    assert outcome.tool_lines == ("Bash make test: not finished",)


@given(st.text(), st.text(), st.booleans(), st.text())
def test_a_tool_line_is_one_bounded_line(name: str, target: str, ok: bool, detail: str) -> None:
    (line,) = outcome_of(
        ToolCall("a", name, target * 50), ToolResult("a", ok, detail.replace("\n", " ") * 50), Finished()
    ).tool_lines
    assert len(line) <= TOOL_LINE_CHARS
    assert "\n" not in line


def test_a_thousand_tool_calls_are_counted_not_listed() -> None:
    calls = [ToolCall(str(n), "Read", f"{n}.txt") for n in range(1000)]
    lines = outcome_of(*calls, TextDelta("x"), Finished()).tool_lines
    assert len(lines) == TOOL_LINES + 1
    assert lines[-1] == "800 more tool calls"


@pytest.mark.parametrize("kind", FailureKind)
def test_what_would_fail_every_later_turn_of_a_session_ends_it(kind: FailureKind) -> None:
    """Too long, refused, unknown, or a request that the provider does not take as it is: all stay in a transcript."""
    poisons = {FailureKind.CONTEXT, FailureKind.REFUSED, FailureKind.RESUME, FailureKind.PROTOCOL}
    assert outcome_of(Failed(kind, "It failed.")).session_lost is (kind in poisons)
