"""The embedder is measured as a search waits for it."""

from pathlib import Path

import anyio
import pytest

from kai.bench import embedding
from kai.memory.vectors import missing
from kai.settings.values import EmbedderSettings


@pytest.mark.skipif(missing(EmbedderSettings()) != "", reason="kai[memory] is not installed")
def test_the_vector_of_a_question_is_compared_with_a_product() -> None:
    figure = anyio.run(embedding._measure, EmbedderSettings(), 2)
    assert figure.pairs == 2
    assert figure.value > 0
    assert figure.baseline > 0


def test_where_the_model_is_missing_that_is_said(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(embedding, "missing", lambda settings: "onnxruntime")
    with pytest.raises(embedding.NotInstalledError, match="onnxruntime"):
        embedding.measure(tmp_path, quick=True)
