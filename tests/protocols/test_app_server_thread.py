"""What a thread of Codex is asked for, and that anything else in force is told."""

from dataclasses import replace
from typing import Any

import pytest

from kai.model.backends import ProtocolName
from kai.model.errors import FailureKind
from kai.protocols.app_server_thread import difference, thread_params
from kai.protocols.driver import DriverSetup
from tests.protocols.agents import manifest
from tests.protocols.codex_agent import IN_FORCE

SETUP = DriverSetup(manifest(ProtocolName.APP_SERVER, model_provider="p"), "/w", model="m", effort="high")
HELD = {**IN_FORCE, "reasoningEffort": "high"}


def test_what_is_in_force_as_asked_for_is_no_difference() -> None:
    assert difference(SETUP, HELD) is None
    bypass = replace(SETUP, permissions="bypass")
    assert thread_params(bypass, "")["sandbox"] == "danger-full-access"
    assert difference(bypass, {**HELD, "approvalPolicy": "never", "sandbox": {"type": "dangerFullAccess"}}) is None
    anything = DriverSetup(manifest(ProtocolName.APP_SERVER), "/w")
    assert difference(anything, {**HELD, "model": "x", "modelProvider": "y", "reasoningEffort": "z"}) is None


@pytest.mark.parametrize(
    ("got", "kind", "words"),
    [
        ({"sandbox": {"type": "dangerFullAccess"}}, FailureKind.UNSUPPORTED, "sandbox 'readOnly'"),
        ({"sandbox": None}, FailureKind.UNSUPPORTED, "make that 'another'"),
        ({"approvalPolicy": "never"}, FailureKind.UNSUPPORTED, "approval policy 'on-request'; its settings make"),
        ({"approvalPolicy": {"granular": {}}}, FailureKind.UNSUPPORTED, "approval policy"),
        ({"modelProvider": "openai"}, FailureKind.UNSUPPORTED, "model provider 'p'"),
        ({"model": "other"}, FailureKind.MODEL, "model 'm'; its settings make that 'other'"),
        ({"reasoningEffort": "low"}, FailureKind.UNSUPPORTED, "effort 'high'"),
    ],
)
def test_what_differs_is_told_with_what_holds(got: Any, kind: FailureKind, words: str) -> None:
    lost = difference(SETUP, {**HELD, **got})
    assert lost is not None
    assert lost.kind is kind
    assert words in lost.reason


def test_a_thread_to_take_up_is_not_made_ephemeral() -> None:
    assert thread_params(SETUP, "th")["threadId"] == "th"
    assert "ephemeral" not in thread_params(SETUP, "th")
    assert thread_params(replace(SETUP, temporary=True), "")["ephemeral"] is True
