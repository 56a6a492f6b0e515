"""Dialogs of Pi's extensions: the gate's whole arguments and narrow answers, and nothing left open."""

import json
from typing import Any

import pytest

from kai.model.events import Ask, AskWithdrawn, Choice, ChoiceKind
from kai.protocols.driver import Output, Send, Skipped, Wake
from kai.protocols.pi_rpc_asks import Asks
from tests.protocols.agents import pick


def dialog(method: str, **more: Any) -> dict[str, Any]:
    return {"type": "extension_ui_request", "id": "d-1", "method": method, "title": "Title", **more}


def gate(tool: str, arguments: Any) -> dict[str, Any]:
    title = json.dumps({"kai.gate": {"tool": tool, "id": "t1", "input": arguments}})
    return dialog("select", options=["once", "always", "deny"]) | {"title": title}


def asked(asks: Asks, msg: dict[str, Any]) -> Ask:
    ask = asks.ask(msg, anyone_there=True)[0]
    assert isinstance(ask, Ask)
    return ask


def reply(outputs: list[Output]) -> Any:
    (send,) = outputs
    assert isinstance(send, Send)
    answer = json.loads(send.frame)
    assert (answer.pop("type"), answer.pop("id")) == ("extension_ui_response", "d-1")
    return answer


@pytest.mark.parametrize(
    ("kind", "value"), [("allow_once", "once"), ("allow_always", "always"), ("reject_once", "deny"), ("", "deny")]
)
def test_a_person_sees_the_whole_call_and_the_gate_gets_what_they_chose(kind: str, value: str) -> None:
    asks = Asks()
    ask = asked(asks, gate("bash", {"command": "rm " + "x" * 10_000, "timeout": 5}))
    assert "rm " + "x" * 10_000 in ask.detail
    assert "timeout: 5" in ask.detail
    assert (ask.title[:8], ask.tool_id) == ("bash: rm", "t1")
    assert reply(asks.answer(ask.ask, pick(ask.choices, kind) if kind else None, "")) == {"value": value}
    assert asks.answer(ask.ask, None, "") == []


def test_the_words_of_a_person_never_become_an_allowance() -> None:
    asks = Asks()
    ask = asked(asks, gate("bash", {"command": "ls"}))
    assert reply(asks.answer(ask.ask, None, "once")) == {"value": "deny"}


def test_always_is_offered_only_where_it_can_be_said_for_what() -> None:
    assert [choice.label for choice in asked(Asks(), gate("bash", {"command": "ls"})).choices] == [
        "Allow once",
        "Allow bash(ls) in this session",
        "Deny",
    ]
    assert [choice.kind for choice in asked(Asks(), gate("odd", {"n": 1})).choices] == [
        ChoiceKind.ALLOW_ONCE,
        ChoiceKind.REJECT_ONCE,
    ]


@pytest.mark.parametrize(("kind", "confirmed"), [("allow_once", True), ("reject_once", False), ("", False)])
def test_a_confirmation_is_yes_or_no(kind: str, confirmed: bool) -> None:
    asks = Asks()
    ask = asked(asks, dialog("confirm", message="really"))
    assert (ask.title, ask.detail) == ("Title", "really")
    assert reply(asks.answer(ask.ask, pick(ask.choices, kind) if kind else None, "")) == {"confirmed": confirmed}


def test_of_a_list_the_chosen_one_is_told_and_none_is_a_cancel() -> None:
    for key, answer in (("2", {"value": "B"}), ("none", {"cancelled": True})):
        asks = Asks()
        ask = asked(asks, dialog("select", options=["A", "B", None]))
        assert [choice.label for choice in ask.choices] == ["A", "B", "No answer"]
        choice = next(choice for choice in ask.choices if choice.key == key)
        assert reply(asks.answer(ask.ask, choice, "")) == answer


@pytest.mark.parametrize(("method", "hint"), [("input", "placeholder"), ("editor", "prefill")])
def test_own_words_are_told_and_none_are_a_cancel(method: str, hint: str) -> None:
    asks = Asks()
    ask = asked(asks, dialog(method, **{hint: "so far"}))
    assert (ask.detail, ask.free_text) == ("so far", True)
    assert reply(asks.answer(ask.ask, None, "typed")) == {"value": "typed"}
    ask = asked(asks, dialog(method))
    assert reply(asks.answer(ask.ask, Choice("none", "", ChoiceKind.REJECT_ONCE), "")) == {"cancelled": True}


@pytest.mark.parametrize("method", ["notify", "setStatus", "setWidget", "setTitle", "set_editor_text"])
def test_what_is_only_told_gets_no_answer(method: str) -> None:
    assert Asks().ask(dialog(method), anyone_there=True) == []


def test_a_dialog_that_nobody_knows_is_cancelled_and_told() -> None:
    send, skipped = Asks().ask(dialog("hologram"), anyone_there=True)
    assert reply([send]) == {"cancelled": True}
    assert skipped == Skipped("dialog 'hologram'")


def test_where_nobody_is_there_it_is_cancelled() -> None:
    assert reply(Asks().ask(dialog("confirm"), anyone_there=False)) == {"cancelled": True}


def test_a_dialog_with_a_time_of_its_own_is_withdrawn_when_that_is_over() -> None:
    asks = Asks()
    ask, wake = asks.ask(dialog("confirm", timeout=5000), anyone_there=True)
    assert isinstance(ask, Ask)
    assert wake == Wake(5.0, ask.ask)
    assert asks.timed_out(ask.ask) == [AskWithdrawn(ask.ask)]
    assert asks.timed_out(ask.ask) == []
    assert asks.answer(ask.ask, None, "") == []


def test_a_look_alike_of_the_gates_question_is_an_ordinary_one() -> None:
    for title in ('{"kai.gate": 5}', "[1]", "{", '"kai.gate"'):
        ask = asked(Asks(), dialog("select", options=["once"]) | {"title": title})
        assert ask.title == title
        assert [choice.kind for choice in ask.choices] == [ChoiceKind.ANSWER, ChoiceKind.REJECT_ONCE]
