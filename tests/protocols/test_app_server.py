"""Codex's driver in a turn: what belongs to it, how it ends, how it is stopped."""

import json
from datetime import UTC, datetime
from typing import Any

import pytest

from kai.model.context import Media
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
from kai.model.ids import AttachmentRef
from kai.protocols.app_server import INPUT_CHARS
from kai.protocols.driver import Lost, Output, Send, Skipped
from tests.protocols.agents import prompt
from tests.protocols.codex_agent import Codex, only


def failed(outputs: list[Output]) -> Failed:
    end = outputs[-1]
    assert isinstance(end, Failed)
    return end


# A turn


def test_a_prompt_is_one_text_byte_for_byte() -> None:
    codex = Codex()
    text = " [block]\r\n\u2028\0\u00a0@x /y \n"
    assert codex.ask(text) == [Started("th", "m", "1.2.3")]
    sent = next(one for one in codex.sent if one["method"] == "turn/start")
    assert sent["params"] == {"threadId": "th", "input": [{"type": "text", "text": text}]}


def test_half_a_surrogate_pair_never_goes_out() -> None:
    assert b"ud800" not in Codex().driver.frame(prompt("a\ud800b"))


def test_a_text_that_is_too_long_is_refused_before_a_byte_of_it_is_written() -> None:
    codex = Codex()
    end = only(codex.ask("x" * (INPUT_CHARS + 1), begin=False))
    assert end.kind is FailureKind.CONTEXT
    assert "1,048,577 characters where it takes 1,048,576" in end.sentence
    assert not end.session_lost
    assert codex.last["method"] == "thread/start"
    assert codex.ask("x" * INPUT_CHARS) == [Started("th", "m", "1.2.3")]


def test_what_comes_before_the_answer_to_the_prompt_waits_for_it() -> None:
    codex = Codex()
    codex.ask(begin=False)
    codex.turn = "t1"
    assert codex.tell("turn/started", turn={"id": "t1"}) == []
    assert codex.delta("one") == []
    assert codex.say("of the turn before", "m0") == []
    codex.turn = "t1"
    assert codex.reply({"turn": {"id": "t1"}}) == [
        Started("th", "m", "1.2.3"),
        TextDelta("one"),
        TextDelta("\n\nof the turn before"),
    ]


def test_messages_are_set_apart_and_their_completed_text_counts() -> None:
    codex = Codex()
    codex.ask()
    codex.item("started", "agentMessage", "m1", text="")
    assert codex.delta("Let me ") == [TextDelta("Let me ")]
    assert codex.say("Let me see.") == [TextDelta("see.")]
    assert codex.say("Done.", "m2") == [TextDelta("\n\nDone.")]
    assert codex.end() == [Finished()]


def test_a_stream_that_is_begun_anew_is_shown_once_and_told_as_a_limit() -> None:
    codex = Codex()
    codex.ask()
    codex.delta("partial ")
    told = only(codex.error("Reconnecting... 1/5", info={"responseStreamDisconnected": {}}, more="stream closed"))
    assert told == Limit("The provider did not answer (stream closed). Reconnecting... 1/5")
    assert codex.item("started", "agentMessage", "m2", text="") == []
    assert codex.delta("partial ", "m2") == []
    assert codex.delta("answer", "m2") == [TextDelta("answer")]
    assert codex.say("partial answer", "m2") == []
    assert codex.end() == [Finished()]


def test_what_was_dropped_is_not_in_the_text_at_the_end() -> None:
    codex = Codex()
    codex.ask()
    codex.delta("tick 0 ")
    codex.item("started", "agentMessage", "m2", text="")
    codex.say("as you say", "m2")
    assert codex.end() == [Finished(text="as you say")]


def test_tools_thoughts_and_compactions_are_told() -> None:
    codex = Codex()
    codex.ask()
    assert codex.tell("item/reasoning/summaryTextDelta", itemId="r", delta="hm") == [Thinking("hm")]
    assert codex.item("completed", "reasoning", "r", summary=["hm"]) == []
    assert codex.item("completed", "reasoning", "r2", summary=["so"]) == [Thinking("so")]
    assert codex.item("started", "commandExecution", "c", command="ls") == [ToolCall("c", "shell", "ls")]
    done = codex.item("completed", "commandExecution", "c", command="ls", status="completed", aggregatedOutput="x")
    assert done == [ToolCall("c", "shell", "ls"), ToolResult("c", ok=True, detail="x")]
    assert codex.item("completed", "contextCompaction") == [Compacted()]
    assert codex.end() == [Finished()], "tools without text are no empty turn"


