"""What the daemon and the child say to each other: a length, then so many bytes. Pure."""

import struct

from kai.memory.embedding.embedder import Embedding, Identity, Kind

HEAD = struct.Struct("!I")
MOST_BYTES = 4 * 1024 * 1024
_ASKED: dict[bytes, Kind] = {b"q": "query", b"p": "passage"}
_ANSWER = struct.Struct("!LLf")


def framed(body: bytes) -> bytes:
    return HEAD.pack(len(body)) + body


def question(kind: Kind, text: str) -> bytes:
    return framed(kind[:1].encode() + text.encode())


def read_question(body: bytes) -> tuple[Kind, str]:
    return _ASKED[body[:1]], body[1:].decode()


def hello(identity: Identity) -> bytes:
    """The child's first word: whose vectors it makes."""
    return framed(f"{identity.model}\n{identity.dimension}\n{identity.digest}\n{identity.recipe}".encode())


def read_hello(body: bytes) -> Identity:
    """Raises `ValueError` for anything else."""
    model, dimension, digest, recipe = body.decode().split("\n")
    return Identity(model, int(dimension), digest, recipe)


def answer(embedding: Embedding) -> bytes:
    sizes = _ANSWER.pack(len(embedding.vector), len(embedding.tokens), embedding.scale)
    return framed(b"+" + sizes + embedding.vector + embedding.tokens)


def refusal(reason: str) -> bytes:
    return framed(b"-" + reason.encode("utf-8", "replace")[:500])


def read_answer(body: bytes) -> Embedding | str:
    """The embedding, or why there is none. Raises `ValueError` for anything else."""
    if body[:1] == b"-":
        return body[1:].decode("utf-8", "replace")
    if body[:1] != b"+" or len(body) < 1 + _ANSWER.size:
        raise ValueError("no answer")
    vector, tokens, scale = _ANSWER.unpack_from(body, 1)
    start = 1 + _ANSWER.size
    if len(body) != start + vector + tokens:
        raise ValueError("an answer of another size")
    return Embedding(body[start : start + vector], body[start + vector :], scale)
