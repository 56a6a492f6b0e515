"""Permission questions of ACP agents in odd shapes."""

import json
from typing import Any

import pytest

from kai.model.events import Ask, Choice, ChoiceKind, ToolResult
from kai.protocols.acp_calls import Calls, unasked
from kai.protocols.driver import McpServer, Output, Send


def ask(calls: Calls, options: Any, call: Any = None) -> Ask:
    asked = calls.ask(7, {"toolCall": call or {"toolCallId": "t"}, "options": options}, anyone_there=True)[-1]
    assert isinstance(asked, Ask)
    return asked


def outcome(outputs: list[Output]) -> Any:
    (send,) = outputs
    assert isinstance(send, Send)
    return json.loads(send.frame)["result"]["outcome"]


def option(kind: str) -> dict[str, str]:
    return {"optionId": f"id-{kind}", "name": kind, "kind": kind}


def test_a_denial_takes_the_narrowest_refusal_and_never_one_for_ever() -> None:
    calls = Calls(auto_allow=False)
    asked = ask(calls, [option("reject_always"), option("allow_once"), option("reject_once")])
    assert outcome(calls.answer(asked.ask, None)) == {"outcome": "selected", "optionId": "id-reject_once"}
    asked = ask(calls, [option("reject_always"), option("allow_once")])
    assert outcome(calls.answer(asked.ask, None)) == {"outcome": "cancelled"}


def test_a_choice_that_the_agent_does_not_offer_is_a_denial() -> None:
    calls = Calls(auto_allow=False)
    asked = ask(calls, [option("allow_once"), option("reject_once")])
    always = Choice("x", "x", ChoiceKind.ALLOW_ALWAYS)
    assert outcome(calls.answer(asked.ask, always))["optionId"] == "id-reject_once"


def test_a_choice_is_found_by_its_kind_where_its_key_is_not_ours() -> None:
    calls = Calls(auto_allow=False)
    asked = ask(calls, [option("allow_once"), option("reject_once")])
    once = Choice("from-before", "x", ChoiceKind.ALLOW_ONCE)
    assert outcome(calls.answer(asked.ask, once))["optionId"] == "id-allow_once"


@pytest.mark.parametrize("options", [None, [], 7, [None, 7, {}], [{"kind": "allow_once"}], [{"optionId": "x"}]])
def test_without_usable_options_there_is_still_a_no(options: Any) -> None:
    calls = Calls(auto_allow=False)
    asked = ask(calls, options)
    assert [choice.kind for choice in asked.choices] == [ChoiceKind.REJECT_ONCE]
    assert outcome(calls.answer(asked.ask, asked.choices[0])) == {"outcome": "cancelled"}


def test_two_options_of_one_kind_are_two_choices() -> None:
    calls = Calls(auto_allow=False)
    options = [option("allow_always"), {**option("allow_always"), "optionId": "for-ever", "name": "For ever"}]
    asked = ask(calls, options)
    assert [choice.label for choice in asked.choices] == ["allow_always", "For ever", "Deny"]
    assert outcome(calls.answer(asked.ask, asked.choices[1]))["optionId"] == "for-ever"


def test_a_question_that_names_only_a_call_shows_what_is_known_of_it() -> None:
    calls = Calls(auto_allow=False)
    calls.note({"toolCallId": "t", "title": "Write x", "rawInput": {"path": "/x", "content": "all of it " * 500}})
    asked = ask(calls, [option("allow_once")])
    assert asked.title == "Write x"
    assert "all of it " * 500 in asked.detail


def test_a_change_to_a_file_is_shown_whole() -> None:
    diff = {"type": "diff", "path": "/x", "oldText": None, "newText": "new " * 2_000}
    asked = ask(Calls(auto_allow=False), [], {"toolCallId": "t", "title": "Write", "content": [diff]})
    assert "new " * 2_000 in asked.detail
    assert "/x" in asked.detail


def test_auto_approval_takes_the_wider_yes_only_where_there_is_no_other() -> None:
    calls = Calls(auto_allow=True)
    params = {"toolCall": {"toolCallId": "t"}, "options": [option("allow_always"), option("reject_once")]}
    assert outcome(calls.ask(1, params, anyone_there=True)[1:])["optionId"] == "id-allow_always"
    params["options"] = [option("reject_once")]
    assert isinstance(calls.ask(1, params, anyone_there=True)[-1], Ask)


def test_a_call_without_an_id_is_no_call() -> None:
    calls = Calls(auto_allow=False)
    assert calls.note({"title": "x"}) == []
    assert not calls.any


def test_a_question_under_an_id_of_its_own_is_about_the_one_call_of_its_kind_that_runs() -> None:
    calls = Calls(auto_allow=False)
    calls.note({"toolCallId": "c1", "kind": "edit", "status": "completed"})
    calls.note({"toolCallId": "c2", "kind": "edit", "title": "write: x"})
    asked = ask(calls, [option("allow_once")], {"toolCallId": "approval-1", "kind": "edit"})
    assert asked.tool_id == "c2"
    calls.note({"toolCallId": "c3", "kind": "edit"})
    assert ask(calls, [option("allow_once")], {"toolCallId": "approval-2", "kind": "edit"}).tool_id == "approval-2"


def test_at_a_good_end_a_call_whose_result_was_never_told_is_done_unless_it_was_denied() -> None:
    calls = Calls(auto_allow=False)
    calls.note({"toolCallId": "told", "status": "failed"})
    for number, kind in enumerate(("allow_once", "reject_once")):
        asked = ask(calls, [option("allow_once"), option("reject_once")], {"toolCallId": f"t{number}"})
        calls.answer(asked.ask, next(choice for choice in asked.choices if choice.kind.value == kind))
    assert calls.finish() == [ToolResult("t0", ok=True), ToolResult("t1", ok=False)]
    calls.forget()
    assert calls.finish() == []


LOOKS = unasked((McpServer("kai", "/bin/kai", unasked=("history_read",)),))


@pytest.mark.parametrize(
    "call",
    [
        {"title": "history_read (kai MCP Server)", "kind": "other"},
        {"title": "kai_history_read"},
        {"title": "x", "_meta": {"claudeCode": {"toolName": "mcp__kai__history_read"}}},
    ],
)
def test_a_tool_of_kai_that_only_looks_is_allowed_once_without_a_question(call: dict[str, Any]) -> None:
    params = {"toolCall": {"toolCallId": "t", **call}, "options": [option("allow_always"), option("allow_once")]}
    answered = Calls(auto_allow=False, unasked=LOOKS).ask(1, params, anyone_there=True)
    assert outcome(answered[1:])["optionId"] == "id-allow_once"


@pytest.mark.parametrize(
    "call",
    [
        {"title": "kai_history_read", "kind": "execute"},  # the attack: a program of that name, run in the shell
        {"title": "kai_history_read; rm -rf /"},
        {"title": "history_read (other MCP Server)"},
        {"title": "kai_memory_save"},
        {"title": "history_read"},
    ],
)
def test_whatever_else_looks_like_it_is_asked_about(call: dict[str, Any]) -> None:
    ask(Calls(auto_allow=False, unasked=LOOKS), [option("allow_once")], {"toolCallId": "t", **call})