def test_usage_is_told_with_the_end() -> None:
    codex = Codex()
    codex.ask()
    figures = {"inputTokens": 7, "outputTokens": 3, "totalTokens": 10}
    used = {"total": figures, "last": figures, "modelContextWindow": 100}
    assert codex.tell("thread/tokenUsage/updated", tokenUsage=used) == []
    codex.say("x")
    assert codex.end() == [Usage(7, 3, None, 100, 10), Finished()]


def test_what_is_told_of_use_and_limits_between_turns_is_kept_for_the_next() -> None:
    codex = Codex(resume="th")
    spent = {"inputTokens": 500, "outputTokens": 50, "totalTokens": 550}
    assert codex.tell("thread/tokenUsage/updated", tokenUsage={"total": spent, "last": spent}) == []
    limits = {"primary": {"usedPercent": 100, "resetsAt": 1796040000}, "rateLimitReachedType": "rate_limit_reached"}
    assert codex.out(method="account/rateLimits/updated", params={"rateLimits": limits}) == []
    codex.ask()
    spent = {"inputTokens": 510, "outputTokens": 51, "totalTokens": 561}
    codex.tell("thread/tokenUsage/updated", tokenUsage={"total": spent, "last": {"totalTokens": 11}})
    usage, end = codex.end("failed", message="limit", codexErrorInfo="usageLimitExceeded")
    assert usage == Usage(10, 1, None, None, 11)
    assert failed([end]).resets_at == datetime.fromtimestamp(1796040000, UTC)


def test_only_the_end_of_this_very_turn_ends_it() -> None:
    codex = Codex()
    codex.ask()
    codex.say("one")
    assert codex.end(turn="t0") == []
    assert codex.tell("turn/completed", threadId="sub-agent", turn={"id": "t1", "status": "completed"}) == []
    assert codex.tell("thread/status/changed", status={"type": "idle"}) == []
    assert codex.end() == [Finished()]
    assert codex.end() == []


def test_what_belongs_to_no_running_turn_is_unsolicited_and_only_when_it_is_whole() -> None:
    codex = Codex()
    codex.ask()
    codex.say("one")
    codex.end()
    assert codex.delta("late", "m2") == []
    assert codex.say("late words", "m2") == [Unsolicited("late words")]
    assert codex.item("completed", "commandExecution", "c", command="ls", status="completed") == []
    assert codex.item("completed", "contextCompaction") == [Compacted()]
    codex.ask(number=2)
    codex.turn = "t1"
    assert codex.say("later still", "m3") == [Unsolicited("later still")]


def test_a_sub_agents_words_are_not_the_answer() -> None:
    codex = Codex()
    codex.ask()
    assert codex.tell("item/completed", threadId="sub", item={"type": "agentMessage", "id": "s", "text": "hi"}) == []


def test_a_question_goes_to_the_person_and_is_withdrawn_with_the_turn() -> None:
    codex = Codex()
    codex.ask()
    asked = only(codex.out(id=0, method="item/commandExecution/requestApproval", params={"command": "ls"}))
    assert isinstance(asked, Ask)
    assert codex.tell("serverRequest/resolved", requestId=0) == [AskWithdrawn(asked.ask)]
    asked = only(codex.out(id=1, method="item/commandExecution/requestApproval", params={"command": "ls"}))
    assert codex.end("interrupted") == [AskWithdrawn(asked.ask), Finished(stopped=True)]
    assert codex.keep(codex.driver.answer(asked.ask, None)) == []
    codex.out(id=2, method="item/commandExecution/requestApproval", params={"command": "ls"})
    assert codex.last["result"] == {"decision": "decline"}, "nobody waits for this turn"


