"""JSON-RPC as the agents really speak it."""

import json

import pytest

from kai.wire import jsonrpc
from kai.wire.jsonrpc import ErrorReply, Noise, Notification, Request, Response


def decoded(value: object) -> jsonrpc.Message:
    return jsonrpc.decode(json.dumps(value).encode())


def test_each_shape_is_told_apart() -> None:
    assert decoded({"id": 1, "method": "m", "params": {"a": 1}}) == Request(1, "m", {"a": 1})
    assert decoded({"method": "m"}) == Notification("m", {})
    assert decoded({"id": "x", "result": None}) == Response("x", None)
    assert decoded({"id": 1, "error": {"code": -1, "message": "no", "data": 7}}) == ErrorReply(1, -1, "no", 7)


def test_a_request_with_the_id_0_is_a_request() -> None:
    """Several agents number their own requests from 0."""
    assert decoded({"id": 0, "method": "session/request_permission"}) == Request(0, "session/request_permission", {})
    assert decoded({"id": 0, "result": {}}) == Response(0, {})


@pytest.mark.parametrize("code", [401, -31002, -32000, 0])
def test_an_error_code_outside_the_reserved_range_is_kept(code: int) -> None:
    assert decoded({"id": 1, "error": {"code": code, "message": "x"}}) == ErrorReply(1, code, "x", None)


@pytest.mark.parametrize("error", [7, [], "text", {"code": None}, {"code": "x", "message": None}])
def test_an_error_of_any_shape_is_an_error(error: object) -> None:
    assert isinstance(decoded({"id": 1, "error": error}), ErrorReply)


@pytest.mark.parametrize("params", [None, 7, [], "x"])
def test_params_that_are_no_object_are_none(params: object) -> None:
    assert decoded({"method": "m", "params": params}) == Notification("m", {})


@pytest.mark.parametrize("value", [{}, [], 7, None, {"id": 1}, {"id": None, "result": 1}, {"method": 7}, [{"id": 1}]])
def test_anything_else_is_noise(value: object) -> None:
    assert isinstance(decoded(value), Noise)


def test_a_null_error_beside_a_result_is_no_error() -> None:
    assert decoded({"id": 1, "error": None, "result": 3}) == Response(1, 3)


def test_what_is_encoded_is_decoded_to_the_same() -> None:
    assert jsonrpc.decode(jsonrpc.request(1, "m", {"a": "é"})) == Request(1, "m", {"a": "é"})
    assert jsonrpc.decode(jsonrpc.notification("m", {})) == Notification("m", {})
    assert jsonrpc.decode(jsonrpc.result("x", [1])) == Response("x", [1])
    assert jsonrpc.decode(jsonrpc.error(2, -32601, "no")) == ErrorReply(2, -32601, "no", None)
