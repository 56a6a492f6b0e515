"""Run inside the booted machine as root: the set, in order, and its table. ``python3 -m tests.booted.inside``."""

import sys
import time
from collections.abc import Callable
from dataclasses import dataclass
from importlib import import_module


@dataclass(frozen=True, slots=True)
class Row:
    """`play` gives whether it went as expected, and what was seen."""

    what: str
    expected: str
    play: Callable[[], tuple[bool, str]]


ROWS: list[Row] = []


def row(what: str, expected: str) -> Callable[[Callable[[], tuple[bool, str]]], Callable[[], tuple[bool, str]]]:
    """Put a play into the table."""

    def taken(play: Callable[[], tuple[bool, str]]) -> Callable[[], tuple[bool, str]]:
        ROWS.append(Row(what, expected, play))
        return play

    return taken


def main() -> int:
    """Play every row; the exit status is 0 when all went as expected."""
    machine = import_module("tests.booted.machine")
    for part in ("life", "faults", "upgrade"):
        import_module(f"tests.booted.plays_{part}")
    seen, began = [], time.monotonic()
    for each in ROWS:
        at = time.monotonic()
        try:
            is_well, told = each.play()
        except Exception as error:  # noqa: BLE001 - a row that breaks is a row that failed
            is_well, told = False, f"{type(error).__name__}: {error}"
            machine.tidy()
        seen.append(is_well)
        mark = "" if is_well else "NOT "
        print(f"| {each.what} | {each.expected} | {mark}{' '.join(told.split())[-900:]} | {time.monotonic() - at:.1f} s |", flush=True)  # fmt: skip # noqa: E501
        if not is_well and each is ROWS[0]:
            print(machine.run("journalctl", "-u", "kai*", "--no-pager", "-n", "40").stdout, flush=True)
            break
    print(f"\nbooted for {time.monotonic() - began:.0f} s", flush=True)
    print(f"booted: {sum(seen)} of {len(ROWS)} as expected", flush=True)
    return 0 if sum(seen) == len(ROWS) else 1


if __name__ == "__main__":
    sys.modules["tests.booted.inside"] = sys.modules["__main__"]
    sys.exit(main())
