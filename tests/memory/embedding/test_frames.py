"""What the daemon and the child say to each other."""

import pytest

from kai.memory.embedding import frames
from kai.memory.embedding.embedder import Embedding, Identity, Kind


def body(frame: bytes) -> bytes:
    assert frames.HEAD.unpack(frame[:4])[0] == len(frame) - 4
    return frame[4:]


@pytest.mark.parametrize("kind", ["query", "passage"])
def test_a_question_comes_out_as_it_went_in(kind: Kind) -> None:
    assert frames.read_question(body(frames.question(kind, "wo ist\nder Schlüssel"))) == (
        kind,
        "wo ist\nder Schlüssel",
    )


def test_an_answer_comes_out_as_it_went_in() -> None:
    said = Embedding(b"1234", b"56", 0.5)
    assert frames.read_answer(body(frames.answer(said))) == said
    assert frames.read_answer(body(frames.refusal("no"))) == "no"


def test_the_hello_names_an_identity() -> None:
    assert frames.read_hello(body(frames.hello(Identity("m", 3, "d", "2")))) == Identity("m", 3, "d", "2")


@pytest.mark.parametrize("bad", [b"", b"?", b"+", b"+" + bytes(12) + b"x", b"+\0\0\0\4" + bytes(8)])
def test_anything_else_is_no_answer(bad: bytes) -> None:
    with pytest.raises(ValueError, match="answer"):
        frames.read_answer(bad)


@pytest.mark.parametrize("bad", [b"", b"HTTP/1.1 200 OK", b"m\nx\nd\n1"])
def test_anything_else_is_no_hello(bad: bytes) -> None:
    with pytest.raises(ValueError, match=r".+"):
        frames.read_hello(bad)
