"""A model in ONNX form, run by onnxruntime on one core. Imported by the child only."""

import json
from collections.abc import Callable, Sequence
from hashlib import sha256
from pathlib import Path
from typing import Literal

import numpy as np
import onnxruntime
from numpy.typing import NDArray

from kai.memory.embedding.embedder import TOKEN_DIMENSION, Embedding, Identity, Kind
from kai.memory.embedding.packaged import Packaged
from kai.memory.embedding.wordpiece import WordPiece

Array = NDArray[np.float32]
_DIR_TOKENS = 256


class OnnxModel:
    """Vectors from a transformer's last layer. One text at a time: int8 models give other numbers in a batch."""

    def __init__(
        self,
        identity: Identity,
        weights: bytes,
        ids: Callable[[str], Sequence[int]],
        pooling: Literal["mean", "first"],
        prefixes: tuple[str, str] = ("", ""),
        *,
        has_tokens: bool = False,
    ) -> None:
        options = onnxruntime.SessionOptions()
        options.intra_op_num_threads = options.inter_op_num_threads = 1
        options.log_severity_level = 3
        self._session = onnxruntime.InferenceSession(weights, options, providers=["CPUExecutionProvider"])
        self._inputs = {one.name for one in self._session.get_inputs()}
        self._output = self._session.get_outputs()[0].name
        self._ids, self._pooling, self._prefixes = ids, pooling, prefixes
        self._projection = projection(identity.dimension) if has_tokens else None
        self.identity = identity

    def embed(self, kind: Kind, text: str) -> Embedding:
        prefix = self._prefixes[kind == "passage"]
        ids = np.array([self._ids(prefix + text)], dtype=np.int64)
        known = {"input_ids": ids, "attention_mask": np.ones_like(ids), "token_type_ids": np.zeros_like(ids)}
        feeds = {name: known[name] for name in self._inputs}
        states = np.asarray(self._session.run([self._output], feeds)[0], dtype=np.float32)[0]
        vector = unit(states.mean(axis=0) if self._pooling == "mean" else states[0])
        if self._projection is None:
            return Embedding(vector.tobytes())
        tokens = unit(states @ self._projection)
        scale = float(np.abs(tokens).max())
        return Embedding(vector.tobytes(), np.rint(tokens * (127 / scale)).astype(np.int8).tobytes(), scale)


def packaged_model(model: Packaged) -> OnnxModel:
    """Raises `FileNotFoundError` where the package is missing, `ValueError` where its weights are others."""
    weights = model.path(model.weights).read_bytes()
    if (digest := sha256(weights).hexdigest()) != model.sha256:
        raise ValueError(f"the weights of {model.name} are not those that kai was measured with (sha256 {digest})")
    lines = model.path(model.vocabulary).read_text(encoding="utf-8").splitlines()
    words = WordPiece({piece: number for number, piece in enumerate(lines)}, model.max_tokens)
    identity = Identity(model.name, model.dimension, digest)
    return OnnxModel(identity, weights, words.ids, model.pooling, has_tokens=model.has_tokens)


def folder_model(folder: Path) -> OnnxModel:
    """``model.onnx`` and ``tokenizer.json`` of `folder`; ``kai.json`` beside them may name pooling and prefixes."""
    weights = (folder / "model.onnx").read_bytes()
    digest = sha256(weights).hexdigest()
    more = json.loads((folder / "kai.json").read_text()) if (folder / "kai.json").is_file() else {}
    pooling, prefixes = more.get("pooling", "mean"), (more.get("query_prefix", ""), more.get("passage_prefix", ""))
    ids = _tokenizer(folder / "tokenizer.json", int(more.get("max_tokens", _DIR_TOKENS)))
    model = OnnxModel(Identity(folder.name, 0, digest), weights, ids, pooling, prefixes)
    dimension = len(model.embed("query", "a").vector) // 4
    recipe = sha256(json.dumps(["1", pooling, *prefixes]).encode()).hexdigest()[:8]
    model.identity = Identity(f"onnx-dir/{folder.name}", dimension, digest, recipe)
    return model


def _tokenizer(path: Path, max_tokens: int) -> Callable[[str], Sequence[int]]:
    made = json.loads(path.read_text(encoding="utf-8"))
    model, normal = made.get("model", {}), made.get("normalizer") or {}
    if model.get("type") == "WordPiece" and normal.get("type") == "BertNormalizer" and normal.get("lowercase"):
        return WordPiece(model["vocab"], max_tokens).ids
    try:
        from tokenizers import Tokenizer  # noqa: PLC0415 a model of another kind needs it, and no packaged one does
    except ImportError as error:
        raise FileNotFoundError(
            "this model's tokenizer needs the package tokenizers: pip install tokenizers"
        ) from error
    tokenizer = Tokenizer.from_str(json.dumps(made))
    tokenizer.no_padding()
    tokenizer.enable_truncation(max_tokens)
    return lambda text: list(tokenizer.encode(text).ids)


def unit(vectors: Array) -> Array:
    """Each at length 1. One without a length stays as it is: whoever checks it refuses it."""
    lengths = np.linalg.norm(vectors, axis=-1, keepdims=True)
    made: Array = np.divide(vectors, lengths, out=np.zeros_like(vectors), where=lengths > 0)
    return made


def projection(dimension: int) -> Array:
    """A fixed matrix of random signs. From sha256, so that it is the same with every version of every package."""
    count = dimension * TOKEN_DIMENSION
    seeds = (sha256(b"kai projection %d" % number).digest() for number in range(-(-count // 256)))
    bits = np.unpackbits(np.frombuffer(b"".join(seeds), np.uint8))[:count]
    signs: Array = bits.reshape(dimension, TOKEN_DIMENSION).astype(np.float32) * 2 - 1
    return signs / np.float32(TOKEN_DIMENSION**0.5)
