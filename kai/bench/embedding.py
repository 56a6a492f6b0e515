"""The vector of a question, as a search waits for it, against a product of two matrices of float32 numbers."""

import os
import time
from dataclasses import asdict
from pathlib import Path

import anyio

from kai.bench.figures import Figure, paired, percentile
from kai.memory.embedding.child import EmbedderLimits, open_embedder
from kai.memory.vectors import identity, missing
from kai.settings.values import EmbedderSettings

_SIDE = 1_024
_WARM_UP = 10
_QUESTIONS = (
    "When did Ann go to the meeting in the town hall last?",
    "What is the number of the water meter in the cellar?",
    "Who feeds the hens while we are on the island in May?",
    "Which of the two keys opens the shed behind the church?",
    "Where did we put the papers about the roof of the barn?",
)


class NotInstalledError(Exception):
    """The packages of the embedder are missing; the sentence says which."""


def measure(root: Path, *, quick: bool) -> Figure:
    """Through the child process and back, one question at a time, none of them asked before."""
    settings = EmbedderSettings()
    if gone := missing(settings):
        raise NotInstalledError(f"not installed: {gone}: pip install 'kai[memory]'")
    os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")  # before numpy is imported for the first time
    return anyio.run(_measure, settings, 60 if quick else 300)


async def _measure(settings: EmbedderSettings, count: int) -> Figure:
    import numpy as np  # noqa: PLC0415 as above

    draw = np.random.default_rng(1)
    left, right = (draw.random((_SIDE, _SIDE), np.float32) for _ in range(2))
    limits = EmbedderLimits(query_s=60.0)
    pairs: list[tuple[float, float]] = []
    async with open_embedder(asdict(settings), identity(settings), limits=limits) as embedder:
        for number in range(_WARM_UP + count):
            began = time.perf_counter()
            await embedder.embed("query", _QUESTIONS[number % len(_QUESTIONS)])
            ours = time.perf_counter() - began
            began = time.perf_counter()
            left @ right
            pairs.append((1000 * ours, 1000 * (time.perf_counter() - began)))
    del pairs[:_WARM_UP]
    return paired(
        "query_embedding",
        pairs,
        to_reach=0.35,
        unit="ms",
        against=f"a product of two float32 matrices of {_SIDE} x {_SIDE} on one thread",
        more={
            "p99": percentile([ours for ours, _ in pairs], 99),
            "baseline_p99": percentile([theirs for _, theirs in pairs], 99),
            "model": settings.provider,
        },
    )
