"""The tables say what the tests found: no cell is lost, and none is better than its worst test."""

import ast
from pathlib import Path

from tests.matrix.clauses import CLAUSES
from tests.matrix.results import Results, Verdict, matrix, reasons, summary

REAL = Path(__file__).parents[1] / "real"


def verdict(outcome: str, reason: str = "") -> Verdict:
    return Verdict(outcome, 1.0, reason, [])


def test_the_clauses_are_those_that_tests_are_marked_with() -> None:
    marked = set()
    for path in REAL.glob("test_*.py"):
        for node in ast.walk(ast.parse(path.read_text())):
            if isinstance(node, ast.Call) and ast.unparse(node.func) in ("clause", "pytest.mark.clause"):
                marked.add(ast.literal_eval(node.args[0]))
    assert marked == set(CLAUSES)


def test_a_cell_is_as_bad_as_its_worst_test_and_a_part_that_was_skipped_does_not_hide_one_that_passed() -> None:
    found = Results()
    found.verdicts["a", "x"] += [verdict("passed"), verdict("failed", "why"), verdict("skipped")]
    found.verdicts["a", "y"] += [verdict("skipped", "no"), verdict("passed")]
    assert found.cell(("a", "x"))[::2] == ("failed", ("why",))
    assert found.cell(("a", "y"))[0] == "passed"


def test_what_was_not_run_is_a_failure_and_not_left_out() -> None:
    found = Results()
    found.verdicts["a", "x"].append(verdict("passed"))
    found.verdicts["b", "x"].append(verdict("skipped", "cannot"))
    line, failed = summary(found, ["a", "b"], ["x", "y"], ["x", "y"])
    assert (line, failed) == ("contract: 1 pass, 1 skipped, 2 fail on 2 real CLIs", 2)
    assert reasons(found, "failed", ["a", "b"], ["x", "y"]) == "FAIL  it was not run  [y: all 2]"
    assert reasons(found, "skipped", ["a", "b"], ["x", "y"]) == "skip  cannot  [x: b]"


def test_an_agent_that_comes_with_kai_or_was_only_skipped_is_no_real_cli() -> None:
    found = Results()
    found.verdicts["a", "x"].append(verdict("skipped"))
    found.verdicts["a", "offline"].append(verdict("passed"))
    assert summary(found, ["a"], ["x", "offline"], ["x"])[0] == "contract: 1 pass, 1 skipped, 0 fail on 0 real CLIs"


def test_the_matrix_has_a_row_for_each_clause_and_a_column_for_each_backend() -> None:
    found = Results()
    found.verdicts["a clause", "x"].append(verdict("passed"))
    found.verdicts["a clause", "y"].append(verdict("failed"))
    assert matrix(found, ["a clause"], ["x", "y"]) == "          x        y\na clause  pass 1s  FAIL 1s"
