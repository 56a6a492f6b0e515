"""``make scenarios``: plays them all and prints the table: id, sentence, whether it passes and its control fails."""

import sys
from pathlib import Path

import pytest

from tests.scenarios.listed import SENTENCES, WAITS


class Results:
    """Ids to outcomes, as pytest reports them."""

    def __init__(self) -> None:
        self.holds: dict[str, bool] = {}
        self.controls: dict[str, bool] = {}

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        if report.when != "call" and report.passed:
            return
        name = report.nodeid.partition("[")[2].rstrip("]")
        if "test_holds" in report.nodeid:
            self.holds[name] = report.passed and self.holds.get(name, True)
        elif "without_its_guard" in report.nodeid:
            name = name.rpartition("-")[0]
            self.controls[name] = report.passed and self.controls.get(name, True)


def main() -> int:
    results = Results()
    tests = str(Path(__file__).with_name("test_scenarios.py"))
    status = pytest.main([tests, "-q", "-p", "no:cacheprovider"], plugins=[results])
    for name, sentence in SENTENCES.items():
        if name in results.holds:
            passed = "pass" if results.holds[name] else "FAIL"
            control = "control fails" if results.controls.get(name) else "CONTROL DOES NOT FAIL"
        else:
            passed, control = "not yet", f"waits for: {WAITS.get(name, '-')}"
        print(f"{name:5} {passed:8} {control:34} {sentence}")
    held, failed = sum(results.holds.values()), sum(results.controls.values())
    print(f"scenarios: {held} of {len(SENTENCES)} pass, {failed} of {len(SENTENCES)} controls fail")
    return int(status)


if __name__ == "__main__":
    if "--proof" in sys.argv:
        from tests.scenarios import proof

        sys.exit(proof.main())
    sys.exit(main())
