"""The ACP driver in a turn: what counts as the agent's answer, how a turn ends."""

from typing import Any

import pytest

from kai.model.errors import FailureKind
from kai.model.events import (
    Ask,
    AskWithdrawn,
    Finished,
    Started,
    TextDelta,
    Thinking,
    ToolCall,
    ToolResult,
    Unsolicited,
    Usage,
)
from kai.protocols.driver import Lost, Output, Skipped, Wake
from tests.protocols.acp_agent import INFO, Agent, failed, only
from tests.protocols.agents import pick

# In a turn


def test_text_is_shown_as_it_comes_and_the_answer_ends_the_turn() -> None:
    agent = Agent()
    assert agent.ask("/cmd @x \u2028") == []
    assert agent.last["params"]["prompt"] == [{"type": "text", "text": "/cmd @x \u2028"}]
    assert agent.chunk("one ") == [Started("s-1", "", "a 1"), TextDelta("one ")]
    assert agent.chunk("two") == [TextDelta("two")]
    assert agent.chunk("") == []
    assert agent.end() == [Finished()]


def test_a_blank_line_stands_between_messages_with_ids_and_around_tools() -> None:
    agent = Agent()
    agent.ask()
    agent.chunk("a", messageId="m1")
    assert only(agent.chunk("b", messageId="m1")) == TextDelta("b")
    assert only(agent.chunk("c", messageId="m2")) == TextDelta("\n\nc")
    agent.end()
    agent.ask(number=2)
    agent.chunk("a")
    assert only(agent.update("agent_thought_chunk", content={"type": "text", "text": "hm"})) == Thinking("hm")
    assert only(agent.chunk("b")) == TextDelta("\n\nb")


def test_text_outside_a_prompt_is_unsolicited_after_a_pause() -> None:
    agent = Agent()
    agent.ask()
    agent.chunk("mine")
    agent.end()
    assert only(agent.chunk("late ")) == Wake(1.0, "aside")
    agent.chunk("words")
    assert agent.driver.wake("aside") == [Unsolicited("late words")]
    assert agent.driver.wake("aside") == []


def test_what_is_unsolicited_is_told_before_the_next_turn_begins() -> None:
    agent = Agent()
    agent.ask()
    agent.end()
    agent.chunk("late")
    assert agent.ask(number=2) == [Unsolicited("late")]


def test_unsolicited_text_without_a_pause_is_told_in_parts() -> None:
    agent = Agent()
    agent.ask()
    agent.end()
    told = [one for _ in range(50) for one in agent.chunk("x" * 1_000) if isinstance(one, Unsolicited)]
    assert len(told) >= 2


def test_a_late_piece_of_a_stopped_message_is_not_in_the_next_turn() -> None:
    agent = Agent()
    agent.ask()
    agent.chunk("old ", messageId="m1")
    agent.driver.interrupt()
    assert agent.end("cancelled")[-1] == Finished(stopped=True)
    agent.ask(number=2)
    assert [one for one in agent.chunk("more old", messageId="m1") if isinstance(one, TextDelta)] == []
    assert agent.chunk("new", messageId="m2")[-1] == TextDelta("new")


def test_an_agent_that_gives_every_message_the_same_id_is_heard_all_the_same() -> None:
    agent = Agent()
    for number in range(2):
        agent.ask(number=number)
        assert agent.chunk("x", messageId="m")[-1] == TextDelta("x")
        agent.end()
    agent.ask(number=3)
    agent.chunk("x", messageId="m")
    agent.driver.interrupt()
    agent.end("cancelled")
    agent.ask(number=4)
    assert agent.chunk("x", messageId="m")[-1] == TextDelta("x")


def test_updates_of_another_session_are_not_ours() -> None:
    agent = Agent()
    agent.ask()
    update = {"sessionUpdate": "agent_message_chunk", "content": {"type": "text", "text": "x"}}
    assert agent.out(method="session/update", params={"sessionId": "s-2", "update": update}) == []


