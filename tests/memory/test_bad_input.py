"""Whatever is asked, and whatever the embedder does, a search ends soon, as what it is, and invents nothing."""

import sys
import time
from collections.abc import AsyncIterator
from dataclasses import replace
from importlib.util import find_spec
from pathlib import Path

import pytest

from kai.memory.embedding.child import EmbedderLimits, open_embedder
from kai.memory.embedding.embedder import Identity
from kai.memory.nearness import Nearness
from kai.model.context import RetrievalStatus
from tests.memory.embedding.bad_child import DIMENSION
from tests.memory.place import Remembered, WordEmbedder, remembered

if find_spec("numpy") is None:
    pytest.skip("kai[memory] is not installed", allow_module_level=True)

import numpy as np  # noqa: F401 - its first import is no part of what is tested

PROGRAM = (sys.executable, "-m", "tests.memory.embedding.bad_child")
IDENTITY = Identity("test", DIMENSION, "d")
LIMITS = EmbedderLimits(query_s=15, start_s=15, text_s=15, rest_s=60)


@pytest.fixture
async def ann(tmp_path: Path) -> AsyncIterator[Remembered]:
    async with remembered(tmp_path) as place:
        yield place


async def test_a_question_of_a_million_words_is_cut_and_answered(ann: Remembered) -> None:
    await ann.save("automobile parked behind church")
    await ann.settle()
    query = "auto church " + "word " * 1_000_000
    began = time.process_time()
    await ann.store.read(ann.retriever.at_once, ann.scope, query, ann.policy, None)
    await ann.retriever.foresee(ann.scope, query)
    found = await ann.retriever.retrieve(ann.scope, query, ann.policy)
    assert [hit.text for hit in found.hits] == ["automobile parked behind church"]
    assert await ann.store.read(ann.retriever.at_once, ann.scope, query, ann.policy, None) == found
    assert time.process_time() - began < 5  # seconds of CPU, of a second's work at most


async def test_what_an_embedder_made_before_it_became_another_is_not_used(ann: Remembered) -> None:
    await ann.save("automobile parked behind church")
    await ann.settle()
    await ann.find("auto")
    await ann.retriever.foresee(ann.scope, "auto")
    assert await ann.store.read(ann.retriever.at_once, ann.scope, "auto", ann.policy, None) is not None
    ann.embedder.identity = replace(ann.embedder.identity, digest="other weights")
    assert await ann.store.read(ann.retriever.at_once, ann.scope, "auto", ann.policy, None) is None
    found = await ann.retriever.retrieve(ann.scope, "auto", ann.policy)
    assert (found.status, found.reason) == (RetrievalStatus.EMPTY, "lexical: embedder_paused")


@pytest.mark.parametrize(
    ("fault", "reason"),
    [
        ("hangs", "late"),
        ("not a number", "answer"),
        ("infinite", "answer"),
        ("zero", "answer"),
        ("wrong dimension", "answer"),
        ("ends", "ended"),
        ("another name", "identity"),
    ],
)
async def test_with_a_bad_embedder_words_alone_find_and_say_so(
    ann: Remembered, tmp_path: Path, fault: str, reason: str
) -> None:
    await ann.save("automobile parked behind church")
    ann.use(WordEmbedder(IDENTITY))  # who made the vectors that are there
    await ann.settle()
    asked = {"fault": fault, "started": str(tmp_path / "started")}
    limits = replace(LIMITS, query_s=1.5) if fault == "hangs" else LIMITS
    async with open_embedder(asked, IDENTITY, limits=limits, program=PROGRAM) as embedder:
        ann.retriever.vectors = Nearness(ann.store, embedder)
        for _ in range(2):
            await ann.retriever.foresee(ann.scope, "behind the church")
            found = await ann.retriever.retrieve(ann.scope, "behind the church", ann.policy)
            assert [hit.text for hit in found.hits] == ["automobile parked behind church"]
            assert found.reason == f"lexical: embedder_{reason}"
            assert "cosine" not in found.hits[0].parts
        none = await ann.retriever.retrieve(ann.scope, "vehicle", ann.policy)
        assert (none.status, none.hits) == (RetrievalStatus.EMPTY, ())
