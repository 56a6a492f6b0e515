"""``python -m tests.crash [--kills 200] [--seed N]``: the last line counts kills, messages, and what became of them."""

import argparse
import random
import sys
import tempfile
import time
from pathlib import Path

import anyio

from tests.crash.gale import Gale
from tests.crash.storm import Storm
from tests.crash.victim import POINTS


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m tests.crash")
    parser.add_argument("--kills", type=int, default=200)
    parser.add_argument("--seed", type=int, default=int(time.time()))
    parser.add_argument("--storm", action="store_true", help="every kind of fault, in thousands")
    parser.add_argument("--faults", type=int, default=10_000)
    parser.add_argument("--houses", type=int, default=2, help="so many daemons at once")
    options = parser.parse_args()
    if options.storm:
        sys.exit(blow(options.faults, options.seed, options.houses))
    print(f"seed {options.seed}")
    with tempfile.TemporaryDirectory(prefix="kai-crash-") as folder:
        storm = Storm(Path(folder), random.Random(options.seed))
        tally = anyio.run(storm.run, options.kills)
    for point in POINTS:
        print(f"{point:>10} {tally.kills[point]}")
    print(tally.last_line())
    sys.exit(0 if tally.is_clean else 1)


def blow(faults: int, seed: int, houses: int) -> int:
    """The storm over several houses; the exit status."""
    print(f"seed {seed}", flush=True)
    began = time.monotonic()
    with tempfile.TemporaryDirectory(prefix="kai-storm-") as folder:
        gales = [Gale(Path(folder) / f"h{n}", random.Random(seed + n)) for n in range(houses)]
        anyio.run(at_once, gales, faults)
    total = Gale.sum(gales)
    for kind, count in sorted(total.done.items()):
        print(f"{kind:>10} {count}")
    print(f"{'kill at':>10} {dict(total.tally.kills)}")
    for note in total.tally.notes:
        print(note)
    minutes = (time.monotonic() - began) / 60
    print(f"{minutes:.1f} minutes, {sum(total.done.values()) / minutes:.0f} faults a minute")
    print(total.last_line())
    return 0 if total.tally.is_clean and not total.leaked else 1


async def at_once(gales: list[Gale], faults: int) -> None:
    async with anyio.create_task_group() as tasks:
        for number, gale in enumerate(gales):
            share = faults // len(gales) + (number < faults % len(gales))
            tasks.start_soon(gale.blow, share)


if __name__ == "__main__":
    main()
