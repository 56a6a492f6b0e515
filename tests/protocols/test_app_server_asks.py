"""What Codex asks, and how a person's answer reaches it."""

import json
from typing import Any

import pytest

from kai.model.events import Ask, AskWithdrawn, Choice, ChoiceKind
from kai.protocols.app_server_asks import Asks
from kai.protocols.driver import Output, Send, Skipped
from kai.wire.jsonrpc import Request
from tests.protocols.agents import pick

COMMAND = Request(0, "item/commandExecution/requestApproval", {"itemId": "c", "command": "rm -r x", "cwd": "/w"})
FILES = Request(1, "item/fileChange/requestApproval", {"itemId": "f", "grantRoot": "/etc"})
MORE = Request(
    2, "item/permissions/requestApproval", {"itemId": "p", "permissions": {"network": True}, "reason": "why"}
)
RED, BLUE = {"label": "Red", "description": "r"}, {"label": "Blue", "description": "b"}
QUESTIONS = Request(
    3,
    "item/tool/requestUserInput",
    {"questions": [{"id": "a", "question": "Which?", "options": [RED, BLUE]}, {"id": "b", "question": "Why?"}]},
)


CALL = Request(
    4,
    "mcpServer/elicitation/request",
    {
        "message": "Allow the x MCP server to run tool 'y'?",
        "_meta": {"codex_approval_kind": "mcp_tool_call", "tool_params": {"query": "quinces"}},
    },
)


def put(asks: Asks, request: Request) -> Ask:
    (asked,) = asks.ask(request, anyone_there=True)
    assert isinstance(asked, Ask)
    return asked


def told(outputs: list[Output]) -> Any:
    (send,) = outputs
    assert isinstance(send, Send)
    return json.loads(send.frame)


@pytest.mark.parametrize(
    ("kind", "decision"),
    [("allow_once", "accept"), ("allow_always", "acceptForSession"), ("reject_once", "decline")],
)
def test_a_decision_goes_by_the_kind_of_the_choice(kind: str, decision: str) -> None:
    asks = Asks(auto_allow=False)
    asked = put(asks, COMMAND)
    assert asked.title == "shell: rm -r x"
    assert "rm -r x" in asked.detail
    assert "in /w" in asked.detail
    answer = told(asks.answer(asked.ask, pick(asked.choices, kind), ""))
    assert answer == {"jsonrpc": "2.0", "id": 0, "result": {"decision": decision}}
    assert asks.answer(asked.ask, None, "") == [], "answered already"


def test_no_choice_and_a_choice_of_another_kind_decline() -> None:
    asks = Asks(auto_allow=False)
    for choice in (None, Choice("x", "x", ChoiceKind.ANSWER), Choice("x", "x", ChoiceKind.REJECT_ALWAYS)):
        assert told(asks.answer(put(asks, COMMAND).ask, choice, "words"))["result"] == {"decision": "decline"}


def test_a_question_about_files_shows_what_would_be_changed() -> None:
    asks = Asks(auto_allow=False)
    asks.note({"id": "f", "changes": [{"path": "/w/a", "kind": {"type": "add"}, "diff": "written by a model"}]})
    asked = put(asks, FILES)
    assert asked.title == "edit: add /w/a"
    assert "written by a model" in asked.detail
    assert "/etc" in asked.detail


def test_more_permissions_are_granted_for_the_turn_or_the_session_or_not() -> None:
    asks = Asks(auto_allow=False)
    asked = put(asks, MORE)
    assert '"network": true' in asked.detail
    given = told(asks.answer(asked.ask, pick(asked.choices, "allow_once"), ""))["result"]
    assert given == {"permissions": {"network": True}, "scope": "turn"}
    always = told(asks.answer(put(asks, MORE).ask, pick(asked.choices, "allow_always"), ""))["result"]
    assert always == {"permissions": {"network": True}, "scope": "session"}
    assert told(asks.answer(put(asks, MORE).ask, None, ""))["result"] == {"permissions": {}, "scope": "turn"}


def test_a_call_of_an_mcp_tool_is_allowed_once_for_the_session_or_not() -> None:
    asks = Asks(auto_allow=False)
    asked = put(asks, CALL)
    assert asked.title == "Allow the x MCP server to run tool 'y'?"
    assert "query: quinces" in asked.detail
    answer = told(asks.answer(asked.ask, pick(asked.choices, "allow_once"), ""))["result"]
    assert answer == {"action": "accept", "content": {}, "_meta": None}
    answer = told(asks.answer(put(asks, CALL).ask, pick(asked.choices, "allow_always"), ""))["result"]
    assert answer["_meta"] == {"persist": "session"}
    assert told(asks.answer(put(asks, CALL).ask, None, ""))["result"]["action"] == "decline"
    form = Request(5, CALL.method, {"message": "Your name?", "_meta": None})
    refusal, _ = asks.ask(form, anyone_there=True)
    assert isinstance(refusal, Send)
    assert b"-32601" in refusal.frame


def test_what_is_nested_too_deeply_to_be_written_is_refused() -> None:
    deep: Any = []
    for _ in range(100_000):
        deep = [deep]
    asks = Asks(auto_allow=True)
    (refusal,) = asks.ask(Request(6, MORE.method, {"permissions": deep}), anyone_there=True)
    assert isinstance(refusal, Send)
    assert b"error" in refusal.frame


def test_questions_are_asked_one_after_the_other() -> None:
    asks = Asks(auto_allow=True)
    first = put(asks, QUESTIONS)
    assert (first.title, first.detail, first.free_text) == ("Which?", "Red: r\nBlue: b", True)
    (second,) = asks.answer(first.ask, first.choices[1], "")
    assert isinstance(second, Ask)
    assert second.title == "Why?"
    answers = told(asks.answer(second.ask, None, "because"))["result"]["answers"]
    assert answers == {"a": {"answers": ["Blue"]}, "b": {"answers": ["because"]}}


def test_a_question_that_nobody_answers_ends_the_asking() -> None:
    asks = Asks(auto_allow=False)
    assert told(asks.answer(put(asks, QUESTIONS).ask, None, ""))["result"] == {"answers": {}}
    assert told(asks.ask(QUESTIONS, anyone_there=False))["result"] == {"answers": {}}


def test_where_nobody_waits_it_is_declined_and_where_nobody_is_to_be_asked_allowed() -> None:
    assert told(Asks(auto_allow=True).ask(COMMAND, anyone_there=False))["result"] == {"decision": "decline"}
    assert told(Asks(auto_allow=True).ask(FILES, anyone_there=True))["result"] == {"decision": "accept"}


def test_an_unknown_request_is_refused_at_once_even_with_the_id_0() -> None:
    refusal, skipped = Asks(auto_allow=True).ask(Request(0, "attestation/generate", {}), anyone_there=True)
    assert isinstance(refusal, Send)
    assert json.loads(refusal.frame)["error"]["code"] == -32601
    assert isinstance(skipped, Skipped)


def test_what_codex_does_not_wait_for_any_more_is_withdrawn() -> None:
    asks = Asks(auto_allow=False)
    one, other = put(asks, COMMAND), put(asks, FILES)
    assert asks.withdraw(0) == [AskWithdrawn(one.ask)]
    assert asks.withdraw(None) == []
    assert asks.forget() == [AskWithdrawn(other.ask)]
    assert asks.answer(other.ask, None, "") == []
