"""The ACP driver until it is ready: the handshake of each agent."""

from typing import Any

import pytest

from kai.model.errors import FailureKind
from kai.model.events import (
    TextDelta,
)
from kai.protocols.driver import Lost, Ready, Wake
from tests.protocols.acp_agent import INFO, Agent, only

# Until it is ready


def test_a_new_session_is_opened_with_nothing_offered_and_the_servers_named() -> None:
    agent = Agent()
    initialize, new = agent.sent
    assert initialize["params"]["protocolVersion"] == 1
    assert initialize["params"]["clientCapabilities"] == {
        "fs": {"readTextFile": False, "writeTextFile": False},
        "terminal": False,
    }
    server = {"name": "kai", "command": "/bin/kai", "args": ["mcp"], "env": []}
    assert new["method"] == "session/new"
    assert new["params"] == {"cwd": "/cwd", "mcpServers": [server]}
    assert agent.ready == [Ready("s-1", resumed=False, version="a 1")]


def test_it_logs_in_only_by_the_method_of_the_manifest_and_only_where_it_is_offered() -> None:
    assert [one["method"] for one in Agent(auth_method="key").sent] == ["initialize", "authenticate", "session/new"]
    assert [one["method"] for one in Agent(auth_method="other").sent] == ["initialize", "session/new"]


def test_a_login_that_fails_loses_the_session() -> None:
    agent = Agent(open_it=False, auth_method="key")
    agent.reply({**INFO, "authMethods": [{"id": "key"}]})
    assert only(agent.fail(-32603, "bad key")).kind is FailureKind.LOGIN


@pytest.mark.parametrize(
    ("code", "message", "kind"),
    [(-32000, "Authentication required", FailureKind.LOGIN), (-32603, "Internal error", FailureKind.PROTOCOL)],
)
def test_a_session_that_cannot_be_opened_is_lost(code: int, message: str, kind: FailureKind) -> None:
    agent = Agent(open_it=False)
    agent.reply(INFO)
    lost = only(agent.fail(code, message))
    assert isinstance(lost, Lost)
    assert lost.kind is kind


def test_a_session_without_an_id_is_lost() -> None:
    agent = Agent(open_it=False)
    agent.reply(INFO)
    assert only(agent.reply({"sessionId": None})).kind is FailureKind.PROTOCOL


def test_the_number_of_a_version_is_not_believed_but_its_shape_is() -> None:
    echo = Agent(open_it=False)
    echo.reply({"protocolVersion": 2, **INFO})
    assert echo.last["method"] == "session/new"
    newer = Agent(open_it=False)
    assert only(newer.reply({"protocolVersion": 2, "capabilities": {}, "info": {}})).kind is FailureKind.UNSUPPORTED


@pytest.mark.parametrize(
    ("able", "method"),
    [
        ({"loadSession": True, "sessionCapabilities": {"resume": {}}}, "session/resume"),
        ({"loadSession": True}, "session/load"),
        ({"loadSession": True, "sessionCapabilities": None}, "session/load"),
    ],
)
def test_a_session_is_taken_up_in_the_way_that_the_agent_offers(able: dict[str, Any], method: str) -> None:
    agent = Agent(resume="s-1", open_it=False)
    agent.reply({"agentCapabilities": able})
    assert agent.last["method"] == method
    assert agent.last["params"]["sessionId"] == "s-1"
    assert agent.last["params"]["mcpServers"]
    assert only(agent.reply({})) == Wake(0.4, "replayed")
    assert list(agent.driver.wake("replayed")) == [Ready("s-1", resumed=True)]
    assert list(agent.driver.wake("replayed")) == []


def test_an_agent_that_cannot_take_up_a_session_says_so_without_a_try() -> None:
    agent = Agent(resume="s-1", open_it=False)
    assert only(agent.reply({"agentCapabilities": {}})).kind is FailureKind.RESUME


@pytest.mark.parametrize("code", [-32603, -32602, -32002])
def test_a_session_that_cannot_be_taken_up_is_a_resume_failure(code: int) -> None:
    agent = Agent(resume="s-1", open_it=False)
    agent.reply(INFO)
    assert (
        only(agent.fail(code, "Internal error", {"details": "Invalid session identifier"})).kind is FailureKind.RESUME
    )


def test_a_login_that_expired_is_not_mistaken_for_a_lost_session() -> None:
    agent = Agent(resume="s-1", open_it=False)
    agent.reply(INFO)
    assert only(agent.fail(-32000, "Authentication required")).kind is FailureKind.LOGIN


def test_a_replay_is_never_shown_before_nor_after_the_answer_to_the_load() -> None:
    agent = Agent(resume="s-1", open_it=False)
    agent.reply(INFO)
    assert agent.chunk("old") == []
    agent.reply({})
    # It is ready only once the agent has been still for a while.
    assert agent.chunk("old, too") == [Wake(0.4, "replayed")]
    assert agent.update("tool_call", toolCallId="t", title="old") == [Wake(0.4, "replayed")]
    agent.driver.wake("replayed")
    assert agent.chunk("old, and late") == []
    agent.ask()
    assert agent.chunk("new")[-1] == TextDelta("new")


def test_mode_model_and_effort_are_set_before_the_first_prompt() -> None:
    agent = Agent(
        mode_bypass="yolo",
        mode_ask="default",
        config_bypass="allow_all=on",
        model_by="config",
        effort_config="thinking",
        permissions="bypass",
        model="m",
        effort="high",
    )
    while "id" in agent.last and agent.last["method"] != "session/set_config_option":
        agent.reply({})
    told = []
    for _ in range(3):
        told.append(agent.last["params"])
        outputs = agent.reply({})
    assert [one["params"].get("modeId") for one in agent.sent if one["method"] == "session/set_mode"] == ["yolo"]
    assert [(one["configId"], one["value"]) for one in told] == [
        ("allow_all", "on"),
        ("model", "m"),
        ("thinking", "high"),
    ]
    assert only(outputs) == Ready("s-1", resumed=False, version="a 1", model="m")


def test_going_on_in_another_mode_than_asked_for_is_refused() -> None:
    agent = Agent(mode_ask="ask")
    assert only(agent.fail(-32602, "mode not found")).kind is FailureKind.UNSUPPORTED
    agent = Agent(model_by="set_model", model="nonsense")
    assert agent.last["params"] == {"sessionId": "s-1", "modelId": "nonsense"}
    assert only(agent.fail(-32602, "model not found")).kind is FailureKind.MODEL


def test_a_replay_during_the_settings_does_not_make_it_ready_before_they_are_done() -> None:
    agent = Agent(resume="s-1", open_it=False, mode_ask="ask")
    agent.reply(INFO)
    agent.reply({})
    assert agent.last["method"] == "session/set_mode"
    assert agent.chunk("old") == []
    assert list(agent.driver.wake("replayed")) == []
    assert only(agent.reply({})) == Wake(0.4, "replayed")
    assert list(agent.driver.wake("replayed")) == [Ready("s-1", resumed=True, version="a 1")]


def test_a_process_that_ends_before_it_is_ready_loses_the_session() -> None:
    agent = Agent(open_it=False)
    lost = only(list(agent.driver.eof(0, "kimi-cli is archived\n")))
    assert isinstance(lost, Lost)
    assert lost.kind is FailureKind.LAUNCH
    assert "archived" in lost.reason
