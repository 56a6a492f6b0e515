"""What an embedder is, and what it may answer: checked here, whoever made it."""

import math
from array import array
from dataclasses import dataclass
from typing import Literal, Protocol

from kai.model.errors import KaiError

Kind = Literal["query", "passage"]
QUERY_WORDS = 100  # a longer question costs ten times as much and finds no more
PASSAGE_CHARS = 8_000  # beyond any model's window
TOKEN_DIMENSION = 96  # of the vectors of single tokens, projected: 128 and 384 were hardly better
PROBE = "The spare key is under the blue flower pot."  # its vector tells a model from another of the same name
_PROBE_COSINE = 0.999  # of the same model on another machine: other instructions, other rounding
_UNIT_ERROR = 0.01


@dataclass(frozen=True, slots=True)
class Identity:
    """Whose vectors they are: equal identities may be compared, no others. `digest` is the sha256 of the weights."""

    model: str
    dimension: int
    digest: str = ""
    recipe: str = "1"  # what is done to texts and vectors around the model; raised when that changes
    normalised: bool = True

    @property
    def is_whole(self) -> bool:
        """Whether it names all that makes it: a folder's dimension and digest are learnt when it is read."""
        return self.dimension > 0

    def __str__(self) -> str:
        kind = "unit" if self.normalised else "raw"
        return ":".join((self.model, str(self.dimension), kind, self.recipe, self.digest[:16]))


@dataclass(frozen=True, slots=True)
class Embedding:
    """The vector of a text: float32 numbers of length 1 (L2). `tokens`: int8, `TOKEN_DIMENSION` a token, or empty."""

    vector: bytes
    tokens: bytes = b""
    scale: float = 0.0  # of `tokens`: the number that 127 stands for


@dataclass
class EmbedderUnavailableError(KaiError):
    """No vectors can be had: the search goes on by words alone, and says so."""

    reason: str  # one of "late", "hangs", "ended", "busy", "identity", "answer", "missing", "start", "paused"
    detail: str = ""

    @property
    def sentence(self) -> str:
        return f"No vectors can be had ({self.reason}{': ' + self.detail if self.detail else ''})."

    @property
    def hint(self) -> str:
        return "Memory is searched by words alone until this is mended; see `kai doctor`."


class Embedder(Protocol):
    """Makes vectors of texts, one at a time. A failure is an `EmbedderUnavailableError`, never a made-up vector."""

    @property
    def identity(self) -> Identity: ...

    async def embed(self, kind: Kind, text: str) -> Embedding: ...


def shortened(kind: Kind, text: str) -> str:
    """As much of `text` as an embedder is given, without what no tokenizer takes."""
    if kind == "query":
        text = " ".join(text[: QUERY_WORDS * 64].split()[:QUERY_WORDS])
    return text[:PASSAGE_CHARS].encode("utf-8", "replace").decode().replace("\0", " ")


def checked(embedding: Embedding, identity: Identity) -> Embedding:
    """The same, when it is what `identity` promises: the dimension, finite numbers, length 1. Raises otherwise."""
    numbers = floats(embedding.vector)
    if len(numbers) != identity.dimension:
        found = f"{len(numbers)} numbers instead of {identity.dimension}"
        raise EmbedderUnavailableError("answer", found)
    length = math.hypot(*numbers)  # one NaN or infinity makes it no number
    if not abs(length - 1) <= _UNIT_ERROR:
        raise EmbedderUnavailableError("answer", f"a vector of length {length:g}")
    if len(embedding.tokens) % TOKEN_DIMENSION or not math.isfinite(embedding.scale):
        raise EmbedderUnavailableError("answer", "token vectors of another size")
    return embedding


def same_model(probe: Embedding, known: bytes) -> bool:
    """Whether two vectors of `PROBE` come from the same model."""
    ours, theirs = floats(probe.vector), floats(known)
    return len(ours) == len(theirs) and sum(a * b for a, b in zip(ours, theirs, strict=True)) >= _PROBE_COSINE


def floats(vector: bytes) -> "array[float]":
    """The numbers of a vector."""
    numbers = array("f")
    numbers.frombytes(vector[: len(vector) // 4 * 4])
    return numbers
