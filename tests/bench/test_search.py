"""The bench of a search: what it makes, and that it measures the product's own search."""

from importlib.util import find_spec
from pathlib import Path

import pytest

if find_spec("numpy") is None:
    pytest.skip("kai[memory] is not installed", allow_module_level=True)

import numpy as np

from kai.bench import search
from kai.bench.search import Searched, Size
from kai.model.memory import Policy


async def test_a_search_and_a_whole_block_are_measured_beside_a_scan(tmp_path: Path) -> None:
    async with search.place(tmp_path, Size(60, 20, 400)) as searched:
        assert searched.matrix.shape == (60, 384)
        assert searched.matrix.flags.c_contiguous
        assert searched.matrix.dtype == np.float32
        for work in (Searched.search, Searched.block):
            pair = await searched.pair(work)
            assert min(pair.ours_s, pair.scan_s, pair.ours_cpu_s) > 0
            assert pair.recall == 1
        question, _ = searched.question()
        found, _ = await searched.retriever.search(searched.scope, question, Policy(min_score=0.0))
        assert {one.record.seq for one in found.scored} <= set(searched.rows.tolist())
        assert any("cosine" in one.parts for one in found.scored)


def test_odd_questions_end_without_an_error(tmp_path: Path) -> None:
    import anyio

    figure = anyio.run(search._odd, tmp_path, 60)
    assert (figure.value, figure.is_reached) == (0, True)
