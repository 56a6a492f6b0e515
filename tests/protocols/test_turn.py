"""The contract of a turn holds whatever the driver says."""

from hypothesis import given
from hypothesis import strategies as st

from kai.model.backends import Limits
from kai.model.errors import FailureKind
from kai.model.events import (
    Ask,
    AskWithdrawn,
    BackendEvent,
    Compacted,
    Failed,
    Finished,
    Limit,
    Started,
    TextDelta,
    Thinking,
    ToolCall,
    ToolResult,
    Unsolicited,
    Usage,
)
from kai.protocols.turn import DETAIL_CHARS, Turn

ids = st.sampled_from(["a", "b", "c"])
events: st.SearchStrategy[BackendEvent] = st.one_of(
    st.builds(Started, ids),
    st.builds(TextDelta, st.text("aé", max_size=3)),
    st.builds(Thinking, st.text("aé", max_size=3)),
    st.builds(ToolCall, ids, ids, ids),
    st.builds(ToolResult, ids, st.booleans()),
    st.builds(Ask, ids, ids, ids, st.just(())),
    st.builds(AskWithdrawn, ids),
    st.builds(Usage),
    st.builds(Compacted),
    st.builds(Limit, ids),
    st.builds(Unsolicited, ids),
    st.builds(Finished, st.booleans()),
    st.builds(Failed, st.just(FailureKind.CRASH), ids),
)


def check(seen: list[BackendEvent]) -> None:
    """The contract that every caller counts on."""
    assert isinstance(seen[0], Started)
    assert sum(isinstance(event, Started) for event in seen) == 1
    ends = [event for event in seen if isinstance(event, Finished | Failed)]
    assert ends == seen[-1:]
    calls = {event.tool_id for event in seen if isinstance(event, ToolCall)}
    results = [event.tool_id for event in seen if isinstance(event, ToolResult)]
    assert sorted(results) == sorted(calls)
    closed: set[str] = set()
    asked: list[str] = []
    for event in seen:
        if isinstance(event, ToolCall):
            assert event.tool_id not in closed
        elif isinstance(event, ToolResult):
            closed.add(event.tool_id)
        elif isinstance(event, Ask):
            asked.append(event.ask)
        elif isinstance(event, AskWithdrawn):
            assert event.ask in asked


@given(st.lists(events))
def test_whatever_a_driver_says_the_caller_gets_a_whole_turn(said: list[BackendEvent]) -> None:
    turn = Turn(Limits(), "native")
    seen = [out for event in [*said, Finished(), *said] for out in turn.take(event)]
    check(seen)


def test_a_turn_that_fails_at_once_has_begun_all_the_same() -> None:
    assert Turn(Limits(), "n").take(Failed(FailureKind.CRASH, "x")) == [Started("n"), Failed(FailureKind.CRASH, "x")]


def test_of_two_ends_the_first_counts() -> None:
    turn = Turn(Limits(), "")
    turn.take(Finished(stopped=True))
    assert turn.take(Finished()) == []
    assert turn.end == Finished(stopped=True)


def test_a_question_that_was_answered_is_not_withdrawn_at_the_end() -> None:
    turn = Turn(Limits(), "")
    turn.take(Ask("q1", "t", "d", ()))
    turn.take(Ask("q2", "t", "d", ()))
    assert turn.asking
    assert turn.answered("q1")
    assert not turn.answered("q1")
    assert turn.take(Finished()) == [AskWithdrawn("q2"), Finished()]
    assert not turn.asking


def test_a_tool_call_may_be_said_again_only_with_something_new() -> None:
    turn = Turn(Limits(), "")
    turn.take(ToolCall("a", "Bash", ""))
    assert turn.take(ToolCall("a", "Bash", "")) == []
    assert turn.take(ToolCall("a", "Bash", "ls")) == [ToolCall("a", "Bash", "ls")]


def test_the_detail_of_a_result_is_bounded() -> None:
    (_, _, result) = Turn(Limits(), "").take(ToolResult("a", ok=True, detail="x" * 10_000))
    assert isinstance(result, ToolResult)
    assert len(result.detail) == DETAIL_CHARS


def fed(pieces: list[str], limits: Limits) -> Failed | None:
    turn = Turn(limits, "")
    for piece in pieces:
        turn.take(TextDelta(piece))
    return turn.over


def test_the_same_pieces_without_end_are_a_loop_whatever_their_period() -> None:
    limits = Limits(repeats=50)
    assert fed(["again and again"] * 60, limits)
    assert fed(["partial one ", "partial two "] * 60, limits)
    assert fed(["\n\npartial one ", "partial two ", "partial three "] * 60, limits)


def test_text_that_goes_on_is_no_loop_and_neither_is_a_table_of_zeros() -> None:
    limits = Limits(repeats=50)
    assert fed([f"word{number} " for number in range(1_000)], limits) is None
    assert fed(["0", ","] * 60, limits) is None
    assert fed([*["same "] * 40, "other ", *["same "] * 40], limits) is None


def test_text_without_end_passes_a_limit() -> None:
    over = fed([f"{number} é" * 100 for number in range(100)], Limits(turn_bytes=10_000))
    assert over is not None
    assert over.kind is FailureKind.PROTOCOL
