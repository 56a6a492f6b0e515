"""Messages between the daemon and whatever starts runs."""

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kai.launcher.messages import (
    MAX_BYTES,
    BadMessageError,
    Claim,
    Exited,
    Gone,
    Kill,
    Message,
    Refused,
    Spawn,
    Spawned,
    Stat,
    Stats,
    decode,
    encode,
)

EVERY: list[Message] = [
    Spawn("r-1", ["/bin/true", "ä\n\udcff"], {"A": "b=c"}, "/", "ann", 20.0, {"NOFILE": 5}),
    Spawn("r-1", [], {}, "/"),
    Spawned("r-1", 7),
    Exited("r-1", 0, None),
    Exited("r-1", None, 9, 100, True),
    Gone("r-1", 3),
    Kill("r-1", 15),
    Kill("r-1", 9, True),
    Claim("r-1"),
    Stat("r-1"),
    Stats("r-1", 1.5, 2, 3),
    Stats("r-1", 1, 2, 3),
    Stats("r-1", 1, 2, 3, ["4 sh", "5 sleep"]),
    Refused("r-1", "missing", "it is not there"),
]


@pytest.mark.parametrize("message", EVERY, ids=repr)
def test_a_message_comes_out_as_it_went_in(message: Message) -> None:
    assert decode(encode(message)) == message
    assert type(decode(encode(message))) is type(message)


@pytest.mark.parametrize(
    ("change", "problem"),
    [
        ({"op": "unknown"}, "unknown"),
        ({"version": 2}, "version 2, not 1"),
        ({"version": None}, "version None"),
        ({"more": 1}, "more"),
        ({"signal": "9"}, "signal"),
        ({"signal": True}, "signal"),
        ({"signal": None}, "signal"),
        ({"tree": 1}, "tree"),
        ({"run": ["r-1"]}, "run"),
        ({"run": {"a": "b"}}, "run"),
    ],
)
def test_what_is_no_message_is_refused(change: dict[str, Any], problem: str) -> None:
    good = json.loads(encode(Kill("r-1", 9)))
    with pytest.raises(BadMessageError, match=problem):
        decode(json.dumps({**good, **change}).encode())


@pytest.mark.parametrize(
    "change", [{"argv": ["a", 1]}, {"argv": "a"}, {"env": {"A": 1}}, {"env": ["A"]}, {"limits": {"A": "1"}}]
)
def test_lists_and_mappings_hold_what_they_should(change: dict[str, Any]) -> None:
    good = json.loads(encode(Spawn("r-1", ["/bin/true"], {}, "/")))
    with pytest.raises(BadMessageError):
        decode(json.dumps({**good, **change}).encode())


def test_a_message_that_does_not_fit_is_refused_where_it_is_made() -> None:
    with pytest.raises(BadMessageError, match="more than the"):
        encode(Spawn("r-1", ["x" * MAX_BYTES], {}, "/"))


def test_deep_nesting_is_refused() -> None:
    with pytest.raises(BadMessageError):
        decode(b"[" * 100_000)


@given(st.binary(max_size=200) | st.recursive(st.none() | st.text(), st.lists).map(lambda v: json.dumps(v).encode()))
def test_no_bytes_do_anything_but_decode_or_be_refused(data: bytes) -> None:
    with pytest.raises(BadMessageError):
        decode(data)
