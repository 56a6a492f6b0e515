"""The stream-JSON driver: whose turn it is, which text counts, what a result comes to."""

import json
from typing import Any

import pytest

from kai.model.backends import ProtocolName
from kai.model.errors import FailureKind
from kai.model.events import Compacted, Failed, Finished, Limit, Started, TextDelta, ToolCall, Unsolicited, Usage
from kai.protocols.driver import Background, Lost, Output, Ready, Send, Skipped
from kai.protocols.stream_json import StreamJson
from tests.protocols.agents import prompt, setup

ABLE = {"capabilities": ["msg_lifecycle_v1"]}


class Claude:
    """A driver, and the CLI's side of the talk."""

    def __init__(self, *, resume: str = "", ready: bool = True) -> None:
        self.driver = StreamJson(setup(ProtocolName.STREAM_JSON, "/"))
        self.driver.start(resume)
        self.uuid = ""
        if ready:
            response = {"subtype": "success", "request_id": "kai-1", "response": {"claude_code_version": "9"}}
            assert self.out(type="control_response", response=response) == [Ready(resume, bool(resume), "9", "")]

    def out(self, **msg: Any) -> list[Output]:
        return list(self.driver.feed(json.dumps(msg).encode()))

    def ask(self, text: str = "words", *, begin: bool = True) -> dict[str, Any]:
        (send,) = self.driver.prompt(prompt(text))
        assert isinstance(send, Send)
        frame: dict[str, Any] = json.loads(send.frame)
        self.uuid = frame["uuid"]
        if begin:
            self.begin()
        return frame

    def begin(self) -> None:
        self.lifecycle("queued")
        self.lifecycle("started")

    def lifecycle(self, state: str) -> list[Output]:
        return self.out(type="command_lifecycle", command_uuid=self.uuid, state=state)

    def init(self, **more: Any) -> list[Output]:
        return self.out(type="system", subtype="init", session_id="s-1", model="m", claude_code_version="9", **more)

    def delta(self, text: str) -> list[Output]:
        delta = {"type": "content_block_delta", "index": 0, "delta": {"type": "text_delta", "text": text}}
        return self.out(type="stream_event", event=delta)

    def message(self, message: str) -> list[Output]:
        return self.out(type="stream_event", event={"type": "message_start", "message": {"id": message}})

    def block(self, message: str, text: str, **more: Any) -> list[Output]:
        content = [{"type": "text", "text": text}]
        return self.out(type="assistant", message={"id": message, "content": content}, **more)

    def result(self, **fields: Any) -> list[Output]:
        ours = {"user_message_uuids": [self.uuid]}
        return self.out(**{"type": "result", "subtype": "success", "is_error": False, "num_turns": 1, **ours, **fields})


def test_readiness_is_known_before_any_message() -> None:
    driver = StreamJson(setup(ProtocolName.STREAM_JSON, "/"))
    (send,) = driver.start("")
    assert isinstance(send, Send)
    assert json.loads(send.frame)["request"] == {"subtype": "initialize"}


def test_a_cli_that_knows_no_initialize_is_too_old() -> None:
    claude = Claude(ready=False)
    (lost,) = claude.out(type="control_response", response={"subtype": "error", "request_id": "kai-1", "error": "no"})
    assert isinstance(lost, Lost)
    assert lost.kind is FailureKind.OLD


def test_the_prompt_goes_byte_for_byte_under_its_dispatch_s_uuid() -> None:
    text = "/compact @file \u2028 `x`\n\tend  "
    frame = Claude().ask(text)
    assert frame["message"] == {"role": "user", "content": text}
    assert frame == Claude().ask(text)


def test_text_comes_from_the_deltas_once() -> None:
    claude = Claude()
    claude.ask()
    claude.init(**ABLE)
    claude.message("m1")
    assert claude.delta("one ") == [TextDelta("one ")]
    assert claude.delta("two") == [TextDelta("two")]
    assert claude.block("m1", "one two") == []
    assert claude.result(result="one two")[-1] == Finished()


def test_text_that_comes_only_as_a_block_is_said_once() -> None:
    claude = Claude()
    claude.ask()
    assert claude.block("m1", "whole") == [TextDelta("whole")]
    assert claude.result(result="whole")[-1] == Finished()


