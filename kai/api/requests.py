"""Reads a request: its body within a size and a time, its JSON with nothing in it that has two meanings."""

import json
from collections.abc import AsyncIterator, Mapping
from typing import Any
from urllib.parse import parse_qsl

import anyio
from starlette.types import Receive, Scope

from kai.api.answers import JSON
from kai.api.problems import MalformedError, MediaTypeError, SlowRequestError, TooLargeError
from kai.model.errors import BadInputError

_INT_DIGITS = 18  # what fits 64 bits; more is no count of anything here


class _NoNumber:
    """Stands for NaN, Infinity or an integer beyond 64 bits until the field it is in is known."""

    def __init__(self, text: str) -> None:
        self.text = text[:32]


def header(scope: Scope, name: bytes) -> str:
    """The first header of that (lower-case) name as text; empty when there is none."""
    value: bytes = next((value for key, value in scope["headers"] if key == name), b"")
    return value.decode("utf-8", "replace").strip()


def media_type(scope: Scope) -> str:
    """The content-type without its parameters, lower case."""
    return header(scope, b"content-type").partition(";")[0].strip().lower()


async def pieces(scope: Scope, receive: Receive, *, what: str, cap_bytes: int, limit_s: float) -> AsyncIterator[bytes]:
    """The body as it comes. Refused before its first byte when it declares too large a size, else when it grows so."""
    declared = header(scope, b"content-length")
    if declared.isascii() and declared.isdigit() and (len(declared) > _INT_DIGITS or int(declared) > cap_bytes):
        raise TooLargeError(what, cap_bytes)
    deadline = anyio.current_time() + limit_s
    size = 0
    more = True
    while more:
        message: Any = {}
        with anyio.CancelScope(deadline=deadline) as wait:
            message = await receive()
        if wait.cancelled_caught:
            raise SlowRequestError(limit_s)
        if message["type"] == "http.disconnect":
            raise MalformedError("the peer left in the middle of its body")
        size += len(message["body"])
        if size > cap_bytes:
            raise TooLargeError(what, cap_bytes)
        if message["body"]:
            yield message["body"]
        more = message["more_body"]


async def json_body(scope: Scope, receive: Receive, *, cap_bytes: int, limit_s: float) -> Any:
    """The body's JSON value; an empty body is an empty object."""
    body = b"".join(
        [piece async for piece in pieces(scope, receive, what="body", cap_bytes=cap_bytes, limit_s=limit_s)]
    )
    if not body:
        return {}
    if (kind := media_type(scope)) != JSON:
        raise MediaTypeError(kind, JSON)
    return parse(body)


def parse(body: bytes) -> Any:
    """JSON without duplicate names, NaN, integers beyond 64 bits or bottomless nesting. Raises `MalformedError`."""
    try:
        # Half a surrogate pair may come in raw, too; what becomes of it is for the field to say.
        text = body.decode("utf-8", "surrogatepass")
    except UnicodeDecodeError as error:
        raise MalformedError(f"byte {error.start} is not UTF-8") from None
    try:
        return json.loads(text, object_pairs_hook=_object, parse_constant=_NoNumber, parse_int=_whole)
    except json.JSONDecodeError as error:
        raise MalformedError(f"no JSON at line {error.lineno}, column {error.colno}: {error.msg}") from None
    except RecursionError:
        raise MalformedError("it is nested too deeply") from None


def _whole(digits: str) -> int | _NoNumber:
    return int(digits) if len(digits) <= _INT_DIGITS else _NoNumber(digits)


def _object(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) != len(pairs):
        names = [name for name, _ in pairs]
        twice = next(name for name in names if names.count(name) > 1)
        raise MalformedError("stands there twice", _shown(twice))
    for name, value in pairs:
        if type(value) is _NoNumber:
            raise MalformedError(f"{value.text} is no number that can be taken", _shown(name))
    return found


def _shown(name: str) -> str:
    return name.encode("utf-8", "replace").decode()[:100]


def query(scope: Scope) -> Mapping[str, str]:
    """The query's fields. Raises `BadInputError` for one that stands there twice."""
    if not scope["query_string"]:
        return {}
    try:
        pairs = parse_qsl(scope["query_string"].decode("utf-8", "replace"), keep_blank_values=True, max_num_fields=32)
    except ValueError:
        raise MalformedError("the query has more than 32 fields") from None
    found: dict[str, str] = {}
    for name, value in pairs:
        if name in found:
            raise BadInputError(_shown(name), "stands in the query twice")
        found[name] = value
    return found