def test_what_is_not_known_is_skipped_and_what_is_known_to_be_of_no_use_is_not_told() -> None:
    codex = Codex()
    assert only(codex.tell("hologram/updated")) == Skipped("notification 'hologram/updated'")
    assert codex.tell("configWarning") == []
    assert only(codex.out(id=77, result={})) == Skipped("an answer to nothing that was asked")
    assert only(codex.keep(codex.driver.feed(b"Warning: x"))) == Skipped("a line that is no message")
    assert codex.driver.feed(b"  ") == []


# Stopping


def test_an_interrupt_names_its_turn_and_what_runs_is_cleaned_up_behind_it() -> None:
    codex = Codex()
    assert codex.driver.interrupt() == []
    codex.ask()
    codex.keep(codex.driver.interrupt())
    assert codex.last["method"] == "turn/interrupt"
    assert codex.last["params"] == {"threadId": "th", "turnId": "t1"}
    assert codex.reply({}) == []
    assert codex.end("interrupted") == [Finished(stopped=True)]
    assert codex.last["method"] == "thread/backgroundTerminals/clean"
    assert codex.last["params"] == {"threadId": "th"}
    assert codex.reply({}) == []


def test_an_interrupt_before_the_turn_has_begun_is_sent_when_it_begins() -> None:
    codex = Codex()
    codex.ask(begin=False)
    assert codex.driver.interrupt() == []
    assert codex.reply({"turn": {"id": "t1"}}) == [Started("th", "m", "1.2.3")]
    assert codex.last["method"] == "turn/start"
    codex.tell("turn/started", turn={"id": "t1"})
    assert codex.last["method"] == "turn/interrupt"


def test_a_question_after_the_stop_is_declined() -> None:
    codex = Codex()
    codex.ask()
    codex.keep(codex.driver.interrupt())
    codex.out(id=0, method="item/fileChange/requestApproval", params={})
    assert codex.last["result"] == {"decision": "decline"}


# Failures


def test_an_empty_turn_is_a_failure_and_of_a_thread_just_taken_up_its_loss() -> None:
    codex = Codex()
    codex.ask()
    assert failed(codex.end()).kind is FailureKind.EMPTY
    codex = Codex(resume="th")
    codex.ask()
    end = failed(codex.end())
    assert (end.kind, end.session_lost) == (FailureKind.RESUME, True)
    codex.ask(number=2)
    codex.say("x")
    codex.end()
    codex.ask(number=3)
    assert failed(codex.end()).kind is FailureKind.EMPTY


@pytest.mark.parametrize(
    ("info", "message", "kind"),
    [
        ({"httpConnectionFailed": {"httpStatusCode": 401}}, "unexpected status 401", FailureKind.LOGIN),
        ({"responseTooManyFailedAttempts": {"httpStatusCode": 429}}, "exceeded retry limit", FailureKind.QUOTA),
        ({"responseStreamDisconnected": {"httpStatusCode": None}}, "stream disconnected", FailureKind.PROVIDER),
        ("usageLimitExceeded", "You've hit your limit.", FailureKind.QUOTA),
        ("rateLimitExceeded", "slow down", FailureKind.QUOTA),
        ("sessionBudgetExceeded", "no more", FailureKind.QUOTA),
        ("contextWindowExceeded", "ran out of room", FailureKind.CONTEXT),
        ("serverOverloaded", "busy", FailureKind.PROVIDER),
        ("internalServerError", "We're currently experiencing high demand", FailureKind.PROVIDER),
        ("flexUnavailable", "later", FailureKind.PROVIDER),
        ("modelNotFound", "what model?", FailureKind.MODEL),
        ("unauthorized", "who?", FailureKind.LOGIN),
        ("cyberPolicy", "no", FailureKind.REFUSED),
        ("misalignmentPolicyViolation", "no", FailureKind.REFUSED),
        ("badRequest", "bad", FailureKind.PROTOCOL),
        ("other", "Missing environment variable: `STUB_KEY`.", FailureKind.LOGIN),
        ("other", '{"error": {"message": "stub says 400"}}', FailureKind.PROTOCOL),
        (None, "", FailureKind.PROTOCOL),
    ],
)
def test_every_failure_gets_its_kind_and_the_session_goes_on(info: Any, message: str, kind: FailureKind) -> None:
    codex = Codex()
    codex.ask()
    assert codex.error(message, retry=False, info=info) == []
    end = failed(codex.end("failed", message=message, codexErrorInfo=info))
    assert end.kind is kind
    assert not end.session_lost