def test_a_blank_line_stands_between_messages_and_none_within_one() -> None:
    claude = Claude()
    claude.ask()
    claude.message("m1")
    claude.delta("a")
    claude.delta("b")
    claude.message("m2")
    assert claude.delta("c") == [TextDelta("\n\nc")]
    claude.block("m1", "ab")
    claude.block("m2", "c")
    assert claude.block("m3", "d") == [TextDelta("\n\nd")]
    assert claude.result()[-1] == Finished()


def test_what_a_retried_request_had_said_does_not_count_in_the_end() -> None:
    claude = Claude()
    claude.ask()
    claude.message("m1")
    claude.delta("half an ans")
    retry = claude.out(type="system", subtype="api_retry", attempt=1, max_retries=10, error_status=529)
    assert retry == [Limit("The provider did not answer (529); try 1 of 10.")]
    claude.message("m2")
    claude.delta("half an answer")
    claude.block("m2", "half an answer")
    assert claude.result(result="half an answer")[-1] == Finished(text="half an answer")


def test_a_sub_agent_s_words_and_tools_are_not_the_answer_s() -> None:
    claude = Claude()
    claude.ask()
    assert claude.block("m1", "inner", parent_tool_use_id="t") == []
    event = {"type": "content_block_delta", "delta": {"type": "text_delta", "text": "inner"}}
    assert claude.out(type="stream_event", event=event, parent_tool_use_id="t") == []


def test_a_turn_that_nobody_asked_for_is_unsolicited_and_never_the_next_answer() -> None:
    claude = Claude()
    claude.ask()
    claude.init(**ABLE)
    claude.block("m1", "mine")
    claude.result(result="mine")
    assert claude.init(**ABLE) == [Background(works=True)]
    assert claude.block("m2", "background") == []
    # The next prompt is sent while that turn runs.
    claude.ask("next", begin=False)
    claude.lifecycle("queued")
    assert claude.block("m2", "more") == []
    other = {"user_message_uuids": [], "origin": {"kind": "task-notification"}}
    assert claude.result(result="more", **other) == [Unsolicited("background\n\nmore"), Background(works=False)]
    claude.lifecycle("started")
    assert isinstance(claude.init(user_message_uuids=[claude.uuid])[0], Started)
    assert claude.block("m3", "answer") == [TextDelta("answer")]
    assert claude.result(result="answer")[-1] == Finished()


def test_a_sub_agent_or_a_command_that_goes_on_after_the_result_is_work() -> None:
    claude = Claude()
    claude.ask()
    claude.init(**ABLE)
    changed = {"type": "system", "subtype": "background_tasks_changed"}
    assert claude.out(**changed, tasks=[{"task_id": "t", "task_type": "local_agent"}]) == [Background(works=True)]
    claude.block("m1", "mine")
    assert Background(works=False) not in claude.result(result="mine")
    assert claude.out(**changed, tasks=[]) == [Background(works=False)]


def test_late_words_outside_any_turn_of_the_cli_are_told_at_once() -> None:
    claude = Claude()
    claude.ask()
    claude.init(**ABLE)
    claude.result(result="mine")
    assert claude.block("m9", "late") == [Unsolicited("late")]


def test_a_result_of_another_message_is_not_ours() -> None:
    claude = Claude()
    claude.ask()
    assert claude.result(user_message_uuids=["another"], result="x") == [Unsolicited("x")]
    assert claude.result(result="y")[-1] == Finished(text="y")


def test_a_cli_without_lifecycle_lines_is_taken_at_its_word() -> None:
    claude = Claude()
    claude.ask(begin=False)
    claude.init()
    claude.block("m1", "x")
    assert claude.result(user_message_uuids=None)[-1] == Finished()


def test_an_answer_into_a_running_background_turn_is_ours_from_where_it_began() -> None:
    claude = Claude()
    claude.init(**ABLE)
    claude.block("m1", "background")
    claude.ask()
    assert claude.block("m2", "to you") == [TextDelta("to you")]
    assert claude.result() == [Unsolicited("background"), Finished()]


def test_a_second_result_is_not_the_end_of_the_next_turn() -> None:
    claude = Claude()
    claude.ask()
    first = claude.uuid
    claude.result(result="x")
    claude.ask("next")
    assert claude.result(user_message_uuids=[first], result="x again") == [Unsolicited("x again")]


