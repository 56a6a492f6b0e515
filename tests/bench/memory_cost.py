"""What memory costs a turn, and what a search costs as memories grow, one's own and others': prints medians and p99.

``python -m tests.bench.memory_cost [TURNS] [RECORDS]``. Turns with memory on and off are interleaved in one process.
"""

import sys
import tempfile
import time
from contextlib import AsyncExitStack
from pathlib import Path
from random import Random
from statistics import median

import anyio

from kai.clock import SystemClock
from kai.memory.retrieval import StoreRetriever
from kai.model.agents import Policy
from kai.model.ids import PrincipalId
from kai.model.memory import Scope, Way
from kai.model.people import Person
from kai.store import channels, people, shelves
from kai.store.binding import Connection
from kai.store.columns import insert
from kai.store.database import open_store
from tests.e2e.house import House

ANN, BOB = PrincipalId("p-ann"), PrincipalId("p-bob")
WORDS = [f"w{number:05}" for number in range(20_000)]
WEIGHTS = [1 / (rank + 10) for rank in range(len(WORDS))]
CLOCK = SystemClock()


def p99(values: list[float]) -> float:
    return sorted(values)[min(len(values) - 1, int(len(values) * 0.99))]


def fill(db: Connection, owner: PrincipalId, start: int, count: int, draw: Random) -> None:
    """Active facts of twelve words each, of a vocabulary in which few words are common."""
    at = CLOCK.now()
    for number in range(start, start + count):
        record = f"rec-{owner}-{number}"
        seq = insert(db, "mem_record", record=record, owner=owner, namespace=f"person/{owner}/memory", kind="fact",
                     status="active", revision=1, audience=f'["{owner}"]', created_at=at, changed_at=at)  # fmt: skip
        text = " ".join(draw.choices(WORDS, WEIGHTS, k=12))
        insert(db, "mem_revision", record=record, revision=1, content=text, digest=text.encode(), said_by="Ann",
               origin="explicit_user", said_at=at, op="fill", valid_from=at)  # fmt: skip
        shelves.add(db, seq)


async def search_cost(most: int) -> None:
    draw = Random(5)
    with tempfile.TemporaryDirectory() as folder:
        async with open_store(Path(folder) / "kai.db", clock=CLOCK) as store:
            for principal in (ANN, BOB):
                await store.write(people.add, Person(principal, principal, principal), CLOCK.now())
            main = await store.write(channels.private_of, ANN, CLOCK.now())
            retriever, scope = StoreRetriever(store, CLOCK), Scope(ANN, main.channel, way=Way.AUTO)

            async def timed(what: str) -> None:
                took, queries = [], [" ".join(draw.choices(WORDS, WEIGHTS, k=8)) for _ in range(300)]
                for query in queries:
                    began = time.perf_counter()
                    await retriever.retrieve(scope, query, Policy())
                    took.append((time.perf_counter() - began) * 1000)
                print(f"{what:52} median {median(took):6.2f} ms  p99 {p99(took):6.2f} ms", flush=True)

            there = 0
            for count in [one for one in (1_000, 10_000, 100_000) if one <= most]:
                while there < count:
                    await store.write(fill, ANN, there, 1_000, draw)
                    there += 1_000
                await timed(f"search, {count:,} records of one's own")
            for start in range(0, there, 1_000):
                await store.write(fill, BOB, start, 1_000, draw)
            await timed(f"search, the same, beside {there:,} of another's")


async def turn_cost(turns: int) -> None:
    with tempfile.TemporaryDirectory() as folder:
        async with AsyncExitStack() as stack:
            kais = {}
            for name in ("off", "on"):
                # Without an embedder: what that costs is measured by itself.
                yaml = f"memory: {{enabled: {str(name == 'on').lower()}, embedder: {{provider: none}}}}\n"
                kais[name] = await stack.enter_async_context(House(Path(folder) / name, yaml=yaml).open())
            await kais["on"].client.memory("save", {"text": "short answers", "kind": "preference"})
            for number in range(200):
                await kais["on"].client.memory("save", {"text": f"the pump number {number} is in cellar {number % 7}"})
            took: dict[str, list[float]] = {"off": [], "on": []}
            for number in range(turns + 5):
                for name, kai in kais.items():
                    began = time.perf_counter()
                    await kai.end(await kai.say(f"where is pump {number}?", external_id=f"t-{number}"))
                    if number >= 5:
                        took[name].append((time.perf_counter() - began) * 1000)
            for name, values in took.items():
                print(f"warm turn, memory {name:3}{'':34} median {median(values):6.2f} ms  p99 {p99(values):6.2f} ms")
            added = median([on - off for on, off in zip(took["on"], took["off"], strict=True)])
            print(f"added by memory: {added:.2f} ms at the median of {turns} pairs")


async def main() -> None:
    turns, most = (int(sys.argv[1]) if len(sys.argv) > 1 else 100), (int(sys.argv[2]) if len(sys.argv) > 2 else 100_000)
    await turn_cost(turns)
    await search_cost(most)


if __name__ == "__main__":
    anyio.run(main)