def test_tool_calls_whose_titles_change_and_that_are_never_announced() -> None:
    agent = Agent()
    agent.ask()
    agent.update("tool_call", toolCallId="t", title="bash", kind="execute", status="pending", rawInput={})
    better = agent.update("tool_call_update", toolCallId="t", title="ls", rawInput={"command": "ls -l"})
    assert better == [ToolCall("t", "execute", "ls -l")]
    done = agent.update("tool_call_update", toolCallId="t", status="completed", rawOutput={"output": "x"})
    assert done[-1] == ToolResult("t", ok=True, detail="x")
    unknown = agent.update("tool_call_update", toolCallId="u", status="failed", title="cat x")
    assert unknown == [ToolCall("u", "tool", "cat x"), ToolResult("u", ok=False)]


@pytest.mark.parametrize("reason", ["end_turn", "", "a_reason_of_next_year"])
def test_an_unknown_stop_reason_is_an_ordinary_end(reason: str) -> None:
    agent = Agent()
    agent.ask()
    agent.chunk("x")
    assert agent.end(reason)[-1] == Finished()


@pytest.mark.parametrize(
    ("reason", "kind"),
    [
        ("refusal", FailureKind.REFUSED),
        ("max_tokens", FailureKind.CONTEXT),
        ("max_turn_requests", FailureKind.PROTOCOL),
    ],
)
def test_stop_reasons_that_are_no_success(reason: str, kind: FailureKind) -> None:
    agent = Agent()
    agent.ask()
    agent.chunk("x")
    assert failed(agent.end(reason)).kind is kind


def test_an_end_without_words_or_tools_is_empty() -> None:
    agent = Agent()
    agent.ask()
    assert failed(agent.end()).kind is FailureKind.EMPTY
    agent.ask(number=2)
    agent.update("tool_call", toolCallId="t", title="x")
    assert agent.end()[-1] == Finished()


@pytest.mark.parametrize("reason", ["refusal", "end_turn"])
def test_the_first_turn_after_a_load_that_ends_at_once_is_a_lost_session(reason: str) -> None:
    """One agent answers the load of an unknown id with success, and every prompt in it with a refusal."""
    agent = Agent(resume="s-1")
    agent.ask()
    end = failed(agent.end(reason))
    assert (end.kind, end.session_lost) == (FailureKind.RESUME, True)


def test_an_error_in_the_agent_s_mouth_is_held_back_and_told_as_a_failure() -> None:
    agent = Agent()
    agent.ask()
    assert [one for one in agent.chunk("HTTP 401: no key") if isinstance(one, TextDelta)] == []
    assert failed(agent.end()).kind is FailureKind.LOGIN


def test_an_error_both_as_text_and_as_an_error_is_told_once() -> None:
    agent = Agent()
    agent.ask()
    assert [one for one in agent.chunk("API Error: Request rejected (429)") if isinstance(one, TextDelta)] == []
    outputs = agent.fail(-32603, "Internal error: API Error: Request rejected (429)", {"errorKind": "rate_limit"})
    assert outputs == [failed(outputs)]
    assert failed(outputs).kind is FailureKind.QUOTA


def test_text_that_only_begins_like_an_error_is_shown_in_the_end() -> None:
    agent = Agent()
    agent.ask()
    agent.chunk("Error: ")
    assert agent.end() == [TextDelta("Error: "), Finished()]
    agent.ask(number=2)
    agent.chunk("HTTP ")
    assert agent.chunk("is a protocol")[-1:] == []
    assert agent.end()[0] == TextDelta("HTTP is a protocol")


@pytest.mark.parametrize(
    ("code", "message", "data", "kind"),
    [
        (401, '{"error":{"code":401}}', None, FailureKind.LOGIN),
        (-31002, "Unauthorized", None, FailureKind.LOGIN),
        (-32603, "Internal error", {"details": "model x not found"}, FailureKind.MODEL),
        (-32603, "Internal error", "socket hang up", FailureKind.PROVIDER),
        (-32600, "x", {"code": "turn.agent_busy"}, FailureKind.PROTOCOL),
        (0, "", None, FailureKind.PROTOCOL),
    ],
)
def test_errors_inside_and_outside_the_reserved_range(code: int, message: str, data: Any, kind: FailureKind) -> None:
    agent = Agent()
    agent.ask()
    end = failed(agent.fail(code, message, data))
    assert end.kind is kind
    assert not end.session_lost


def test_a_session_that_the_agent_does_not_know_any_more_is_lost() -> None:
    agent = Agent()
    agent.ask()
    assert failed(agent.fail(-32602, "Session not found: s-1")).session_lost


