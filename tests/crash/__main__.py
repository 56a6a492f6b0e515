"""``python -m tests.crash [--kills 200] [--seed N]``: the last line counts kills, messages, and what became of them."""

import argparse
import random
import sys
import tempfile
import time
from pathlib import Path

import anyio

from tests.crash.storm import Storm
from tests.crash.victim import POINTS


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m tests.crash")
    parser.add_argument("--kills", type=int, default=200)
    parser.add_argument("--seed", type=int, default=int(time.time()))
    options = parser.parse_args()
    print(f"seed {options.seed}")
    with tempfile.TemporaryDirectory(prefix="kai-crash-") as folder:
        storm = Storm(Path(folder), random.Random(options.seed))
        tally = anyio.run(storm.run, options.kills)
    for point in POINTS:
        print(f"{point:>10} {tally.kills[point]}")
    print(tally.last_line())
    sys.exit(0 if tally.is_clean else 1)


if __name__ == "__main__":
    main()
