"""Reading JSON that others wrote."""

import json
import math

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from kai.wire import values

# A small alphabet with all that is odd: half a surrogate pair, a line separator, NUL.
strings = st.text("aé\ud800\u2028\0😀", max_size=8)
anything = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | strings,
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(strings, inner, max_size=4),
    max_leaves=8,
)


@settings(max_examples=50, suppress_health_check=[HealthCheck.too_slow])
@given(anything)
def test_no_value_makes_a_reader_raise(value: object) -> None:
    assert isinstance(values.record(value), dict)
    assert isinstance(list(values.items(value)), list)
    values.text(value).encode()
    values.pretty(value).encode()
    assert values.integer(value) is None or isinstance(values.integer(value), int)
    assert values.amount(value) is None or isinstance(values.amount(value), float)


@given(st.binary())
def test_no_bytes_make_the_parser_raise(line: bytes) -> None:
    values.parse(line)


@pytest.mark.parametrize(
    "line",
    [
        b"[" * 100_000,
        b'{"a":' * 50_000 + b"1" + b"}" * 50_000,
        b"9" * 10_000,
        b"\xff\xfe",
        b"",
        b"not json",
    ],
)
def test_what_cannot_be_read_is_none(line: bytes) -> None:
    assert values.parse(line) is None


def test_of_a_key_that_stands_twice_the_last_counts() -> None:
    assert values.parse(b'{"a":1,"a":2}') == {"a": 2}


def test_half_a_surrogate_pair_becomes_something_that_can_be_encoded() -> None:
    assert values.text(values.parse(b'"a\\ud800b"')) == "a?b"
    assert values.text(values.parse(b'"\\ud83d\\ude00"')) == "😀"


def test_outgoing_lines_hold_no_byte_that_any_reader_takes_for_a_line_end() -> None:
    line = values.line_of({"text": "one\u2028two\u2029\u0085\n\r"})
    assert line.isascii()
    assert line.count(b"\n") == 1
    assert json.loads(line) == {"text": "one\u2028two\u2029\u0085\n\r"}


@pytest.mark.parametrize("value", [True, 1.5, math.nan, math.inf, 2**64, "1", None, [], 10**400])
def test_an_integer_is_a_whole_number_that_fits(value: object) -> None:
    assert values.integer(value) is None


def test_a_whole_float_is_an_integer() -> None:
    assert values.integer(3.0) == 3


@pytest.mark.parametrize("value", [math.nan, math.inf, True, "1", 10**30])
def test_an_amount_is_finite(value: object) -> None:
    assert values.amount(value) is None


def test_pretty_shows_all_of_a_value() -> None:
    assert values.pretty({"a": "é" * 10_000}).count("é") == 10_000
    assert values.pretty("as it is") == "as it is"


def test_pretty_survives_what_was_nested_too_deeply() -> None:
    deep: object = 0
    for _ in range(100_000):
        deep = [deep]
    assert values.pretty(deep) == "(too deeply nested to be shown)"
