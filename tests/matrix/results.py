"""What came of the clauses, and the tables that are printed of it."""

from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import Any

import pytest

Cell = tuple[str, str]  # clause, backend
MARKS = {"passed": "pass", "skipped": "skip", "failed": "FAIL"}


@dataclass
class Verdict:
    """Of one test. `told` are the properties that it recorded."""

    outcome: str
    seconds: float
    reason: str
    told: list[tuple[str, Any]]


@dataclass
class Results:
    """A plugin of pytest that keeps the verdicts, also those of other processes."""

    verdicts: dict[Cell, list[Verdict]] = field(default_factory=lambda: defaultdict(list))

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        told = dict(report.user_properties)
        if report.when == "call" or not report.passed:
            verdict = Verdict(report.outcome, report.duration, reason_of(report), report.user_properties)
            self.verdicts[str(told["clause"]), str(told["backend"])].append(verdict)

    def cell(self, cell: Cell) -> tuple[str, float, tuple[str, ...]]:
        """Of all tests of a clause with a backend: the worst outcome, all their seconds, the reasons for it."""
        verdicts = self.verdicts.get(cell, ())
        seconds = sum(verdict.seconds for verdict in verdicts)
        for outcome in ("failed", "passed", "skipped"):
            if reasons := [verdict.reason for verdict in verdicts if verdict.outcome == outcome]:
                return outcome, seconds, tuple(dict.fromkeys(reason for reason in reasons if reason))
        return "failed", 0.0, ("it was not run",)

    def told(self, cell: Cell, name: str) -> list[Any]:
        return [value for verdict in self.verdicts.get(cell, ()) for key, value in verdict.told if key == name]


def reason_of(report: pytest.TestReport) -> str:
    """One line: why it was skipped, or at what it failed."""
    if isinstance(report.longrepr, tuple):
        return str(report.longrepr[2]).removeprefix("Skipped: ")
    crash = getattr(report.longrepr, "reprcrash", None)
    said = crash.message if crash else str(report.longrepr or "").strip().rpartition("\n")[2]
    return " ".join(said.split())[:240]


def table(rows: Iterable[Sequence[str]]) -> str:
    """Columns as wide as they must be; the first row is the heading."""
    lines = [tuple(row) for row in rows]
    widths = [max(len(row[at]) for row in lines) for at in range(len(lines[0]))]
    return "\n".join(
        "  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)).rstrip() for row in lines
    )


def matrix(results: Results, clauses: Sequence[str], backends: Sequence[str]) -> str:
    def cell(clause: str, backend: str) -> str:
        outcome, seconds, _ = results.cell((clause, backend))
        return MARKS[outcome] if outcome == "skipped" else f"{MARKS[outcome]} {seconds:.0f}s"

    return table([("", *backends), *((clause, *(cell(clause, one) for one in backends)) for clause in clauses)])


def reasons(results: Results, outcome: str, clauses: Sequence[str], backends: Sequence[str]) -> str:
    """Why cells were skipped or failed: each reason once, with the cells that it holds for."""
    found: dict[str, dict[str, list[str]]] = defaultdict(lambda: defaultdict(list))
    for backend in backends:
        for clause in clauses:
            worst, _, why = results.cell((clause, backend))
            if worst == outcome:
                found["; ".join(why)][backend].append(clause)
    lines = list[str]()
    for said, where in found.items():
        cells = "; ".join(f"{one}: {_these(those, clauses)}" for one, those in where.items())
        lines.append(f"{MARKS[outcome]}  {said}  [{cells}]")
    return "\n".join(lines)


def _these(some: Sequence[str], every: Sequence[str]) -> str:
    return f"all {len(every)}" if len(some) == len(every) > 1 else ", ".join(some)


def summary(results: Results, clauses: Sequence[str], backends: Sequence[str], real: Sequence[str]) -> tuple[str, int]:
    """The last line, and how many cells failed. `real` are the backends that are CLIs of others."""
    outcomes = {(c, b): results.cell((c, b))[0] for c in clauses for b in backends}
    count = {mark: sum(outcome == mark for outcome in outcomes.values()) for mark in MARKS}
    ran = {backend for (_, backend), outcome in outcomes.items() if outcome != "skipped" and backend in real}
    line = f"{count['passed']} pass, {count['skipped']} skipped, {count['failed']} fail on {len(ran)} real CLIs"
    return f"contract: {line}", count["failed"]


def stops(results: Results, clauses: Sequence[str], backends: Sequence[str]) -> str:
    """Time to "stopped", processes left, session kept."""
    rows = [("backend", "stopped in", "seconds", "processes left", "session kept")]
    for backend in backends:
        for clause in clauses:
            for one in results.told((clause, backend), "stop"):
                kept = "yes" if one["kept"] else "no"
                rows.append((backend, clause.removeprefix("stop "), f"{one['seconds']:.2f}", str(one["left"]), kept))
    return table(rows)


def fates(results: Results, clauses: Sequence[str], backends: Sequence[str]) -> str:
    """The sentence that a person gets, and how long it took."""
    rows = [("trouble", "backend", "seconds", "kind", "what the person gets")]
    for clause in clauses:
        for backend in backends:
            for one in results.told((clause, backend), "fate"):
                sentence = " ".join(one["sentence"].split())
                rows.append((one["trouble"], backend, f"{one['seconds']:.1f}", one["kind"], sentence))
    return table(rows)
