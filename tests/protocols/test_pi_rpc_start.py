"""The start of Pi's driver: which session is fit, and why not."""

from dataclasses import replace
from typing import Any

import pytest

from kai.model.backends import ProtocolName
from kai.model.errors import FailureKind
from kai.protocols.driver import Ready
from kai.protocols.pi_rpc import PiRpc
from tests.protocols.agents import setup
from tests.protocols.pi_agent import MODEL, Pi, lost


def test_it_is_probed_and_asked_for_its_state_before_anything_else() -> None:
    assert [frame["type"] for frame in Pi().sent] == ["clear_queue", "get_state"]


@pytest.mark.parametrize("named", [{"id": "kai-1"}, {}])  # the old ones answer an unknown command without its id
def test_one_that_repeats_its_whole_answer_with_every_piece_is_refused_with_the_reason(named: Any) -> None:
    pi = Pi(ready=False)
    found = lost(pi.out("response", command="clear_queue", success=False, error="Unknown command", **named))
    assert found.kind is FailureKind.OLD
    assert "repeats its whole answer" in found.reason
    assert pi.state() == []
    assert pi.driver.eof(0, "") == []


@pytest.mark.parametrize(
    ("chosen", "state", "kind", "words"),
    [
        ({}, {"model": {**MODEL, "id": "unknown"}}, FailureKind.LOGIN, "no model to work with"),
        ({}, {"model": None}, FailureKind.LOGIN, "no model to work with"),
        ({}, {"sessionId": ""}, FailureKind.PROTOCOL, "did not tell its state"),
        ({"model": "acme/sonnet"}, {}, FailureKind.MODEL, "it took acme/opus-4 for acme/sonnet"),
        ({"effort": "max"}, {}, FailureKind.UNSUPPORTED, "thinks at 'medium' where 'max' was chosen"),
        ({"permissions": "ask"}, {}, FailureKind.UNSUPPORTED, "its gate is not in place"),
    ],
)
def test_a_session_that_is_not_the_one_that_was_wanted_is_lost_in_a_sentence(
    chosen: dict[str, str], state: dict[str, Any], kind: FailureKind, words: str
) -> None:
    found = lost(Pi(ready=False, **{"permissions": "bypass", **chosen}).state(**state))
    assert found.kind is kind
    assert words in found.reason


@pytest.mark.parametrize("model", ["acme/opus-4", "opus-4", "Opus", "opus 4:high", "acme/opus-4:high"])
def test_a_part_of_a_models_name_is_taken_for_it_as_pi_does(model: str) -> None:
    pi = Pi(ready=False, model=model, effort="medium", permissions="bypass")
    assert isinstance(pi.state()[0], Ready)


@pytest.mark.parametrize("state", [{"messageCount": 0}, {"sessionId": "another"}, {"messageCount": None}])
def test_a_session_that_began_anew_is_never_taken_for_the_one_that_was_to_go_on(state: dict[str, Any]) -> None:
    pi = Pi(ready=False, resume="s-1", permissions="bypass")
    assert lost(pi.state(**state)).kind is FailureKind.RESUME


def test_a_session_that_goes_on_says_so() -> None:
    assert Pi(resume="s-1").driver.native_id == "s-1"


@pytest.mark.parametrize(
    ("stderr", "kind", "words"),
    [
        ('Error: Model "x" not found. Use --list-models', FailureKind.MODEL, 'Model "x" not found'),
        ("Error: Unknown option: --x", FailureKind.LAUNCH, "Unknown option"),
        ("SyntaxError: no export 'enableCompileCache'\n\nNode.js v20.20.2\n", FailureKind.LAUNCH, "needs Node 22.19"),
    ],
)
def test_a_start_that_fails_says_why(stderr: str, kind: FailureKind, words: str) -> None:
    made = setup(ProtocolName.PI_RPC, "/")
    driver = PiRpc(replace(made, manifest=replace(made.manifest, node_min="22.19")))
    driver.start("")
    found = lost(list(driver.eof(1, stderr)))
    assert found.kind is kind
    assert words in found.reason
