"""The wire file's records."""

import io

from hypothesis import given
from hypothesis import strategies as st

from kai.wire.record import Kind, decode, encode

records = st.lists(st.tuples(st.sampled_from(Kind), st.binary(max_size=50)), max_size=10)


@given(records)
def test_what_was_encoded_is_decoded(found: list[tuple[Kind, bytes]]) -> None:
    data = b"".join(encode(kind, payload) for kind, payload in found)
    assert list(decode(io.BytesIO(data))) == found


@given(records, st.integers(1, 60))
def test_a_torn_end_costs_only_the_torn_records(found: list[tuple[Kind, bytes]], torn: int) -> None:
    data = b"".join(encode(kind, payload) for kind, payload in found)[:-torn]
    assert list(decode(io.BytesIO(data))) == found[: len(list(decode(io.BytesIO(data))))]


def test_an_unknown_kind_ends_the_reading() -> None:
    data = encode(Kind.READ, b"a") + b"?\0\0\0\1x" + encode(Kind.READ, b"b")
    assert list(decode(io.BytesIO(data))) == [(Kind.READ, b"a")]
