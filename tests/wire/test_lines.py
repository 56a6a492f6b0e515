"""Framing: the same lines however the bytes arrive, bounded memory, and no reader that dies of a line."""

from hypothesis import given
from hypothesis import strategies as st

from kai.wire.lines import LineFramer, Overlong


def framed(chunks: list[bytes], max_bytes: int = 1_000_000) -> list[bytes | Overlong]:
    framer = LineFramer(max_bytes)
    found = [line for chunk in chunks for line in framer.feed(chunk)]
    rest = framer.finish()
    return found if rest is None else [*found, rest]


@st.composite
def chunked(draw: st.DrawFn) -> tuple[bytes, list[bytes]]:
    """Some bytes, with many line ends in them, and a way to cut them."""
    data = b"".join(
        draw(st.lists(st.sampled_from([b"\n", b"\r\n", b"\r", "\u2028é😀".encode(), b"abc", b"\x85", b"\0"])))
    )
    cuts = sorted(draw(st.lists(st.integers(0, len(data)))))
    return data, [data[a:b] for a, b in zip([0, *cuts], [*cuts, len(data)], strict=True)]


@given(chunked())
def test_lines_do_not_depend_on_where_the_chunks_are_cut(case: tuple[bytes, list[bytes]]) -> None:
    data, chunks = case
    expected = [line.removesuffix(b"\r") for line in data.split(b"\n")]
    if not data.split(b"\n")[-1]:
        expected.pop()
    assert framed(chunks) == expected


@given(chunked(), st.integers(1, 8))
def test_overlong_lines_do_not_depend_on_the_cuts_either(case: tuple[bytes, list[bytes]], cap: int) -> None:
    data, chunks = case
    whole = [type(line) if isinstance(line, Overlong) else line for line in framed([data], cap)]
    assert [type(line) if isinstance(line, Overlong) else line for line in framed(chunks, cap)] == whole


def test_a_line_separator_of_unicode_inside_a_string_is_no_line_end() -> None:
    line = '{"text":"one\u2028two\u2029three\u0085four\x0b\x0c\x1c"}'.encode()
    assert framed([line + b"\n"]) == [line]


def test_an_overlong_line_is_dropped_and_the_next_one_is_read() -> None:
    assert framed([b"x" * 50, b"x" * 60, b"x" * 10 + b"\ngood\n"], 100) == [Overlong(110), b"good"]


def test_endless_bytes_without_a_newline_are_told_once_and_not_kept() -> None:
    framer = LineFramer(1_000)
    told = [line for _ in range(10_000) for line in framer.feed(b"y" * 1_000)]
    assert len(told) == 1
    assert framer.finish() is None
    assert framer.feed(b"\nnext\n") == [b"next"]


def test_many_short_lines_never_add_up_to_an_overlong_one() -> None:
    framer = LineFramer(2_000)
    assert all(framer.feed(b"z" * 1_024 + b"\n") == [b"z" * 1_024] for _ in range(10_000))


def test_a_line_of_exactly_the_bound_passes() -> None:
    assert framed([b"12345\n123456\n"], 5) == [b"12345", Overlong(6)]


def test_half_a_character_at_a_chunk_border_is_put_together() -> None:
    data = "😀\n".encode()
    assert framed([data[:1], data[1:3], data[3:]]) == ["😀".encode()]


def test_an_unterminated_rest_is_given_once() -> None:
    framer = LineFramer(100)
    assert framer.feed(b"a\nrest") == [b"a"]
    assert framer.finish() == b"rest"
    assert framer.finish() is None