def test_an_agent_that_latches_a_refused_login_is_given_up() -> None:
    agent = Agent(quirks=("latches_login",))
    agent.ask()
    assert failed(agent.fail(-31002, "Unauthorized")).session_lost


def test_an_agent_that_a_stop_spoils_is_given_up_after_a_stop_and_after_an_error_of_its_own() -> None:
    agent = Agent(quirks=("stop_spoils",))
    agent.ask()
    agent.keep(agent.driver.interrupt())
    *_, end, lost = agent.end("cancelled")
    assert (end, type(lost)) == (Finished(stopped=True), Lost)
    agent = Agent(quirks=("stop_spoils",))
    agent.ask()
    assert failed(agent.fail(-32603, "Internal error", key=agent.prompt_id)).session_lost
    agent.ask(number=2)
    assert failed(agent.fail(429, "slow down", key=agent.prompt_id)).session_lost is False


@pytest.mark.parametrize("quirks", [(), ("takes_up_anything",)])
def test_an_empty_answer_to_a_resume_is_a_yes_unless_the_agent_says_yes_to_anything(quirks: tuple[str, ...]) -> None:
    agent = Agent(resume="s-0", open_it=False, quirks=quirks)
    able = {"loadSession": True, "sessionCapabilities": {"resume": {}}}
    agent.reply({**INFO, "agentCapabilities": able})
    assert agent.last["method"] == ("session/load" if quirks else "session/resume")
    answered = agent.reply({})
    assert [output.kind for output in answered if isinstance(output, Lost)] == [FailureKind.RESUME] * len(quirks)


def test_what_an_agent_tells_of_itself_is_no_word_of_the_answer_and_its_last_error_a_failure() -> None:
    agent = Agent(quirks=("tells_notices",))
    agent.ask()
    agent.chunk("one")
    assert agent.chunk("Info: Response was interrupted due to a server error. Retrying...") == []
    assert agent.chunk("two") == [TextDelta("\n\ntwo")]
    assert agent.chunk("Error: Failed to get response from the AI model") == []
    assert failed(agent.end()).kind is FailureKind.PROTOCOL
    agent.ask(number=2)
    agent.chunk("Error: Failed to get response from the AI model")
    agent.chunk("and yet an answer")
    assert agent.end()[-1] == Finished()


def test_what_an_agent_says_about_its_stop_is_no_word_of_the_answer() -> None:
    agent = Agent()
    agent.ask()
    agent.chunk("one")
    agent.driver.interrupt()
    assert agent.chunk("Operation interrupted: retrying API call after error (retry 1/3).") == []
    assert agent.end("cancelled")[-1] == Finished(stopped=True)


def test_a_second_answer_to_the_same_prompt_counts_for_nothing() -> None:
    agent = Agent()
    agent.ask()
    agent.chunk("x")
    agent.end()
    assert isinstance(only(agent.end()), Skipped)
    agent.ask(number=2)
    assert isinstance(only(agent.reply({"stopReason": "end_turn"}, 1)), Skipped)


# Questions and stops


PERMISSION = {
    "toolCall": {"toolCallId": "t", "title": "touch x", "rawInput": {"command": "touch x"}},
    "options": [
        {"optionId": "w", "name": "Always", "kind": "allow_always"},
        {"optionId": "n", "name": "No", "kind": "reject_once"},
        {"optionId": "y", "name": "Yes", "kind": "allow_once"},
        {"optionId": "?", "name": "Whatever", "kind": "allow_everything_for_ever"},
    ],
}


def permission(agent: Agent, key: int = 0) -> list[Output]:
    return agent.out(id=key, method="session/request_permission", params={"sessionId": "s-1", **PERMISSION})


def test_a_permission_is_asked_by_kind_and_answered_with_the_agent_s_own_id() -> None:
    agent = Agent()
    agent.ask()
    started, call, ask = permission(agent)
    assert isinstance(started, Started)
    assert call == ToolCall("t", "tool", "touch x")
    assert isinstance(ask, Ask)
    assert [choice.label for choice in ask.choices] == ["Always", "No", "Yes"]
    agent.keep(agent.driver.answer(ask.ask, pick(ask.choices, "allow_once")))
    assert agent.last == {"jsonrpc": "2.0", "id": 0, "result": {"outcome": {"outcome": "selected", "optionId": "y"}}}
    assert agent.driver.answer(ask.ask, None) == []


