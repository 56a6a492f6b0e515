"""``python -m tests.faults [--only N,M] [--short]``: plays the table of faults; the last line counts its rows."""

import argparse
import os
import subprocess
import sys
import textwrap
from collections import defaultdict
from pathlib import Path

import pytest

from tests.faults.table import ROWS, Row

ROOT = Path(__file__).resolve().parents[2]
WIDTHS = (38, 46, 70)


class Watch:
    """What became of every test, by its id."""

    def __init__(self) -> None:
        self.outcomes: dict[str, str] = {}
        self.reasons: dict[str, str] = {}
        self.booted: dict[str, str] = {}  # what was played on a booted systemd, and what was seen
        self.seen: defaultdict[str, list[str]] = defaultdict(list)

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        if report.when == "call" or report.outcome != "passed":
            self.outcomes[report.nodeid] = report.outcome
        if report.skipped and isinstance(report.longrepr, tuple):
            self.reasons[report.nodeid] = report.longrepr[2].removeprefix("Skipped: ")
        if report.failed:
            self.reasons[report.nodeid] = str(report.longrepr).strip().splitlines()[-1]
        if report.when == "teardown":
            self.seen[report.nodeid] = [str(value) for name, value in report.user_properties if name == "seen"]

    def of(self, row: Row) -> tuple[str, str]:
        """``pass``, ``skip`` or ``FAIL``, and what was seen."""
        found = {
            test: [node for node in self.outcomes if node == test or node.startswith((f"{test}::", f"{test}["))]
            for test in row.tests
        }
        nodes = [node for some in found.values() for node in some]
        if missing := [test for test, some in found.items() if not some]:
            return "FAIL", f"not run: {missing[0]}"
        for outcome, word in (("failed", "FAIL"), ("skipped", "skip")):
            if bad := [node for node in nodes if self.outcomes[node] == outcome]:
                return word, f"{bad[0].rpartition('::')[2]}: {self.reasons.get(bad[0], '')}"
        seen = list(dict.fromkeys(text for node in nodes for text in self.seen[node]))
        seen.append(f"{len(nodes)} tests" if len(nodes) > 1 else "1 test")
        for name in row.booted if self.booted else ():
            told = next((told for what, told in self.booted.items() if what.startswith(name)), "NOT played")
            if told.startswith("NOT "):
                return "FAIL", f"on a booted systemd, {name}: {told}"
            seen.append(f"on a booted systemd: {told}")
        return "pass", "; ".join(seen)

    def play_booted(self) -> str:
        """Boot a machine with kai installed and play its set; gives why not, if it cannot be."""
        from tests.booted.__main__ import missing

        if reason := missing():
            return reason
        command = [sys.executable, "-m", "tests.booted", "--debian", "12"]
        done = subprocess.run(command, capture_output=True, text=True, cwd=ROOT)
        rows = [line.strip("| ").split(" | ") for line in done.stdout.splitlines() if line.startswith("| ")]
        self.booted = {cells[0]: cells[2] for cells in rows if len(cells) >= 4}
        return "" if self.booted else f"it did not come up: {done.stderr.strip()[-300:]}"


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m tests.faults")
    parser.add_argument("--only", default="", metavar="N,M", help="rows by their numbers, from 1")
    parser.add_argument("--short", action="store_true", help="without the tests that take minutes")
    options = parser.parse_args()
    wanted = {int(number) for number in options.only.split(",") if number} or set(range(1, len(ROWS) + 1))
    rows = {number: row for number, row in enumerate(ROWS, 1) if number in wanted}
    tests = dict.fromkeys(test for row in rows.values() for test in row.tests)
    if options.short:
        tests = {test: None for test in tests if "/long_" not in test}
    watch = Watch()
    pytest.main([*tests, "-o", "addopts=--strict-markers -p no:cacheprovider -p no:terminal"], plugins=[watch])
    if any(row.booted for row in rows.values()) and not options.short and (why := watch.play_booted()):
        print(f"no systemd was booted: {why}")
    sys.exit(1 if report(rows, watch) else 0)


def report(rows: dict[int, Row], watch: Watch) -> int:
    """Print the table; how many rows failed."""
    counts: defaultdict[str, int] = defaultdict(int)
    line("", "fault", "expected", "seen")
    for number, row in rows.items():
        verdict, seen = watch.of(row)
        counts[verdict] += 1
        line(f"{number:2} {verdict}", row.fault, row.expected, seen)
    for node, outcome in watch.outcomes.items():
        if outcome == "failed" and os.environ.get("KAI_DEBUG"):
            print(node, watch.reasons[node])
    total = f"of {len(ROWS)}"
    print(f"faults: {counts['pass']} pass, {counts['skip']} skipped, {counts['FAIL']} fail {total}")
    return counts["FAIL"]


def line(mark: str, *cells: str) -> None:
    columns = [textwrap.wrap(cell, width) or [""] for cell, width in zip(cells, WIDTHS, strict=True)]
    for at in range(max(len(column) for column in columns)):
        texts = [
            (column[at] if at < len(column) else "").ljust(width) for column, width in zip(columns, WIDTHS, strict=True)
        ]
        print(f"{mark if at == 0 else '':7} {'  '.join(texts).rstrip()}")


if __name__ == "__main__":
    main()