def test_a_usage_limit_tells_when_it_ends() -> None:
    codex = Codex()
    codex.ask()
    limits = {"primary": {"usedPercent": 100, "resetsAt": 1796040000}, "rateLimitReachedType": "rate_limit_reached"}
    told = only(codex.out(method="account/rateLimits/updated", params={"rateLimits": limits}))
    resets_at = datetime.fromtimestamp(1796040000, UTC)
    assert (told.resets_at, type(told)) == (resets_at, Limit)
    end = failed(codex.end("failed", message="limit", codexErrorInfo="usageLimitExceeded"))
    assert (end.kind, end.resets_at) == (FailureKind.QUOTA, resets_at)


def test_a_prompt_that_is_refused_fails_and_one_that_is_not_answered_loses_the_session() -> None:
    codex = Codex()
    codex.ask(begin=False)
    end = only(codex.fail(-32602, "Input is too large", input_error_code="input_too_large"))
    assert (end.kind, end.session_lost) == (FailureKind.CONTEXT, False)
    codex.ask(number=2, begin=False)
    assert only(codex.fail(-32600, "thread not found: th")).session_lost
    codex.ask(number=3, begin=False)
    said, lost = codex.keep(codex.driver.wake("answer"))
    end = failed([said])
    assert (end.kind, end.session_lost) == (FailureKind.SILENT, True)
    assert isinstance(lost, Lost)
    assert "turn/start" in lost.reason


def test_an_answer_that_came_in_time_has_no_deadline_any_more() -> None:
    codex = Codex()
    assert codex.driver.wake("answer") == []
    codex.ask()
    assert codex.driver.wake("answer") == []


def test_a_provider_that_is_waited_for_without_end_is_given_up() -> None:
    codex = Codex(patience_s="7")
    codex.ask()
    codex.error("Reconnecting... waiting for network", more="Connection failed: error sending request")
    assert (codex.wakes[-1].name, codex.wakes[-1].after_s) == ("patience", 7.0)
    waiting = len(codex.wakes)
    codex.error("Reconnecting... waiting for network", more="Connection failed: error sending request")
    assert len(codex.wakes) == waiting, "it is one wait, however often it is told"
    codex.keep(codex.driver.wake("patience"))
    assert codex.last["method"] == "turn/interrupt"
    end = failed(codex.end("interrupted")[:1])
    assert (end.kind, end.session_lost) == (FailureKind.PROVIDER, False)
    assert "Connection failed" in end.sentence


def test_a_provider_that_came_back_is_not_given_up() -> None:
    codex = Codex()
    codex.ask()
    codex.error("Reconnecting... 1/5")
    codex.delta("here I am")
    assert codex.driver.wake("patience") == []
    codex.error("Reconnecting... 1/5")
    codex.keep(codex.driver.interrupt())
    assert codex.driver.wake("patience") == [], "it is stopped anyway"


def test_a_process_that_ends_in_a_turn_fails_it_and_between_turns_nothing() -> None:
    codex = Codex()
    codex.ask()
    end = failed(list(codex.driver.eof(0, "")))
    assert (end.kind, end.session_lost) == (FailureKind.CRASH, True)
    assert codex.driver.eof(0, "") == []
    codex = Codex()
    codex.ask()
    codex.keep(codex.driver.interrupt())
    assert codex.driver.eof(-9, "") == [Finished(stopped=True)]


def test_a_turn_without_an_id_is_none() -> None:
    codex = Codex()
    codex.ask(begin=False)
    assert only(codex.reply({"turn": None})).session_lost
    assert codex.reply({"turn": {"id": "late"}}) == [Skipped("an answer to nothing that was asked")]


def test_images_stand_before_the_text() -> None:
    one = prompt("look")
    with_media = type(one)(one.dispatch, one.text, (Media(AttachmentRef("x"), "image/png", b"PNG"),))
    parts = json.loads(Codex().driver.frame(with_media))["params"]["input"]
    assert parts == [{"type": "image", "url": "data:image/png;base64,UE5H"}, {"type": "text", "text": "look"}]
    assert isinstance(Codex().driver.prompt(with_media)[-1], Send)
