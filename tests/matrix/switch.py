"""``python -m tests.matrix.switch [--only A,B] [--pairs A:B,…]``: the switch matrix; the last line counts the pairs.

For each ordered pair: two turns on A (the second with a tool), a change, one turn on B, and back to A. B's model
request must hold the block that kai shows, once, contiguous, byte for byte; in it A's questions and answers; and
nothing of A's own: no id of its session, process, dispatch or turn, and nothing beside the block that a direct start of
B would not send as well. The block must be, byte for byte, the one of a direct start of B (another daemon on a copy of
the state, where A never ran), and the one that each of the backends would be given there. Only the line with the time
of the turn is set aside.
"""

import argparse
import sys
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path

import anyio

from tests.matrix.talk import BACKENDS, OFFLINE, REAL, Pair, Row
from tests.stub_model import StubModel

Wanted = dict[str, list[str]]


def missing(backend: str) -> str:
    """Why a backend cannot take part; empty when it can."""
    return "" if backend == OFFLINE or REAL[backend].is_installed else f"{REAL[backend].program} is not installed"


def chosen(only: str, pairs: str) -> Wanted:
    """The pairs that were asked for, by their first backend. Raises `ValueError` for a name that is none."""
    wanted = [(a, b) for a in BACKENDS for b in BACKENDS if a != b]
    if only:
        names = set(_known(only.split(",")))
        wanted = [pair for pair in wanted if names >= set(pair)]
    if pairs:
        named = {tuple(_known(pair.split(":"))) for pair in pairs.split(",")}
        wanted = [pair for pair in wanted if pair in named]
    return {a: [b for first, b in wanted if first == a] for a in BACKENDS if any(first == a for first, _ in wanted)}


def _known(names: Sequence[str]) -> list[str]:
    for name in names:
        if name not in BACKENDS:
            raise ValueError(f"{name!r} is not among {', '.join(BACKENDS)}")
    return list(names)


def run(wanted: Wanted, at_once: int) -> list[Pair]:
    """Drive every pair whose two backends are here; the others come back with no talk."""
    ran = []
    for a, others in wanted.items():
        here = [] if missing(a) else [b for b in others if not missing(b)]
        ran += [Pair(a, b) for b in others if b not in here]
        if not here:
            continue
        began = time.monotonic()
        with tempfile.TemporaryDirectory(prefix="kai-") as folder, StubModel() as model:
            ran += anyio.run(Row(model, Path(folder), a, here, at_once=at_once).run)
        print(f"{a}: {len(here)} pairs in {time.monotonic() - began:.0f} s", file=sys.stderr, flush=True)
    return ran


def verdict(pair: Pair) -> str:
    if missing(pair.a) or missing(pair.b):
        return "skip"
    return "FAIL" if pair.faults or not pair.talk else "pass"


def matrix(ran: Sequence[Pair]) -> list[str]:
    """Rows are A, columns B; below it every fault and every skip with its reason."""
    cells = {(pair.a, pair.b): verdict(pair) for pair in ran}
    width = max(map(len, BACKENDS)) + 2
    lines = ["".join(name.rjust(width) for name in ("A \\ B", *BACKENDS))]
    rows = [(a, *(cells.get((a, b), "-") for b in BACKENDS)) for a in BACKENDS]
    lines += ["".join(cell.rjust(width) for cell in row) for row in rows]
    for pair in ran:
        lines += [f"FAIL {pair.a} -> {pair.b}: {fault}" for fault in pair.faults]
    lines += [f"skip {backend}: {missing(backend)}" for backend in BACKENDS if missing(backend)]
    return lines


def last_line(ran: Sequence[Pair]) -> str:
    """A skipped pair is no passed one, and stays among those that there are."""
    passed = [pair for pair in ran if verdict(pair) == "pass"]
    real = {name for pair in passed for name in (pair.a, pair.b)} - {OFFLINE}
    return f"switch: {len(passed)} of {len(ran)} pairs on {len(real)} real CLIs"


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m tests.matrix.switch")
    parser.add_argument("--only", default="", help="only pairs among these backends: A,B,…")
    parser.add_argument("--pairs", default="", help="only these pairs: A:B,…")
    parser.add_argument("--at-once", type=int, default=2, help="conversations that go on at the same time")
    options = parser.parse_args()
    try:
        wanted = chosen(options.only, options.pairs)
    except ValueError as error:
        parser.error(str(error))
    ran = run(wanted, options.at_once)
    print("\n".join([*matrix(ran), last_line(ran)]))
    sys.exit(1 if any(verdict(pair) == "FAIL" for pair in ran) else 0)


if __name__ == "__main__":
    main()
