"""``kai bench retrieval DATA``: is what should be found among the first, by the product's own search."""

import json
import math
import tempfile
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import product
from pathlib import Path
from statistics import mean, median

import anyio
import click

from kai.bench import talks
from kai.bench.figures import percentile
from kai.clock import SystemClock
from kai.memory.embedding.embedder import Embedder, Embedding, Identity, Kind
from kai.memory.nearness import Nearness
from kai.memory.ranking import Weights
from kai.memory.retrieval import StoreRetriever
from kai.memory.vectors import missing, open_vectors
from kai.model.agents import Policy
from kai.settings.values import EmbedderSettings, MemorySettings
from kai.store.database import Store, open_store

DEPTHS = (5, 10, 20)
_EVERYTHING = Policy(tool=("person/self/*",), min_score=0.0)
_ONLY_VECTORS = Weights(keyword=0.0, vector=1.0, passed_on=0.0, dated=0.0, alike=0.0)
_GRID = [
    Weights(passed_on=passed_on, dated=dated, alike=alike)
    for passed_on, dated, alike in product((0.35, 0.5), (0.2, 0.3), (0.4, 0.5, 0.6))
]


@dataclass
class Remembering:
    """An embedder that asks another one only once for the same question: the grid asks them again and again."""

    embedder: Embedder
    known: dict[tuple[Kind, str], Embedding] = field(default_factory=dict)
    seconds: list[float] = field(default_factory=list)

    @property
    def identity(self) -> Identity:
        return self.embedder.identity

    async def embed(self, kind: Kind, text: str) -> Embedding:
        if (kind, text) not in self.known:
            began = time.perf_counter()
            self.known[kind, text] = await self.embedder.embed(kind, text)
            self.seconds.append(time.perf_counter() - began)
        return self.known[kind, text]


@dataclass(frozen=True, slots=True)
class Found:
    """What one question's search came to, in parts of 1."""

    recall: Mapping[int, float]
    hit: Mapping[int, float]
    ndcg: float


@dataclass(frozen=True, slots=True)
class Row:
    """A line of the table, per conversation and question."""

    name: str
    found: Sequence[Sequence[Found]]

    def recall(self, depth: int) -> float:
        return mean(one.recall[depth] for talk in self.found for one in talk)

    def line(self) -> str:
        every = [one for talk in self.found for one in talk]
        recalls = " ".join(f"{100 * self.recall(depth):6.1f}" for depth in DEPTHS)
        hits = " ".join(f"{100 * mean(one.hit[depth] for one in every):6.1f}" for depth in DEPTHS)
        talks_ = [mean(one.recall[10] for one in talk) for talk in self.found]
        return (
            f"{self.name:<34} {recalls}  {hits}  {100 * mean(one.ndcg for one in every):6.1f}  "
            f"{100 * min(talks_):.0f} to {100 * max(talks_):.0f}"
        )


def run(data: Path, *, provider: str, as_json: bool, quick: bool) -> int:
    """Measure and print. Exit status 1 when the weights, picked without the conversation, reach less than .75 at 10."""
    settings = MemorySettings(embedder=EmbedderSettings(provider=provider))  # type: ignore[arg-type]
    if gone := missing(settings.embedder):
        raise click.ClickException(f"not installed: {gone}: pip install 'kai[memory]'")
    try:
        known = talks.read(data)
    except (OSError, ValueError, LookupError, TypeError) as error:
        raise click.ClickException(f"{data} is no file of conversations with questions ({error})") from error
    return anyio.run(_run, known, settings, as_json, quick)


