"""``make scenarios ARGS=--proof``: thousands of retrievals among records that may not be used, and what came back.

In three of ten the nearest record is one that was forgotten, corrected, or said where somebody else was not. The same
runs again with the guard removed: its rates must not be 0. The rate of snapshots is that of the block as it is kept.
"""

import sys
from dataclasses import dataclass
from pathlib import Path
from random import Random
from typing import Any

import anyio
import pytest

from kai.context.assemble import assemble
from kai.model.context import Retrieval
from kai.model.memory import Way
from kai.store import eligible, ledger, snapshots
from tests.context.examples import enabled
from tests.scenarios.harness import Stage, recall
from tests.store.remembered import Memory

THINGS = 40  # of each sort
BAITS = ("forgotten", "stale", "closed")


@dataclass
class Figures:
    """Counts over `asked` retrievals, `baited` of which had a nearest record that is not eligible."""

    asked: int = 0
    baited: int = 0
    leaks: int = 0
    resurrections: int = 0
    stale: int = 0
    mismatches: int = 0
    audited: int = 0

    def line(self) -> str:
        of = max(1, self.asked)
        rates = f"leak {self.leaks / of:g}, resurrection {self.resurrections / of:g}, stale {self.stale / of:g}"
        more = f"snapshot mismatch {self.mismatches / of:g}, audit completeness {self.audited / of:g}"
        return f"{self.asked:,} retrievals ({self.baited / of:.0%} baited): {rates}, {more}"


def unguarded(db: Any, here: Any, seqs: Any, _now: Any) -> dict[int, eligible.Standing]:
    """A reader that believes its index: the text by which a record was found."""
    found = {}
    for seq in seqs:
        row = db.execute(f"{eligible.RECORDS} WHERE r.seq = ?", (seq,)).fetchone()
        old = "SELECT content FROM mem_revision WHERE record = ? ORDER BY revision LIMIT 1"
        text = db.execute(old, (row["record"],)).fetchone()[0]
        found[seq] = eligible.Standing(*row)._replace(text=text)
    return found


def furnish(memory: Memory) -> None:
    """Records of every sort; what was taken back still stands in the index, as a job that came late leaves it."""
    for number in range(THINGS):
        memory.kept(f"plain{number} stands in the hall")
        gone, fixed, closed = (memory.kept(f"{sort}{number} stands in the hall") for sort in BAITS)
        seqs = {"forgotten": memory.get(gone).seq, "stale": memory.get(fixed).seq}
        memory.forget(gone)
        memory.correct(fixed, f"newer{number} stands in the hall")
        memory.db.execute("UPDATE mem_record SET audience = '[\"p-bob\"]' WHERE record = ?", (closed,))
        table = memory.db.execute("SELECT seq FROM mem_shelf").fetchone()[0]
        for sort, seq in seqs.items():
            memory.db.execute(
                f"INSERT INTO mem_index_{table} (rowid, words) VALUES (?, ?)", (seq, f"{sort}{number} stand hall")
            )


async def measure(count: int, folder: Path, *, guarded: bool = True) -> Figures:
    """The figures of `count` retrievals."""
    figures, draw = Figures(), Random(20261130)
    with pytest.MonkeyPatch.context() as patch:
        memory = await Stage(folder, patch).household()
        furnish(memory)
        if not guarded:
            patch.setattr(eligible, "current", unguarded)
        for _ in range(count):
            bait = draw.random() < 0.34
            sort = draw.choice(BAITS) if bait else draw.choice(("plain", "other"))
            found = await recall(memory, f"{sort}{draw.randrange(THINGS)} hall", memory.scope(way=Way.AUTO))
            _count(figures, memory, found, is_baited=bait)
    return figures


def _count(figures: Figures, memory: Memory, found: Retrieval, *, is_baited: bool) -> None:
    texts = [hit.text for hit in found.hits]
    figures.asked += 1
    figures.baited += is_baited
    figures.leaks += any(text.startswith("closed") for text in texts)
    figures.resurrections += any(text.startswith("forgotten") for text in texts)
    figures.stale += any(text.startswith("stale") for text in texts)
    block = assemble(enabled(retrieval=found))
    number = snapshots.keep(memory.db, block, memory.house.now)
    row = memory.db.execute("SELECT * FROM snapshot WHERE seq = ?", (number,)).fetchone()
    (_, words), *sections = snapshots._parts(memory.db, row)
    figures.mismatches += (words, [text for _, text in sections]) != (block.words, [s.text for s in block.sections])
    ledger.note(memory.db, memory.scope(way=Way.AUTO), "inject", found.searched, memory.house.now)
    noted = memory.db.execute("SELECT count(*) FROM mem_audit WHERE action = 'inject'").fetchone()[0]
    figures.audited += bool(found.searched) and noted == len(found.searched)
    memory.db.execute("DELETE FROM mem_audit WHERE action = 'inject'")
    memory.db.execute("DELETE FROM snapshot")


def main() -> int:
    count = int(sys.argv[-1]) if sys.argv[-1].isdigit() else 10_000
    kept = anyio.run(measure, count, Path("/tmp"))
    bare = anyio.run(lambda: measure(count // 10, Path("/tmp"), guarded=False))
    print(f"without the guard: {bare.line()}")
    print(f"memory-proof: {kept.line()}")
    holds = (kept.leaks, kept.resurrections, kept.stale, kept.mismatches) == (0, 0, 0, 0)
    return 0 if holds and kept.audited == kept.asked and bare.leaks and bare.resurrections and bare.stale else 1


if __name__ == "__main__":
    sys.exit(main())
