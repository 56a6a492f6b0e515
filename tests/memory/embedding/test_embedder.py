"""What an embedder may answer."""

import math
from array import array

import pytest

from kai.memory.embedding.embedder import (
    EmbedderUnavailableError,
    Embedding,
    Identity,
    checked,
    floats,
    same_model,
    shortened,
)

IDENTITY = Identity("m", 2)


def vector(*numbers: float) -> bytes:
    return array("f", numbers).tobytes()


def test_a_sound_vector_passes_as_it_is() -> None:
    sound = Embedding(vector(0.6, 0.8), bytes(192), 0.3)
    assert checked(sound, IDENTITY) is sound
    assert list(floats(sound.vector)) == pytest.approx([0.6, 0.8])


@pytest.mark.parametrize(
    "bad",
    [
        Embedding(b""),
        Embedding(vector(1)),
        Embedding(vector(1, 0, 0)),
        Embedding(vector(0, 0)),
        Embedding(vector(3, 4)),
        Embedding(vector(math.nan, 1)),
        Embedding(vector(math.inf, 1)),
        Embedding(vector(0.6, 0.8), bytes(95), 0.3),
        Embedding(vector(0.6, 0.8), bytes(96), math.nan),
    ],
)
def test_anything_else_is_no_answer(bad: Embedding) -> None:
    with pytest.raises(EmbedderUnavailableError):
        checked(bad, IDENTITY)


def test_the_probe_tells_a_model_from_another() -> None:
    assert same_model(Embedding(vector(0.6, 0.8)), vector(0.6001, 0.7999))
    assert not same_model(Embedding(vector(0.6, 0.8)), vector(0.8, 0.6))
    assert not same_model(Embedding(vector(0.6, 0.8)), vector(1))


def test_a_question_is_cut_to_its_first_words_and_a_passage_to_its_first_characters() -> None:
    assert shortened("query", "word " * 1_000_000).split() == ["word"] * 100
    assert len(shortened("passage", "x" * 1_000_000)) == 8_000


def test_what_no_tokenizer_takes_is_taken_out() -> None:
    assert shortened("query", "a\0b \ud800c") == "a b ?c"


def test_an_identity_names_all_that_makes_vectors_comparable() -> None:
    assert str(Identity("m", 384, "abc")) == "m:384:unit:1:abc"
    assert len({str(Identity("m", 384, recipe=recipe)) for recipe in "12"}) == 2
