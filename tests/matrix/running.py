"""Runs clauses with backends through pytest and prints what came of them."""

import argparse
import os
import sys
from collections.abc import Callable, Sequence
from pathlib import Path

import pytest

from kai.catalog import manifests
from kai.resources import folder
from tests.matrix import results
from tests.matrix.clauses import CLAUSES, STOPS, TOLD
from tests.matrix.results import Results, Verdict
from tests.real.agents import AGENTS

CHECKOUT = Path(__file__).parents[2]
AT_ONCE = 2
_ONE_TRY = ("-p", "no:rerunfailures")
NOT_TO_BE_HAD = "no package in npm, PyPI or Debian carries its CLI"

Section = tuple[str, Sequence[str], Callable[[Results, Sequence[str], Sequence[str]], str]]
SECTIONS: tuple[Section, ...] = (
    ("Stops", STOPS, results.stops),
    ("Troubles of a provider, as a person is told (kai's own limit set to 10 s)", TOLD, results.fates),
)


def main(name: str, clauses: Sequence[str]) -> int:
    """Exit code: 0, or 1 when a cell failed."""
    known = tuple(manifests.load(folder("backends")))
    parser = argparse.ArgumentParser(prog=f"python -m tests.matrix.{name}")
    parser.add_argument("--only", default=",".join(known), metavar="B,…", help="these backends (default: all)")
    parser.add_argument("--clauses", default="", metavar="C|…", help="these clauses, by their beginnings")
    parser.add_argument("--at-once", default=AT_ONCE, type=int, metavar="N", help="so many tests at a time")
    given = parser.parse_args()
    backends = [one for one in given.only.split(",") if one]
    if strangers := set(backends) - set(known):
        parser.error(f"no backend {', '.join(sorted(strangers))}; there are: {', '.join(known)}")
    if given.clauses:
        starts = tuple(start.strip() for start in given.clauses.split("|"))
        clauses = [clause for clause in clauses if clause.startswith(starts)]
        if not clauses:
            parser.error(f"no clause begins so; there are: {' | '.join(CLAUSES)}")
    found = run(clauses, backends, given.at_once)
    print(f"\n{results.matrix(found, clauses, backends)}\n")
    for title, of_it, printed in SECTIONS:
        if mine := [clause for clause in clauses if clause in of_it]:
            print(f"{title}\n\n{printed(found, mine, backends)}\n")
    for outcome in ("skipped", "failed"):
        if said := results.reasons(found, outcome, clauses, backends):
            print(f"{said}\n")
    line, failed = results.summary(found, clauses, backends, [agent.backend for agent in AGENTS if agent.has_model])
    print(line)
    return 1 if failed else 0


def run(clauses: Sequence[str], backends: Sequence[str], at_once: int) -> Results:
    """Every clause with every backend, `at_once` of them at a time."""
    found = Results()
    testable = {agent.backend for agent in AGENTS}
    for backend in set(backends) - testable:
        for clause in clauses:
            found.verdicts[clause, backend].append(Verdict("skipped", 0.0, NOT_TO_BE_HAD, []))
    options = [f"--matrix-clauses={'|'.join(clauses)}", f"--matrix-backends={','.join(backends)}"]
    parallel = ["-n", str(at_once), "--dist", "worksteal"] if at_once > 1 else []
    os.chdir(CHECKOUT)
    if testable & set(backends):
        pytest.main(
            ["tests/real", "-p", "tests.matrix.selection", "--tb=short", *_ONE_TRY, *parallel, *options],
            plugins=[found],
        )
    sys.stdout.flush()
    return found
