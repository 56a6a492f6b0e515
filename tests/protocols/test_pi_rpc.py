"""The driver of Pi's RPC mode: whose output it is, which text counts, what a run comes to."""

import json

import pytest

from kai.model.context import Prompt
from kai.model.errors import FailureKind
from kai.model.events import (
    Ask,
    AskWithdrawn,
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
from kai.model.ids import DispatchId
from kai.protocols.driver import Send, Skipped
from tests.protocols.pi_agent import Pi, said


def test_what_is_sent_is_never_null_and_holds_no_half_surrogate_pair() -> None:
    frame = Pi().driver.frame(Prompt(DispatchId("d-1"), "a\ud800b \u2028 null"))
    assert json.loads(frame)["message"] == "a?b \u2028 null"
    assert json.loads(frame)["streamingBehavior"] == "followUp"
    assert frame.count(b"\n") == 1


def test_before_its_own_response_nothing_belongs_to_a_prompt() -> None:
    pi = Pi()
    pi.out("agent_start")
    pi.ask(begin=False)
    assert pi.delta("late") == []
    assert pi.message("late words") == [Unsolicited("late words")]
    assert pi.settled() == []
    assert pi.answers(pi.id, data={"disposition": "started"}) == [Started("s-1", "acme/opus-4", "1.6.0")]
    assert said(pi.delta("mine")) == "mine"
    pi.message("mine")
    assert pi.settled()[-1] == Finished()


def test_a_prompt_that_was_queued_begins_with_its_own_message() -> None:
    pi = Pi()
    pi.out("agent_start")
    assert pi.ask("my words", disposition="queued") == []
    assert pi.message("of another run") == [Unsolicited("of another run")]
    assert pi.out("message_start", message={"role": "user", "content": "others' words"}) == []
    mine = {"role": "user", "content": [{"type": "text", "text": "my words"}]}
    assert pi.out("message_start", message=mine) == [Started("s-1", "acme/opus-4", "1.6.0")]
    pi.message("the answer")
    assert pi.settled()[-1] == Finished()


def test_a_queued_prompt_that_was_dropped_is_no_answer() -> None:
    pi = Pi()
    pi.ask(disposition="queued")
    assert isinstance(end := pi.settled()[-1], Failed)
    assert "dropped the message" in end.sentence


def test_a_prompt_that_an_extension_handled_has_no_run_to_wait_for() -> None:
    assert Pi().ask(disposition="handled")[-1] == Finished()


def test_text_outside_a_turn_is_told_once_and_answers_nothing() -> None:
    pi = Pi()
    pi.out("agent_start")
    assert pi.delta("back") == []
    assert pi.message("background") == [Unsolicited("background")]
    assert pi.message(" ") == []
    assert pi.settled() == []


def test_a_prompt_that_nobody_takes_ends_by_its_own_limit() -> None:
    pi = Pi()
    pi.ask(begin=False)
    (end,) = pi.driver.wake("taken")
    assert isinstance(end, Failed)
    assert end.session_lost
    assert pi.answers(pi.id, data={"disposition": "started"}) == [Skipped("an answer to nothing that was asked")]
    pi.ask()
    assert pi.driver.wake("taken") == []


@pytest.mark.parametrize(
    ("error", "kind"),
    [
        ("No API key found for the selected model.\n\nUse /login", FailureKind.LOGIN),
        ("Cannot submit a prompt while compaction is in progress.", FailureKind.PROTOCOL),
    ],
)
@pytest.mark.parametrize("with_id", [True, False])
def test_a_refused_prompt_is_a_failure_in_its_words(error: str, kind: FailureKind, *, with_id: bool) -> None:
    pi = Pi()
    pi.ask(begin=False)
    named = {"id": pi.id} if with_id else {}
    (end,) = pi.out("response", command="prompt", success=False, error=error, **named)
    assert isinstance(end, Failed)
    assert end.kind is kind
    assert error.partition(".")[0] in end.sentence
    assert "/login" not in end.sentence


# Which text counts


def test_messages_are_apart_and_blocks_of_one_are_not() -> None:
    pi = Pi()
    pi.ask()
    shown = said([*pi.delta("a"), *pi.delta("t", "thinking_delta", 1), *pi.delta("b", index=2)])
    shown += said(pi.message("a", "b", reason="toolUse"))
    shown += said([*pi.delta("c"), *pi.message("c")])
    assert shown == "ab\n\nc"
    assert pi.settled()[-1] == Finished()


def test_thinking_is_never_text() -> None:
    pi = Pi()
    pi.ask()
    assert pi.delta("hm", "thinking_delta") == [Thinking("hm")]
    assert pi.delta("{", "toolcall_delta") == []


def test_what_never_came_as_a_delta_is_shown_at_the_messages_end() -> None:
    pi = Pi()
    pi.ask()
    assert said([*pi.delta("ab"), *pi.message("abc")]) == "abc"
    assert said(pi.message("whole")) == "\n\nwhole"
    assert pi.settled()[-1] == Finished()


def test_the_whole_message_counts_where_the_deltas_told_another() -> None:
    pi = Pi()
    pi.ask()
    assert said([*pi.delta("abX"), *pi.message("abc")]) == "abX"
    assert pi.settled()[-1] == Finished(text="abc")


def test_a_failed_attempt_is_not_shown_twice_when_the_next_says_the_same() -> None:
    pi = Pi()
    pi.ask()
    shown = said([*pi.delta("one "), *pi.delta("two "), *pi.message("one two ", reason="error", errorMessage="cut")])
    assert pi.retry() == [Limit("The provider did not answer (503: overloaded); try 1 of 3.")]
    shown += said([*pi.delta("one"), *pi.delta(" two three"), *pi.message("one two three")])
    assert shown == "one two three"
    assert pi.settled()[-1] == Finished()


@pytest.mark.parametrize("second", ["one", "one two ", "one two"])
def test_of_an_attempt_that_only_repeats_the_failed_one_nothing_is_shown(second: str) -> None:
    pi = Pi()
    pi.ask()
    shown = said([*pi.delta("one two "), *pi.message("one two ", reason="error", errorMessage="cut")])
    pi.retry()
    shown += said([*pi.delta(second), *pi.message(second)])
    assert shown == "one two "
    assert pi.settled()[-1] == Finished(text="" if second == shown else second)


def test_an_attempt_that_says_something_else_is_shown_and_alone_counts() -> None:
    pi = Pi()
    pi.ask()
    pi.delta("before")
    pi.message("before", reason="toolUse")
    pi.delta("one")
    pi.message("one", reason="error", errorMessage="cut")
    pi.retry()
    assert said(pi.delta("two")) == "\n\ntwo"
    pi.message("two")
    assert pi.settled()[-1] == Finished(text="before\n\ntwo")


def test_an_attempt_that_a_compaction_repeats_does_not_count() -> None:
    pi = Pi()
    pi.ask()
    pi.message("cut off he", reason="length")
    pi.out("compaction_start", reason="overflow")
    assert pi.out("compaction_end", reason="overflow", result={"summary": "s"}, willRetry=True) == [Compacted()]
    assert said(pi.message("said anew")) == "\n\nsaid anew"
    assert pi.settled()[-1] == Finished(text="said anew")


def test_a_compaction_that_came_to_nothing_is_none() -> None:
    pi = Pi()
    assert pi.out("compaction_end", reason="overflow", willRetry=False, errorMessage="failed") == []
    assert pi.out("compaction_end", reason="manual", result={"summary": "s"}) == [Compacted()]


# What a run comes to


def test_nothing_ends_a_run_but_its_settling() -> None:
    pi = Pi()
    pi.ask()
    assert pi.message("x") == [TextDelta("x")]
    assert pi.out("turn_end") == []
    assert pi.out("agent_end", willRetry=False) == []
    assert pi.settled() == [Finished()]


@pytest.mark.parametrize(
    ("error", "kind", "words"),
    [
        ('401: {"message":"bad key","code":"x"}', FailureKind.LOGIN, "(401: bad key)"),
        ('429 {"type":"error","error":{"type":"rate_limit_error","message":"slow down"}}', FailureKind.QUOTA, "slow"),
        ('400: {"message":"bad request"}', FailureKind.PROTOCOL, "bad request"),
        ('400: {"message":"prompt is too long: 9 tokens"}', FailureKind.CONTEXT, "too long"),
        ("404 status code (no body)", FailureKind.MODEL, "404 status code"),
        ('500: {"message":5}', FailureKind.PROVIDER, "500"),
        ("529: not json", FailureKind.PROVIDER, "529: not json"),
        ("Connection error.", FailureKind.PROVIDER, "Connection error"),
        ("Stream ended without finish_reason", FailureKind.PROVIDER, "finish_reason"),
        ("", FailureKind.PROTOCOL, "reported an error"),
    ],
)
def test_a_providers_error_is_the_end_of_a_run_and_gets_its_kind(error: str, kind: FailureKind, words: str) -> None:
    pi = Pi()
    pi.ask()
    pi.message(reason="error", errorMessage=error)
    (end,) = pi.settled()
    assert isinstance(end, Failed)
    assert end.kind is kind
    assert words in end.sentence
    assert end.session_lost is (kind is FailureKind.CONTEXT)


def test_an_answer_that_was_cut_at_the_models_limit_is_no_success() -> None:
    pi = Pi()
    pi.ask()
    pi.message("half", reason="length")
    assert isinstance(end := pi.settled()[-1], Failed)
    assert end.kind is FailureKind.CONTEXT


@pytest.mark.parametrize(("resume", "kind"), [("", FailureKind.EMPTY), ("s-1", FailureKind.RESUME)])
def test_an_end_without_a_word_is_a_failure_unless_a_tool_was_used(resume: str, kind: FailureKind) -> None:
    pi = Pi(resume=resume)
    pi.ask()
    pi.message()
    assert isinstance(end := pi.settled()[-1], Failed)
    assert (end.kind, end.session_lost) == (kind, bool(resume))
    pi = Pi(resume=resume)
    pi.ask()
    pi.out("tool_execution_start", toolCallId="t", toolName="bash", args={"command": "ls"})
    pi.message()
    assert pi.settled()[-1] == Finished()


def test_tools_pair_up_and_their_updates_are_only_signs_of_life() -> None:
    pi = Pi()
    pi.ask()
    assert pi.out("tool_execution_start", toolCallId="t", toolName="bash", args={"command": "ls"}) == [
        ToolCall("t", "bash", "ls")
    ]
    assert pi.out("tool_execution_update", toolCallId="t", partialResult={"content": "a"}) == []
    result = {"content": [{"type": "text", "text": "no such file"}]}
    assert pi.out("tool_execution_end", toolCallId="t", result=result, isError=True) == [
        ToolResult("t", ok=False, detail="no such file")
    ]


def test_usage_is_summed_over_the_requests_of_a_turn_and_the_last_one_is_what_the_conversation_holds() -> None:
    pi = Pi()
    pi.ask()
    one = {"input": 10, "output": 2, "cacheRead": 5, "cacheWrite": 1, "totalTokens": 18, "cost": {"total": 0.5}}
    pi.message("a", reason="toolUse", usage=one)
    pi.message("b", usage={**one, "totalTokens": 30})
    pi.message("c", usage={"totalTokens": 0})
    usage, _ = pi.settled()
    assert usage == Usage(32, 4, 1.0, 1000, 30)
    pi.ask()
    pi.message("x")
    assert pi.settled() == [Finished()]


def test_a_process_that_leaves_with_0_in_mid_answer_has_failed() -> None:
    pi = Pi()
    pi.ask()
    pi.delta("half")
    (end,) = pi.driver.eof(0, "")
    assert isinstance(end, Failed)
    assert (end.kind, end.session_lost) == (FailureKind.CRASH, True)


# Stopping and asking

CONFIRM = {"id": "d-1", "method": "confirm", "title": "Sure?", "message": "really"}


def test_an_interrupt_answers_the_dialogs_clears_the_queue_and_aborts_in_this_order() -> None:
    pi = Pi()
    pi.ask()
    (asked,) = pi.out("extension_ui_request", **CONFIRM)
    assert isinstance(asked, Ask)
    outputs = list(pi.driver.interrupt())
    assert [frame["type"] for frame in pi.frames(outputs)] == ["extension_ui_response", "clear_queue", "abort"]
    assert pi.frames(outputs)[0] == {"type": "extension_ui_response", "id": "d-1", "cancelled": True}
    assert outputs[1] == AskWithdrawn(asked.ask)
    # One that is asked after it is answered at once: the abort would wait for it.
    (late,) = pi.frames(pi.out("extension_ui_request", **{**CONFIRM, "id": "d-2"}))
    assert late["cancelled"] is True
    pi.message("part", reason="aborted", errorMessage="This operation was aborted")
    assert pi.settled(aborted=True)[-1] == Finished(stopped=True)


def test_an_interrupt_before_the_prompt_was_taken_meets_its_run_and_not_an_idle_session() -> None:
    pi = Pi()
    pi.ask(begin=False)
    assert pi.driver.interrupt() == []
    begun = pi.answers(pi.id, data={"disposition": "started"})
    assert [frame["type"] for frame in pi.frames(begun)] == ["clear_queue", "abort"]
    assert pi.settled(aborted=True)[-1] == Finished(stopped=True)
    assert pi.driver.interrupt() == []


def test_a_stopped_turn_is_stopped_whatever_its_end_looks_like() -> None:
    for act in ("settled", "eof", "refused"):
        pi = Pi()
        pi.ask(begin=act != "refused")
        pi.driver.interrupt()
        if act == "settled":
            pi.message(reason="error", errorMessage="500: x")
            outputs = pi.settled()
        elif act == "eof":
            outputs = list(pi.driver.eof(-15, ""))
        else:
            outputs = pi.answers(pi.id, success=False, error="aborted")
        assert outputs[-1] == Finished(stopped=True)


def test_a_dialog_outside_a_turn_is_cancelled_at_once() -> None:
    pi = Pi()
    (frame,) = pi.frames(pi.out("extension_ui_request", **CONFIRM))
    assert frame["cancelled"] is True


def test_a_dialog_of_an_extensions_command_comes_before_the_response_and_is_asked() -> None:
    pi = Pi()
    pi.ask(begin=False)
    (asked,) = pi.out("extension_ui_request", **CONFIRM)
    assert isinstance(asked, Ask)
    (frame,) = pi.frames(list(pi.driver.answer(asked.ask, asked.choices[0])))
    assert frame["confirmed"] is True


def test_the_end_of_a_call_and_of_a_turn_close_what_is_open() -> None:
    pi = Pi()
    pi.ask()
    title = json.dumps({"kai.gate": {"tool": "bash", "id": "t", "input": {"command": "ls"}}})
    gate = {"id": "d", "method": "select", "title": title, "options": ["once", "always", "deny"]}
    (asked,) = pi.out("extension_ui_request", **gate)
    assert isinstance(asked, Ask)
    withdrawn, result = pi.out("tool_execution_end", toolCallId="t", result={}, isError=True)
    assert withdrawn == AskWithdrawn(asked.ask)
    assert isinstance(result, ToolResult)
    pi.out("extension_ui_request", **gate)
    pi.message("x")
    outputs = pi.settled()
    assert [type(output) for output in outputs] == [Send, AskWithdrawn, Finished]
