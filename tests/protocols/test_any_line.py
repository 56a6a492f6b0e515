"""No line that a CLI may print makes a driver raise, or break the contract of the turn."""

import copy
import json
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from kai.model.backends import Limits, ProtocolName
from kai.model.events import Ask, BackendEvent, Finished
from kai.protocols.driver import Background, Driver, Lost, Output, Ready, Send, Skipped, Wake
from kai.protocols.registry import driver_for
from kai.protocols.turn import Turn
from tests.protocols.agents import PROTOCOLS, prompt, setup
from tests.protocols.test_turn import check
from tests.protocols.transcripts import FOLDER, PROTOCOL, lines

strings = st.text("aé\ud800\u2028\0😀", max_size=5)
junk = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | strings | st.just(10**400),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(strings, inner, max_size=3),
    max_leaves=6,
)


def recorded(protocol: ProtocolName) -> list[Any]:
    """One line of each kind that a real CLI printed."""
    kinds: dict[str, Any] = {}
    for folder in FOLDER.iterdir():
        if PROTOCOL.get(folder.name, ProtocolName.ACP) is protocol:
            for path in folder.glob("*.jsonl"):
                for one in lines(path):
                    if one["dir"] == "out":
                        msg = one["msg"]
                        params = msg.get("params") or {}
                        inner = [(msg.get(name) or {}).get("type") for name in ("event", "assistantMessageEvent")]
                        inner += [
                            (params.get("update") or {}).get("sessionUpdate"),
                            (params.get("item") or {}).get("type"),
                        ]
                        about = *inner, msg.get("command"), "error" in msg
                        kinds.setdefault(repr((msg.get("type"), msg.get("subtype"), msg.get("method"), about)), msg)
    return list(kinds.values())


LINES = {protocol: recorded(protocol) for protocol in PROTOCOLS}


@st.composite
def mutated(draw: st.DrawFn, protocol: ProtocolName) -> Any:
    """A recorded line with one or more of its values replaced by anything, or left out."""
    line = copy.deepcopy(draw(st.sampled_from(LINES[protocol])))
    for _ in range(draw(st.integers(0, 3))):
        node = line
        while isinstance(node, dict | list) and node:
            key: Any = draw(st.sampled_from(sorted(node)) if isinstance(node, dict) else st.integers(0, len(node) - 1))
            if not isinstance(node[key], dict | list) or not node[key] or draw(st.booleans()):
                if draw(st.booleans()):
                    node[key] = draw(junk)
                else:
                    del node[key]
                break
            node = node[key]
    return line


IN_FORCE = {"approvalPolicy": "on-request", "sandbox": {"type": "readOnly"}}
ANSWERS: dict[ProtocolName, list[Any]] = {
    ProtocolName.STREAM_JSON: [
        {"type": "control_response", "response": {"subtype": "success", "request_id": "kai-1"}},
    ],
    ProtocolName.APP_SERVER: [
        {"id": 1, "result": {}},
        {"id": 2, "result": {}},
        {"id": 3, "result": {"thread": {"id": "th"}, **IN_FORCE}},
    ],
    ProtocolName.PI_RPC: [
        {"type": "extension_ui_request", "method": "setStatus", "statusKey": "kai.gate", "statusText": "on"},
        {
            "type": "response",
            "id": "kai-2",
            "success": True,
            "data": {"model": {"id": "m", "provider": "p"}, "sessionId": "s"},
        },
    ],
    ProtocolName.ACP: [{"id": 1, "result": {"agentCapabilities": {}}}, {"id": 2, "result": {"sessionId": "s"}}],
}


def in_a_turn(protocol: ProtocolName) -> tuple[Driver, list[Output]]:
    driver = driver_for(setup(protocol, "/"))
    outputs = list(driver.start(""))
    for answer in ANSWERS[protocol]:
        outputs += driver.feed(json.dumps(answer).encode())
    assert any(isinstance(output, Ready) for output in outputs)
    outputs = list(driver.prompt(prompt("x")))
    mine = json.loads(driver.frame(prompt("x"))).get("id")
    accepted: dict[ProtocolName, Any] = {
        ProtocolName.APP_SERVER: {"id": mine, "result": {"turn": {"id": "t"}}},
        ProtocolName.PI_RPC: {"type": "response", "id": mine, "success": True},
    }
    if protocol in accepted:
        outputs += driver.feed(json.dumps(accepted[protocol]).encode())
    return driver, outputs


def check_turn(outputs: list[Output]) -> None:
    turn = Turn(Limits(), "")
    seen: list[BackendEvent] = []
    for output in outputs:
        match output:
            case Send(frame):
                assert frame.endswith(b"\n")
                json.loads(frame)
            case Wake() | Ready() | Lost() | Skipped() | Background():
                pass
            case _:
                seen += turn.take(output)
    check([*seen, *turn.take(Finished())])
    for event in seen:
        repr(event).encode()  # no half surrogate pair gets out


