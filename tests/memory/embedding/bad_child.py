"""A child that misbehaves as it is told, on the same pipes and in the same words as a real one."""

import json
import math
import os
import struct
import sys
import time
from array import array
from pathlib import Path

from kai.memory.embedding import frames
from kai.memory.embedding.embedder import PROBE, Embedding, Identity

DIMENSION = 8


def vector(text: str, *, other: bool = False) -> bytes:
    """A vector of length 1 that belongs to the text."""
    numbers = [float((len(text) * 7 + ord(text[-1]) + at * at) % 11 + 1) for at in range(DIMENSION)]
    if other:
        numbers.reverse()
    length = math.hypot(*numbers)
    return array("f", [n / length for n in numbers]).tobytes()


def answer(fault: str, text: str) -> bytes:
    good = vector(text, other=fault == "another model")
    if text == PROBE and fault != "another model":  # the fault shows at the first real text
        return frames.answer(Embedding(good))
    if fault == "hangs":
        time.sleep(60)
    if fault == "ends":
        os._exit(0)
    if fault == "eats memory":
        return frames.answer(Embedding(bytes(bytearray(2 * 1024**3))[:32]))
    bad = {
        "not a number": frames.answer(Embedding(array("f", [math.nan] * DIMENSION).tobytes())),
        "infinite": frames.answer(Embedding(array("f", [math.inf] + [0.0] * (DIMENSION - 1)).tobytes())),
        "zero": frames.answer(Embedding(bytes(4 * DIMENSION))),
        "wrong dimension": frames.answer(Embedding(good[:-4])),
        "garbage": frames.framed(b"?" * 20),
        "endless": struct.pack("!I", 2**31),
        "refuses": frames.refusal("ValueError: no such thing"),
    }
    return bad.get(fault, frames.answer(Embedding(good)))


def main() -> None:
    asked = json.loads(sys.argv[1])
    fault = asked["fault"]
    with Path(asked["started"]).open("a") as file:
        file.write(f"{os.getpid()}\n")
    if most := asked.get("memory_bytes"):
        import resource

        resource.setrlimit(resource.RLIMIT_DATA, (most, most))
    model = "somebody-else" if fault == "another name" else "test"
    sink = os.fdopen(1, "wb")
    sink.write(
        frames.framed(b"SSH-2.0") if fault == "another protocol" else frames.hello(Identity(model, DIMENSION, "d"))
    )
    sink.flush()
    source = os.fdopen(0, "rb")
    while head := source.read(4):
        _, text = frames.read_question(source.read(struct.unpack("!I", head)[0]))
        sink.write(answer(fault, text))
        sink.flush()


if __name__ == "__main__":
    main()
