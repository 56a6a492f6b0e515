"""Reads a request: its body within a size and a time, its JSON, its query."""

import json
from collections.abc import AsyncIterator, Iterable
from typing import Any
from urllib.parse import parse_qsl

from starlette.types import Receive, Scope

from kai.api.answers import JSON
from kai.api.problems import malformed
from kai.model.errors import ApiError


def header(scope: Scope, name: bytes) -> str:
    """The first header of that (lower-case) name as text; empty when there is none."""
    for key, value in scope["headers"]:
        if key == name:
            return str(value, "utf-8", "replace").strip()
    return ""


def media_type(scope: Scope) -> str:
    """The content-type without its parameters, lower case."""
    return header(scope, b"content-type").partition(";")[0].strip().lower()


async def pieces(scope: Scope, receive: Receive, cap_bytes: int, setting: str) -> AsyncIterator[bytes]:
    """The body as it comes. One that declares more than `cap_bytes` is refused unread, else when it is more.

    How long it may take is the connection's affair.
    """
    too_large = ApiError(413, "Too large", f"The body is larger than the {cap_bytes:,} bytes of {setting}.")
    declared = header(scope, b"content-length")
    if declared.isdecimal() and (len(declared) > 18 or int(declared) > cap_bytes):
        raise too_large
    size, has_more = 0, True
    while has_more:
        message = await receive()
        if message["type"] == "http.disconnect":
            raise malformed("the peer left in the middle of its body")
        size += len(message["body"])
        if size > cap_bytes:
            raise too_large
        yield message["body"]
        has_more = message["more_body"]


async def json_body(scope: Scope, receive: Receive, cap_bytes: int) -> Any:
    """The body's JSON value; an empty body is an empty object."""
    body = b"".join([piece async for piece in pieces(scope, receive, cap_bytes, "api.max_body_bytes")])
    if body and (kind := media_type(scope)) != JSON:
        raise ApiError(415, "Wrong type", f"The body's content-type is {kind!r}, not {JSON!r}.")
    return parse(body) if body else {}


def parse(body: bytes) -> Any:
    """A JSON value with no name twice in one object, and no bottomless nesting. Raises `ApiError` (400).

    What the standard library takes beyond JSON (NaN, endless integers) is refused with the field that it stands in.
    """
    try:
        # Half a surrogate pair may come in raw, too; what becomes of it is for the field to say.
        return _DECODER.decode(body.decode("utf-8", "surrogatepass"))
    except UnicodeDecodeError as error:
        raise malformed(f"byte {error.start} is not UTF-8") from None
    except json.JSONDecodeError as error:
        raise malformed(f"no JSON at line {error.lineno}, column {error.colno}: {error.msg}") from None
    except ValueError:
        raise malformed("a number has thousands of digits") from None
    except RecursionError:
        raise malformed("it is nested too deeply") from None


def _object(pairs: Iterable[tuple[str, Any]]) -> dict[str, Any]:
    found: dict[str, Any] = {}
    for name, value in pairs:
        if name in found:
            raise malformed("it stands there twice", name.encode("utf-8", "replace").decode()[:100])
        found[name] = value
    return found


_DECODER = json.JSONDecoder(object_pairs_hook=_object)


def query(scope: Scope) -> dict[str, Any]:
    """The query's fields. Raises `ApiError` (400) for one that stands there twice."""
    text = scope["query_string"].decode("utf-8", "replace")
    try:
        return _object(parse_qsl(text, keep_blank_values=True, max_num_fields=32)) if text else {}
    except ValueError:
        raise malformed("its query has more than 32 fields") from None
