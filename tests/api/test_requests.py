"""Bodies within a size and a time, and JSON that has one meaning."""

from collections.abc import Iterable
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kai.api.requests import header, json_body, media_type, parse, pieces, query
from kai.model.errors import ApiError

pytestmark = pytest.mark.anyio


def scope(**headers: str) -> dict[str, Any]:
    return {"headers": [(name.replace("_", "-").encode(), value.encode()) for name, value in headers.items()]}


class Source:
    """An ASGI `receive` that counts how often it was asked."""

    def __init__(self, parts: Iterable[bytes]) -> None:
        self.parts = list(parts)
        self.asked = 0

    async def __call__(self) -> dict[str, Any]:
        self.asked += 1
        part = self.parts.pop(0)
        return {"type": "http.request", "body": part, "more_body": bool(self.parts)}


async def body_of(scope: dict[str, Any], receive: Any) -> bytes:
    return b"".join([piece async for piece in pieces(scope, receive, 10, "api.max_body_bytes")])


async def json_of(scope: dict[str, Any], receive: Any) -> Any:
    return await json_body(scope, receive, 10)


async def test_a_body_comes_whole_however_it_is_cut() -> None:
    assert await body_of(scope(), Source([b"ab", b"", b"cd"])) == b"abcd"


@pytest.mark.parametrize("declared", ["11", "104857600", "9" * 40])
async def test_a_body_that_declares_too_many_bytes_is_refused_unread(declared: str) -> None:
    source = Source([b"x" * 11])
    with pytest.raises(ApiError, match=r"10 bytes of api\.max_body_bytes"):
        await body_of(scope(content_length=declared), source)
    assert source.asked == 0


async def test_a_body_that_grows_too_large_is_refused_at_the_limit() -> None:
    source = Source([b"x" * 6] * 1000)
    with pytest.raises(ApiError, match=r"10 bytes of api\.max_body_bytes"):
        await body_of(scope(), source)
    assert source.asked == 2


async def test_a_peer_that_leaves_in_its_body_is_no_whole_request() -> None:
    async def receive() -> dict[str, Any]:
        return {"type": "http.disconnect"}

    with pytest.raises(ApiError):
        await body_of(scope(), receive)


async def test_an_empty_body_is_an_empty_object_and_needs_no_type() -> None:
    assert await json_of(scope(), Source([b""])) == {}


@pytest.mark.parametrize("kind", ["", "text/plain", "application/x-www-form-urlencoded", "application/jsonx"])
async def test_json_of_another_type_is_refused(kind: str) -> None:
    with pytest.raises(ApiError, match="content-type"):
        await json_of(scope(content_type=kind), Source([b"{}"]))


@pytest.mark.parametrize("kind", ["application/json", "Application/JSON; charset=utf-8"])
async def test_the_type_may_have_parameters_and_any_case(kind: str) -> None:
    assert media_type(scope(content_type=kind)) == "application/json"
    assert await json_of(scope(content_type=kind), Source([b'{"a":1}'])) == {"a": 1}


@pytest.mark.parametrize(
    ("body", "said"),
    [
        (b'{"a":', "line 1, column 6"),
        (b"", "line 1, column 1"),
        (b'{"a":"\xff"}', "byte 6 is not UTF-8"),
        (b'{"a":"x\x01"}', "line 1, column 8"),
        (b'{"a":1,"b":{"c":1,"c":2}}', "c: it stands there twice"),
        (b"[" * 100_000, "nested too deeply"),
        (b'{"a":' * 50_000 + b"1" + b"}" * 50_000, "nested too deeply"),
        (b'{"a":' + b"9" * 5000 + b"}", "thousands of digits"),
    ],
)
def test_what_is_no_json_is_refused_with_the_place(body: bytes, said: str) -> None:
    with pytest.raises(ApiError) as caught:
        parse(body)
    assert said in str(caught.value)


def test_half_a_pair_is_read_in_both_its_forms_so_that_its_field_can_judge_it() -> None:
    assert parse(b'{"a":"\\ud800"}') == {"a": "\ud800"}
    assert parse(b'{"a":"\xed\xa0\x80"}') == {"a": "\ud800"}


@given(st.binary())
def test_no_bytes_raise_anything_but_malformed(body: bytes) -> None:
    try:
        parse(body)
    except ApiError as error:
        error.sentence.encode()


def test_a_query_has_each_name_once() -> None:
    assert query({"query_string": b"a=1&b=%C3%A4&c="}) == {"a": "1", "b": "ä", "c": ""}
    assert query({"query_string": b""}) == {}
    with pytest.raises(ApiError, match="a: it stands there twice"):
        query({"query_string": b"a=1&a=2"})
    with pytest.raises(ApiError, match="more than 32"):
        query({"query_string": b"&".join(b"a%d=1" % number for number in range(33))})


def test_a_header_is_text_and_empty_when_it_is_not_there() -> None:
    assert header({"headers": [(b"kai-as", "Jörg".encode())]}, b"kai-as") == "Jörg"
    assert header({"headers": [(b"kai-as", b"\xff")]}, b"kai-as") == "\ufffd"
    assert header(scope(), b"kai-as") == ""