@pytest.mark.parametrize(
    ("fields", "kind"),
    [
        ({"is_error": True, "terminal_reason": "api_error", "api_error_status": 401, "result": "x"}, FailureKind.LOGIN),
        ({"is_error": True, "terminal_reason": "image_error", "api_error_status": 413}, FailureKind.CONTEXT),
        ({"subtype": "error_max_turns"}, FailureKind.PROTOCOL),
        ({"subtype": "error_during_execution", "is_error": True, "errors": ["boom"]}, FailureKind.PROTOCOL),
        ({"result": ""}, FailureKind.EMPTY),
        ({"result": None, "errors": None, "usage": None}, FailureKind.EMPTY),
        ({"is_error": True, "result": "Not logged in · Please run /login"}, FailureKind.LOGIN),
    ],
)
def test_a_result_is_never_judged_by_its_subtype_alone(fields: dict[str, Any], kind: FailureKind) -> None:
    claude = Claude()
    claude.ask()
    end = claude.result(**fields)[-1]
    assert isinstance(end, Failed)
    assert end.kind is kind


def test_an_error_line_is_not_relayed_as_the_agent_s_words() -> None:
    claude = Claude()
    claude.ask()
    assert claude.block("e", "API Error: 500", error="server_error") == []
    end = claude.result(is_error=True, result="API Error: 500")[-1]
    assert isinstance(end, Failed)
    assert end.kind is FailureKind.PROVIDER


def test_a_broken_off_answer_is_the_provider_s_failure() -> None:
    claude = Claude()
    claude.ask()
    claude.message("m1")
    claude.delta("half")
    end = claude.result(result="")[-1]
    assert isinstance(end, Failed)
    assert end.kind is FailureKind.PROVIDER


def test_a_turn_of_tools_alone_is_no_failure() -> None:
    claude = Claude()
    claude.ask()
    use = {"type": "tool_use", "id": "t1", "name": "Bash", "input": {"command": "ls"}}
    called = claude.out(type="assistant", message={"id": "m", "content": [use]})
    assert called == [ToolCall("t1", "Bash", "ls")]
    assert claude.result(result="")[-1] == Finished()


def test_a_local_command_without_words_is_no_failure() -> None:
    claude = Claude(resume="s-0")
    claude.ask("/compact")
    assert claude.out(type="system", subtype="compact_boundary") == [Compacted()]
    assert claude.result(num_turns=0, local_command="compact")[-1] == Finished()


def test_what_a_compaction_says_once_more_is_not_said_again() -> None:
    claude = Claude()
    claude.ask()
    kept = {"preserved_messages": {"all_uuids": ["u-1"]}}
    claude.out(type="system", subtype="compact_boundary", compact_metadata=kept)
    assert claude.block("m0", "old words", uuid="u-1") == []
    assert claude.block("m1", "new words", uuid="u-2") == [TextDelta("new words")]


def test_a_reset_conversation_has_a_new_id_and_knows_nothing_of_what_it_was_shown() -> None:
    claude = Claude()
    claude.ask("/clear")
    assert claude.out(type="conversation_reset") == []
    started, compacted = claude.out(type="system", subtype="init", session_id="s-2", user_message_uuids=[claude.uuid])
    assert started == Started("s-2")
    assert compacted == Compacted()
    assert claude.driver.native_id == "s-2"


def test_an_unknown_resume_id_loses_the_session_before_and_after_readiness() -> None:
    error = {"subtype": "error_during_execution", "is_error": True, "errors": ["No conversation found with session ID"]}
    early = Claude(resume="s-0", ready=False)
    (lost,) = early.out(type="result", **error)
    assert isinstance(lost, Lost)
    assert lost.kind is FailureKind.RESUME
    late = Claude(resume="s-0")
    late.ask(begin=False)
    end = late.out(type="result", **error)[-1]
    assert isinstance(end, Failed)
    assert (end.kind, end.session_lost) == (FailureKind.RESUME, True)


def test_an_empty_success_without_a_turn_after_a_resume_is_a_lost_session() -> None:
    claude = Claude(resume="s-0")
    claude.ask()
    end = claude.result(num_turns=0, result="")[-1]
    assert isinstance(end, Failed)
    assert (end.kind, end.session_lost) == (FailureKind.RESUME, True)


def test_what_was_too_much_for_the_model_poisons_the_session() -> None:
    claude = Claude()
    claude.ask()
    end = claude.result(is_error=True, api_error_status=413, result="Request too large")[-1]
    assert isinstance(end, Failed)
    assert end.session_lost