async def _run(known: list[talks.Talk], settings: MemorySettings, as_json: bool, quick: bool) -> int:
    # Below the home of temporary files: put that on the disk that shall be measured ($TMPDIR).
    with tempfile.TemporaryDirectory(prefix="kai-bench-") as folder:
        async with open_store(Path(folder) / "kai.db", clock=SystemClock()) as store:
            kept = [await store.write_soft(talks.keep, talk) for talk in known]
            _say(f"{len(kept)} conversations, {sum(len(one.turns) for one in known)} turns; embedding …", as_json)
            async with open_vectors(store, settings) as vectors:
                assert vectors is not None
                began = time.perf_counter()
                done = await vectors.keeper.catch_up()
                per_text = (time.perf_counter() - began) / max(1, done)
                remembering = Remembering(vectors.embedder)
                stage = replace(vectors.stage, embedder=remembering)
                rows, picked = await _rows(store, kept, stage, quick, as_json)
                model_s = remembering.seconds
    reached = rows[-1].recall(10)
    more = {
        "model": str(vectors.embedder.identity),
        "passage_ms": round(1000 * per_text, 2),
        "query_ms": round(1000 * median(model_s), 2),
        "query_ms_p99": round(1000 * percentile(model_s, 99), 2),
        "questions": sum(len(talk.questions) for talk in known),
        "picked": [str(one) for one in picked],
    }
    if as_json:
        table = {row.name: {f"recall@{depth}": row.recall(depth) for depth in DEPTHS} for row in rows}
        click.echo(json.dumps({"rows": table, **more}, indent=2))
    else:
        click.echo("\n".join(_table(rows)))
        click.echo("\n".join(f"{name}: {value}" for name, value in more.items() if name != "picked"))
        click.echo(f"recall@10 on conversations that the weights were not picked on: {reached:.3f}, to reach 0.75")
    return 0 if reached >= 0.75 else 1


async def _rows(
    store: Store, kept: list[talks.Kept], stage: Nearness, quick: bool, as_json: bool
) -> tuple[list[Row], list[Weights]]:
    clock = SystemClock()
    everything = replace(stage, floor=-1.0)
    rows = []
    for name, retriever in (
        ("keyword only", StoreRetriever(store, clock, weights=Weights(passed_on=0.0, dated=0.0))),
        ("vector only", StoreRetriever(store, clock, everything, weights=_ONLY_VECTORS)),
        ("fused, the weights that are shipped", StoreRetriever(store, clock, everything)),
    ):
        _say(f"measuring {name} …", as_json)
        rows.append(Row(name, [await _ask(retriever, one) for one in kept]))
    grid = _GRID[::5] if quick else _GRID
    every = {}
    for at, weights in enumerate(grid):
        _say(f"weights {at + 1} of {len(grid)} …", as_json)
        retriever = StoreRetriever(store, clock, everything, weights=weights)
        every[weights] = [await _ask(retriever, one) for one in kept]
    left_out, picked = [], []
    for at in range(len(kept)):
        best = max(grid, key=lambda weights, at=at: _recall(every[weights], but=at))  # type: ignore[misc]
        left_out.append(every[best][at])
        picked.append(best)
    rows.append(Row("fused, picked on the others", left_out))
    return rows, picked


def _recall(found: Sequence[Sequence[Found]], but: int) -> float:
    return mean(one.recall[10] for at, talk in enumerate(found) if at != but for one in talk)


async def _ask(retriever: StoreRetriever, kept: talks.Kept) -> list[Found]:
    found = []
    for question in kept.talk.questions:
        hits, _ = await retriever.search(kept.scope, question.text, _EVERYTHING)
        order = [kept.turns.get(one.record.record, "") for one in hits.scored]
        found.append(judged(order, question.evidence))
    return found


def judged(order: Sequence[str], evidence: frozenset[str]) -> Found:
    """How well the ranked turns hold the evidence. nDCG@10 with every piece of evidence worth the same."""
    hits = {depth: len(evidence.intersection(order[:depth])) for depth in DEPTHS}
    gain = sum(1 / math.log2(at + 2) for at, turn in enumerate(order[:10]) if turn in evidence)
    best = sum(1 / math.log2(at + 2) for at in range(min(10, len(evidence))))
    return Found(
        {depth: count / len(evidence) for depth, count in hits.items()},
        {depth: float(count > 0) for depth, count in hits.items()},
        gain / best,
    )


def _table(rows: Sequence[Row]) -> list[str]:
    head = f"{'':<34} {'recall':^20}  {'any hit':^20}  {'nDCG':>6}  recall@10"
    depths = " ".join(f"{f'@{depth}':>6}" for depth in DEPTHS)
    return ["", head, f"{'':<34} {depths}  {depths}  {'@10':>6}  by conversation", *(row.line() for row in rows), ""]


def _say(text: str, as_json: bool) -> None:
    if not as_json:
        click.echo(text, err=True)
