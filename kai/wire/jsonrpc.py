"""JSON-RPC 2.0, one message a line: what came in, and the lines that go out."""

from dataclasses import dataclass
from typing import Any

from kai.wire.values import Json, integer, line_of, parse, record, text

Id = int | str

METHOD_NOT_FOUND = -32601


@dataclass(frozen=True, slots=True)
class Request:
    """The peer asks and waits for the answer."""

    id: Id
    method: str
    params: Json


@dataclass(frozen=True, slots=True)
class Notification:
    method: str
    params: Json


@dataclass(frozen=True, slots=True)
class Response:
    id: Id
    result: Any


@dataclass(frozen=True, slots=True)
class ErrorReply:
    """`id` is None when the peer could not tell what it answers. `code` may lie outside the reserved range."""

    id: Id | None
    code: int
    message: str
    data: Any = None


@dataclass(frozen=True, slots=True)
class Noise:
    """A line that is no message."""

    line: bytes


Message = Request | Notification | Response | ErrorReply | Noise


def decode(line: bytes) -> Message:
    """The message in `line`; never raises."""
    fields = parse(line)
    if not isinstance(fields, dict):
        return Noise(line)
    id_, method = _id(fields.get("id")), fields.get("method")
    if isinstance(method, str):
        params = record(fields.get("params"))
        return Notification(method, params) if id_ is None else Request(id_, method, params)
    if "error" in fields and fields["error"] is not None:
        error = record(fields["error"])
        message = text(error.get("message")) or text(fields["error"])
        return ErrorReply(id_, integer(error.get("code")) or 0, message, error.get("data"))
    if id_ is not None and "result" in fields:
        return Response(id_, fields["result"])
    return Noise(line)


def request(id_: Id, method: str, params: Json) -> bytes:
    return line_of({"jsonrpc": "2.0", "id": id_, "method": method, "params": params})


def notification(method: str, params: Json) -> bytes:
    return line_of({"jsonrpc": "2.0", "method": method, "params": params})


def result(id_: Id, value: Any) -> bytes:
    return line_of({"jsonrpc": "2.0", "id": id_, "result": value})


def error(id_: Id, code: int, message: str) -> bytes:
    return line_of({"jsonrpc": "2.0", "id": id_, "error": {"code": code, "message": message}})


def _id(value: Any) -> Id | None:
    return value if isinstance(value, str) else integer(value)
