"""Codex's driver until it is ready: its thread, and what is in force in it."""

from typing import Any

import pytest

from kai.model.errors import FailureKind
from kai.protocols.driver import Lost, Ready
from tests.protocols.codex_agent import IN_FORCE, Codex, only


def test_a_thread_is_opened_in_a_sandbox_that_asks() -> None:
    codex = Codex(servers=True, effort="")
    initialize, initialized, account, thread = codex.sent
    assert initialize["params"]["capabilities"]["experimentalApi"] is True
    assert "thread/started" in initialize["params"]["capabilities"]["optOutNotificationMethods"]
    assert (initialized["method"], "id" in initialized) == ("initialized", False)
    assert account["method"] == "account/read"
    assert thread["method"] == "thread/start"
    server: dict[str, Any] = {"command": "/bin/kai", "args": ["mcp"], "env": {"A": "b"}, "required": True}
    server |= {"default_tools_approval_mode": "prompt", "tools": {"look": {"approval_mode": "approve"}}}
    assert thread["params"] == {
        "cwd": "/cwd",
        "approvalPolicy": "on-request",
        "sandbox": "read-only",
        "config": {"mcp_servers": {"kai": server}},
        "ephemeral": False,
    }
    assert codex.ready == [Ready("th", resumed=False, version="1.2.3", model="m")]
    assert codex.driver.native_id == "th"


def test_where_nobody_is_asked_no_tool_asks() -> None:
    codex = Codex(servers=True, permissions="bypass", open_it=False)
    codex.reply({})
    codex.reply({})
    (server,) = codex.last["params"]["config"]["mcp_servers"].values()
    assert server["default_tools_approval_mode"] == "approve"


@pytest.mark.parametrize("resume", ["", "th"])
def test_a_server_that_does_not_come_up_costs_its_tools_and_not_the_session(resume: str) -> None:
    codex = Codex(servers=True, resume=resume, open_it=False)
    codex.reply({})
    codex.reply({})
    gone = "Fatal error: Failed to initialize session: required MCP servers failed to initialize: kai: no answer"
    codex.fail(-32000, gone)
    (server,) = codex.last["params"]["config"]["mcp_servers"].values()
    assert server["required"] is False
    (lost,) = codex.fail(-32000, gone)
    assert isinstance(lost, Lost), "once"


def test_what_was_chosen_is_asked_for_and_compared() -> None:
    codex = Codex(
        open_it=False,
        model="m",
        effort="high",
        permissions="bypass",
        temporary=True,
        model_provider="p",
    )
    codex.reply({})
    codex.reply({})
    params = codex.last["params"]
    assert (params["approvalPolicy"], params["sandbox"]) == ("never", "danger-full-access")
    assert (params["model"], params["modelProvider"], params["ephemeral"]) == ("m", "p", True)
    assert params["config"] == {"model_reasoning_effort": "high"}
    granted = {**IN_FORCE, "approvalPolicy": "never", "sandbox": {"type": "dangerFullAccess"}}
    ready = codex.reply({"thread": {"id": "th"}, **granted, "reasoningEffort": "high"})
    assert ready == [Ready("th", resumed=False, version="", model="m")]


@pytest.mark.parametrize(
    ("got", "kind"),
    [
        ({"sandbox": {"type": "dangerFullAccess"}}, FailureKind.UNSUPPORTED),
        ({"model": "other"}, FailureKind.MODEL),
        ({"thread": {}}, FailureKind.PROTOCOL),
    ],
)
def test_a_thread_in_which_something_else_is_in_force_is_none(got: Any, kind: FailureKind) -> None:
    codex = Codex(open_it=False, model="m")
    codex.reply({})
    codex.reply({})
    assert only(codex.reply({"thread": {"id": "th"}, **IN_FORCE, **got})).kind is kind


def test_a_thread_is_taken_up_without_its_turns() -> None:
    codex = Codex(resume="th", model="m")
    assert codex.last["method"] == "thread/resume"
    assert codex.last["params"]["excludeTurns"] is True
    assert codex.last["params"]["model"] == "m"
    assert "ephemeral" not in codex.last["params"]
    assert codex.ready == [Ready("th", resumed=True, version="1.2.3", model="m")]


@pytest.mark.parametrize(
    ("message", "kind"),
    [
        ("no rollout found for thread id th", FailureKind.RESUME),
        ("invalid session id: th", FailureKind.RESUME),
        ("thread th already has an active writer", FailureKind.RESUME),
        ("401 Unauthorized", FailureKind.LOGIN),
    ],
)
def test_a_thread_that_cannot_be_taken_up_is_lost_before_any_prompt(message: str, kind: FailureKind) -> None:
    codex = Codex(open_it=False, resume="th")
    codex.reply({})
    codex.reply({})
    assert only(codex.fail(-32600, message)).kind is kind


def test_another_thread_than_the_one_to_take_up_is_lost() -> None:
    codex = Codex(open_it=False, resume="th")
    codex.reply({})
    codex.reply({})
    assert only(codex.reply({"thread": {"id": "other"}, **IN_FORCE})).kind is FailureKind.RESUME


def test_a_missing_login_is_told_before_a_thread_is_opened() -> None:
    codex = Codex(open_it=False)
    codex.reply({})
    lost = only(codex.reply({"account": None, "requiresOpenaiAuth": True}))
    assert lost.kind is FailureKind.LOGIN
    assert codex.last["method"] == "account/read"


def test_a_server_that_cannot_tell_of_its_account_is_asked_for_a_thread_all_the_same() -> None:
    codex = Codex(open_it=False)
    codex.reply({})
    codex.fail(-32600, "unknown variant")
    assert codex.last["method"] == "thread/start"
    assert only(codex.fail(-32600, "failed to load configuration: x")).kind is FailureKind.PROTOCOL


def test_a_request_that_gets_no_answer_loses_the_session() -> None:
    codex = Codex(open_it=False)
    lost = only(codex.keep(codex.driver.wake("answer")))
    assert (lost.kind, lost.reason) == (FailureKind.SILENT, "Codex did not answer initialize within 20 s.")
    codex.reply({})
    assert "account/read" in only(codex.keep(codex.driver.wake("answer"))).reason


def test_a_process_that_ends_before_it_is_ready_says_why_without_its_colours() -> None:
    codex = Codex(open_it=False)
    lost = only(codex.keep(codex.driver.eof(1, "\x1b[31mError\x1b[0m: unknown field `x` in config.toml\n")))
    assert lost.kind is FailureKind.LAUNCH
    assert "Error: unknown field `x` in config.toml" in lost.reason