def test_a_stop_cancels_what_is_asked_for_as_the_protocol_demands() -> None:
    agent = Agent()
    agent.ask()
    ask = permission(agent)[-1]
    assert isinstance(ask, Ask)
    told = agent.keep(agent.driver.interrupt())
    assert agent.sent[-2] == {"jsonrpc": "2.0", "method": "session/cancel", "params": {"sessionId": "s-1"}}
    assert agent.last["result"] == {"outcome": {"outcome": "cancelled"}}
    assert told == [AskWithdrawn(ask.ask)]
    permission(agent, 1)
    assert agent.last == {"jsonrpc": "2.0", "id": 1, "result": {"outcome": {"outcome": "cancelled"}}}
    assert agent.end("cancelled")[-1] == Finished(stopped=True)


def test_with_nobody_there_a_permission_is_cancelled_at_once() -> None:
    agent = Agent()
    assert permission(agent) == []
    assert agent.last["result"] == {"outcome": {"outcome": "cancelled"}}


def test_auto_approval_takes_the_narrowest_yes() -> None:
    agent = Agent(permissions="bypass")
    agent.ask()
    permission(agent)
    assert agent.last["result"]["outcome"]["optionId"] == "y"


def test_what_nobody_offered_is_refused_at_once() -> None:
    agent = Agent()
    agent.ask()
    for method in ("fs/write_text_file", "fs/read_text_file", "terminal/create", "craft/drainMidTurnQueue"):
        assert isinstance(only(agent.out(id=method, method=method, params={})), Skipped)
        assert agent.last == {
            "jsonrpc": "2.0",
            "id": method,
            "error": {"code": -32601, "message": f"Method not found: {method}"},
        }


def test_an_agent_that_answers_a_stop_with_an_error_is_given_up() -> None:
    agent = Agent()
    agent.ask()
    agent.driver.interrupt()
    stopped, lost = agent.fail(-32603, "'NoneType' object has no attribute 'startswith'", key=agent.prompt_id)
    assert stopped == Finished(stopped=True)
    assert isinstance(lost, Lost)


def test_an_interrupt_without_a_turn_says_nothing() -> None:
    assert Agent().driver.interrupt() == []


def test_the_cost_is_that_of_this_turn() -> None:
    agent = Agent()
    cost = {"amount": 0.5, "currency": "USD"}
    agent.ask()
    agent.chunk("x")
    agent.update("usage_update", used=10, size=100, cost=cost)
    quota = {"quota": {"token_count": {"input_tokens": 7, "outputTokens": 3}}}
    assert agent.end(_meta=quota)[0] == Usage(7, 3, 0.5, 100, 10)
    agent.ask(number=2)
    agent.chunk("x")
    agent.update("usage_update", used=20, size=100, cost={**cost, "amount": 0.75})
    assert agent.end()[0] == Usage(None, None, 0.25, 100, 20)


def test_the_end_of_the_process_in_a_turn_is_a_crash_and_no_error_of_the_stop() -> None:
    agent = Agent()
    assert agent.driver.eof(0, "") == []
    agent.ask()
    assert failed(list(agent.driver.eof(0, ""))).kind is FailureKind.CRASH
    agent = Agent()
    agent.ask()
    agent.driver.interrupt()
    assert agent.driver.eof(-15, "")[-1] == Finished(stopped=True)


@pytest.mark.parametrize(
    "line", [b"Warning", b"[]", b"null", b'{"jsonrpc":"2.0"}', b'{"method":"x"}', b'{"id":1,"result":1}']
)
def test_noise_is_skipped(line: bytes) -> None:
    assert isinstance(only(list(Agent().driver.feed(line))), Skipped)


@pytest.mark.parametrize("kind", ["plan", "available_commands_update", "user_message_chunk", "config_option_update"])
def test_known_updates_that_say_nothing_are_not_worth_a_word(kind: str) -> None:
    agent = Agent()
    agent.ask()
    agent.chunk("x")
    assert agent.update(kind, content=None) == []
    assert agent.driver.feed(b"  ") == []
    assert agent.driver.wake("other") == []