def test_an_interrupt_ends_as_stopped_and_not_as_an_error() -> None:
    claude = Claude()
    claude.ask()
    (send,) = claude.driver.interrupt()
    assert isinstance(send, Send)
    request = json.loads(send.frame)["request_id"]
    receipt = {"subtype": "success", "request_id": request, "response": {"still_queued": []}}
    assert claude.out(type="control_response", response=receipt) == []
    error = {"subtype": "error_during_execution", "is_error": True, "errors": ["[ede_diagnostic] x"]}
    assert claude.result(terminal_reason="aborted_streaming", **error)[-1] == Finished(stopped=True)


def test_an_interrupt_of_a_message_that_waits_is_repeated_when_it_begins() -> None:
    claude = Claude()
    claude.ask(begin=False)
    claude.lifecycle("queued")
    (send,) = claude.driver.interrupt()
    assert isinstance(send, Send)
    request = json.loads(send.frame)["request_id"]
    receipt = {"subtype": "success", "request_id": request, "response": {"still_queued": [claude.uuid]}}
    claude.out(type="control_response", response=receipt)
    (again,) = claude.lifecycle("started")
    assert isinstance(again, Send)
    assert json.loads(again.frame)["request"] == {"subtype": "interrupt"}


def test_an_interrupt_without_a_turn_says_nothing() -> None:
    assert Claude().driver.interrupt() == []


def test_a_message_that_the_cli_drops_fails_instead_of_waiting_for_ever() -> None:
    claude = Claude()
    claude.ask(begin=False)
    end = claude.lifecycle("completed")[-1]
    assert isinstance(end, Failed)


def test_the_usage_is_that_of_this_turn() -> None:
    claude = Claude()
    claude.ask()
    claude.out(
        type="assistant",
        message={
            "id": "m",
            "content": [{"type": "text", "text": "x"}],
            "usage": {"input_tokens": 10, "cache_read_input_tokens": 5},
        },
    )
    model = {"inputTokens": 10, "cacheReadInputTokens": 5, "outputTokens": 3, "costUSD": 0.5, "contextWindow": 1000}
    usage, _ = claude.result(total_cost_usd=99, model_usage_since_last_result={"m": model})
    assert usage == Usage(15, 3, 0.5, 1000, 15)


def test_a_usage_limit_with_and_without_its_time() -> None:
    claude = Claude()
    claude.ask()
    assert claude.out(type="rate_limit_event", rate_limit_info={"status": "allowed", "resetsAt": 5}) == []
    assert claude.out(type="rate_limit_event", rate_limit_info=None) == []
    (limit,) = claude.out(type="rate_limit_event", rate_limit_info={"status": "rejected", "resetsAt": None})
    assert isinstance(limit, Limit)
    assert limit.resets_at is None
    (limit,) = claude.out(type="rate_limit_event", rate_limit_info={"status": "rejected", "resetsAt": 1796040000})
    end = claude.result(is_error=True, api_error_status=429, result="limit")[-1]
    assert isinstance(limit, Limit)
    assert isinstance(end, Failed)
    assert end.kind is FailureKind.QUOTA
    assert end.resets_at == limit.resets_at is not None


@pytest.mark.parametrize("line", [b"", b"   ", b'{"type":"keep_alive"}', b'{"type":"system","subtype":"task_updated"}'])
def test_signs_of_life_say_nothing(line: bytes) -> None:
    assert Claude().driver.feed(line) == []


@pytest.mark.parametrize("line", [b"Warning: x", b"[1]", b"null", b'{"type":"banana"}', b'{"type":null}', b"{}"])
def test_what_is_not_known_is_skipped(line: bytes) -> None:
    (skipped,) = Claude().driver.feed(line)
    assert isinstance(skipped, Skipped)


def test_an_unknown_request_of_the_cli_is_refused_at_once() -> None:
    (send,) = Claude().out(type="control_request", request_id="r", request={"subtype": "hook_callback"})
    assert isinstance(send, Send)
    assert json.loads(send.frame)["response"]["subtype"] == "error"


def test_the_end_of_the_process_is_told_by_where_it_struck() -> None:
    (lost,) = Claude(ready=False).driver.eof(1, "--dangerously-skip-permissions cannot be used with root\n")
    assert isinstance(lost, Lost)
    assert lost.kind is FailureKind.LAUNCH
    assert "cannot be used with root" in lost.reason
    assert Claude().driver.eof(0, "") == []
    running = Claude()
    running.ask()
    (end,) = running.driver.eof(0, "")
    assert isinstance(end, Failed)
    assert (end.kind, end.session_lost) == (FailureKind.CRASH, True)
    stopping = Claude()
    stopping.ask()
    stopping.driver.interrupt()
    assert stopping.driver.eof(143, "") == [Finished(stopped=True)]
