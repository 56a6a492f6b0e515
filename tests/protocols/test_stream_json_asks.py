"""Questions of Claude Code: whole arguments, narrowest answers, nothing left open."""

import json
from typing import Any

from kai.model.events import Ask, AskWithdrawn, Choice, ChoiceKind
from kai.protocols.driver import Output, Send
from kai.protocols.stream_json_asks import Asks
from tests.protocols.agents import pick

SUGGESTIONS = [
    {"type": "setMode", "mode": "acceptEdits", "destination": "session"},
    {"type": "addRules", "rules": [{"toolName": "Bash", "ruleContent": "ls *"}], "destination": "localSettings"},
]


def asked(asks: Asks, name: str, arguments: Any, **more: Any) -> Ask:
    (ask,) = asks.ask("r-1", {"tool_name": name, "input": arguments, "tool_use_id": "t1", **more}, anyone_there=True)
    assert isinstance(ask, Ask)
    return ask


def reply(outputs: list[Output]) -> Any:
    (send,) = outputs
    assert isinstance(send, Send)
    response = json.loads(send.frame)["response"]
    assert response["request_id"] == "r-1"
    return response["response"]


def test_a_person_sees_the_whole_call_and_allows_it_once() -> None:
    asks = Asks(auto_allow=False)
    arguments = {"command": "rm " + "x" * 10_000}
    ask = asked(asks, "Bash", arguments, decision_reason="it deletes")
    assert arguments["command"] in ask.detail
    assert "it deletes" in ask.detail
    assert reply(asks.answer(ask.ask, pick(ask.choices, "allow_once"), "")) == {
        "behavior": "allow",
        "updatedInput": arguments,
    }


def test_always_is_the_narrowest_suggestion_and_only_for_this_session() -> None:
    asks = Asks(auto_allow=False)
    ask = asked(asks, "Bash", {"command": "ls"}, permission_suggestions=SUGGESTIONS)
    assert pick(ask.choices, "allow_always").label == "Allow Bash(ls *) in this session"
    (rule,) = reply(asks.answer(ask.ask, pick(ask.choices, "allow_always"), ""))["updatedPermissions"]
    assert rule["type"] == "addRules"
    assert rule["destination"] == "session"


def test_without_a_suggestion_there_is_no_always() -> None:
    ask = asked(Asks(auto_allow=False), "Bash", {"command": "ls"}, permission_suggestions=None)
    assert [choice.kind for choice in ask.choices] == [ChoiceKind.ALLOW_ONCE, ChoiceKind.REJECT_ONCE]


def test_no_answer_and_an_answer_of_no_meaning_here_are_denials() -> None:
    for choice in (None, Choice("x", "x", ChoiceKind.ANSWER), Choice("x", "x", ChoiceKind.REJECT_ALWAYS)):
        asks = Asks(auto_allow=False)
        ask = asked(asks, "Bash", {"command": "ls"})
        assert reply(asks.answer(ask.ask, choice, ""))["behavior"] == "deny"


def test_a_second_answer_and_one_to_a_withdrawn_question_do_nothing() -> None:
    asks = Asks(auto_allow=False)
    ask = asked(asks, "Bash", {})
    asks.answer(ask.ask, None, "")
    assert asks.answer(ask.ask, None, "") == []
    again = asked(asks, "Bash", {})
    assert asks.withdraw("r-1") == [AskWithdrawn(again.ask)]
    assert asks.withdraw("r-1") == []
    assert asks.answer(again.ask, None, "") == []


def test_in_a_turn_that_nobody_waits_for_everything_is_denied_at_once() -> None:
    for name in ("Bash", "AskUserQuestion", "ExitPlanMode"):
        asks = Asks(auto_allow=True)
        assert reply(asks.ask("r-1", {"tool_name": name, "input": {}}, anyone_there=False))["behavior"] == "deny"


def test_auto_approval_never_answers_a_question() -> None:
    asks = Asks(auto_allow=True)
    request = {"tool_name": "Bash", "input": {"command": "ls"}}
    assert reply(asks.ask("r-1", request, anyone_there=True))["behavior"] == "allow"
    assert asked(asks, "ExitPlanMode", {"plan": "p"}).detail == "p"
    assert asked(asks, "AskUserQuestion", {"questions": [{"question": "Q?"}]}).title == "Q?"


def test_several_questions_are_asked_one_after_the_other() -> None:
    asks = Asks(auto_allow=False)
    options = [{"label": "Red", "description": "r"}, {"label": "Blue"}]
    questions = [{"question": "Colour?", "options": options}, {"question": "Size?", "multiSelect": True}]
    first = asked(asks, "AskUserQuestion", {"questions": questions})
    assert (first.title, first.detail, first.free_text) == ("Colour?", "Red: r", True)
    (second,) = asks.answer(first.ask, first.choices[1], "")
    assert isinstance(second, Ask)
    assert "Several" in second.detail
    answer = reply(asks.answer(second.ask, None, "large, blue"))
    assert answer["updatedInput"]["answers"] == {"Colour?": "Blue", "Size?": "large, blue"}
    assert answer["updatedInput"]["questions"] == questions


def test_a_question_that_nobody_answers_is_denied() -> None:
    asks = Asks(auto_allow=False)
    ask = asked(asks, "AskUserQuestion", {"questions": [{"question": "Colour?"}]})
    assert reply(asks.answer(ask.ask, None, ""))["behavior"] == "deny"


def test_a_question_without_questions_is_denied_and_not_left_open() -> None:
    asks = Asks(auto_allow=False)
    for arguments in ({}, {"questions": None}, {"questions": 7}, None):
        request = {"tool_name": "AskUserQuestion", "input": arguments}
        assert reply(asks.ask("r-1", request, anyone_there=True))["behavior"] == "deny"


def test_two_questions_of_the_same_words_are_two_questions() -> None:
    asks = Asks(auto_allow=False)
    first = asked(asks, "AskUserQuestion", {"questions": [{"question": "Q?"}, {"question": "Q?"}]})
    (second,) = asks.answer(first.ask, None, "one")
    assert isinstance(second, Ask)
    assert reply(asks.answer(second.ask, None, "two"))["updatedInput"]["answers"] == {"Q?": "two"}


def test_a_plan_is_shown_from_the_call_when_the_request_lacks_it() -> None:
    asks = Asks(auto_allow=False)
    asks.note_call("t1", {"plan": "1. do it"})
    ask = asked(asks, "ExitPlanMode", {})
    assert ask.detail == "1. do it"
    assert reply(asks.answer(ask.ask, pick(ask.choices, "allow_once"), ""))["behavior"] == "allow"


def test_at_the_end_of_a_turn_its_questions_are_gone() -> None:
    asks = Asks(auto_allow=False)
    ask = asked(asks, "Bash", {})
    assert asks.forget() == [AskWithdrawn(ask.ask)]
    assert asks.answer(ask.ask, None, "") == []


def test_arguments_too_deep_to_be_written_are_denied() -> None:
    deep: Any = {}
    for _ in range(2_000):
        deep = {"a": deep}
    asks = Asks(auto_allow=False)
    ask = asked(asks, "Bash", deep)
    assert reply(asks.answer(ask.ask, pick(ask.choices, "allow_once"), ""))["behavior"] == "deny"