@pytest.mark.parametrize("protocol", PROTOCOLS)
@settings(max_examples=50, deadline=None, suppress_health_check=list(HealthCheck))
@given(data=st.data())
def test_mutated_lines_of_real_clis_never_make_a_driver_raise(protocol: ProtocolName, data: st.DataObject) -> None:
    driver, outputs = in_a_turn(protocol)
    for line in data.draw(st.lists(mutated(protocol), max_size=8)):
        outputs += driver.feed(json.dumps(line).encode())
        for output in list(outputs):
            if isinstance(output, Wake):
                outputs += driver.wake(output.name)
    outputs += driver.interrupt()
    outputs += driver.eof(data.draw(st.none() | st.integers(-64, 255)), "\udcff noise")
    check_turn(outputs)


@pytest.mark.parametrize("protocol", PROTOCOLS)
@settings(max_examples=25, deadline=None, suppress_health_check=list(HealthCheck))
@given(data=st.data())
def test_mutated_lines_before_readiness_never_make_a_driver_raise(protocol: ProtocolName, data: st.DataObject) -> None:
    driver = driver_for(setup(protocol, "/"))
    driver.start(data.draw(st.sampled_from(["", "s-1"])))
    for line in data.draw(st.lists(mutated(protocol), max_size=5)):
        driver.feed(json.dumps(line).encode())
    driver.eof(1, "")


@pytest.mark.parametrize("protocol", PROTOCOLS)
@settings(max_examples=50)
@given(line=st.binary() | junk.map(lambda value: json.dumps(value).encode()))
def test_no_bytes_make_a_driver_raise(protocol: ProtocolName, line: bytes) -> None:
    driver, outputs = in_a_turn(protocol)
    check_turn([*outputs, *driver.feed(line)])


SHAPES = (
    "DEEP",
    '{"type":"assistant","message":{"content":DEEP}}',
    '{"type":"assistant","message":{"id":"m","content":[{"type":"tool_use","id":"t","input":DEEP}]}}',
    '{"type":"user","message":{"content":[{"type":"tool_result","tool_use_id":"t","content":DEEP}]}}',
    '{"type":"control_request","request_id":"r","request":{"subtype":"can_use_tool","input":{"a":DEEP}}}',
    '{"method":"session/update","params":{"update":{"sessionUpdate":"tool_call","toolCallId":"t","content":DEEP}}}',
    '{"id":9,"method":"session/request_permission","params":{"toolCall":{"toolCallId":"t","rawInput":{"a":DEEP}}}}',
    '{"method":"item/started","params":{"threadId":"th","turnId":"t","item":{"type":"fileChange","id":"i","changes":DEEP}}}',
    '{"method":"item/completed","params":{"threadId":"th","turnId":"t","item":{"type":"x","id":"i","result":DEEP}}}',
    '{"id":0,"method":"item/permissions/requestApproval","params":{"itemId":"i","permissions":DEEP}}',
    '{"id":DEEP,"result":1}',
    '{"type":"message_end","message":{"role":"assistant","content":[{"type":"text","text":DEEP}]}}',
    '{"type":"tool_execution_start","toolCallId":"t","args":{"command":DEEP,"a":DEEP}}',
    '{"type":"tool_execution_end","toolCallId":"t","result":{"content":DEEP}}',
    '{"type":"extension_ui_request","id":"d","method":"select","title":"DEEP","options":DEEP}',
    '{"type":"extension_ui_request","id":"e","method":"select","title":"{\\"kai.gate\\":{\\"input\\":DEEP}}","options":[1]}',
)


def nested(depth: int) -> str:
    return "[" * depth + "]" * depth


@pytest.mark.parametrize("protocol", PROTOCOLS)
@pytest.mark.parametrize("depth", [50, 900, 990, 100_000])
def test_deeply_nested_lines_are_no_danger_to_the_stack(protocol: ProtocolName, depth: int) -> None:
    driver, outputs = in_a_turn(protocol)
    for shape in SHAPES:
        line = shape.replace("DEEP", nested(depth))
        outputs += driver.feed(line.encode())
    for ask in [output.ask for output in outputs if isinstance(output, Ask)]:
        outputs += driver.answer(ask, None, "words")
    check_turn(outputs)


@pytest.mark.parametrize("protocol", PROTOCOLS)
def test_of_a_key_that_stands_twice_the_last_counts(protocol: ProtocolName) -> None:
    driver, outputs = in_a_turn(protocol)
    doubled = b'{"type":"banana","type":"assistant","method":1,"method":"session/update","params":{},"message":null}'
    check_turn([*outputs, *driver.feed(doubled)])
