"""No query, however odd, makes a search fail or invent."""

import random
from importlib.util import find_spec
from pathlib import Path

import pytest

from kai.model.context import RetrievalStatus
from tests.memory.place import remembered

if find_spec("numpy") is None:
    pytest.skip("kai[memory] is not installed", allow_module_level=True)

import numpy as np  # noqa: F401 - its first import is no part of what is tested

_ODD = [
    '"',
    "'",
    "(",
    ")",
    "*",
    "^",
    ":",
    "-",
    "NEAR(",
    " AND ",
    " OR ",
    " NOT ",
    "\0",
    "\ud800",
    "\u202e",
    "钥匙",
    "ー",
    "🙂",
]
QUERIES = 1_000  # 30,000 of them: kai bench --only odd_queries


async def test_random_strings_end_as_ok_or_empty(tmp_path: Path) -> None:
    draw = random.Random(20_261_130)
    async with remembered(tmp_path) as ann:
        texts = ["automobile parked behind church", "钥匙在花盆下面", "cake needs three eggs"]
        for text in texts:
            await ann.save(text)
        await ann.settle()
        for _ in range(QUERIES):
            parts = [draw.choice([*_ODD, "church", "auto", chr(draw.randrange(0x20, 0xD7FF))]) for _ in range(12)]
            found, _ = await ann.retriever.search(ann.scope, "".join(parts), ann.policy)
            assert found.status in (RetrievalStatus.OK, RetrievalStatus.EMPTY)
            assert found.reason == ""
            assert {one.record.text for one in found.scored} <= set(texts)
