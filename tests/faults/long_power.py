"""The power is cut in the middle of the work, and the clock jumps: on a machine of our own."""

import json
from collections import defaultdict
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.faults.uml import Machine

pytestmark = pytest.mark.timeout(400)
Seen = Callable[[str, object], None]
CUTS = 2


def acks(machine: Machine) -> dict[str, list[str]]:
    """What was promised, by its kind. The last line may have been cut along with the power."""
    found: defaultdict[str, list[str]] = defaultdict(list)
    path = machine.share / "acks"
    for line in path.read_text().split("\n")[:-1] if path.exists() else ():
        kind, _, what = line.partition(" ")
        found[kind].append(what)
    return found


def test_a_power_cut(tmp_path: Path, record_property: Seen) -> None:
    machine = Machine(tmp_path)
    for number in range(1, CUTS + 1):
        before = len(acks(machine)["message"])
        with machine.on("accept") as running:
            machine.until(running, lambda: len(acks(machine)["message"]) >= before + 40 * number, 120)  # noqa: B023
        machine.runs_to_its_end("count", 150)
        promised, found = acks(machine), json.loads((machine.share / "found").read_text())
        assert found["damage"] == "ok"
        assert set(promised["message"]) <= set(found["messages"])
        assert len(found["messages"]) == len(set(found["messages"]))
        for file in promised["file"]:
            ref, _, digest = file.partition(":")
            assert found["files"][ref] == digest
        assert set(promised["backup"]) <= set(found["backups"])
    told = ", ".join(f"{len(some)} {kind}s" for kind, some in promised.items())
    record_property("seen", f"{CUTS} cuts: all that was promised ({told}) is there and whole; a daemon starts on it")


def test_a_clock_that_jumps(tmp_path: Path, record_property: Seen) -> None:
    machine = Machine(tmp_path)
    machine.runs_to_its_end("clock", 200)
    found = json.loads((machine.share / "found").read_text())
    assert found["states"] == ["done"] * 6
    assert found["first"] == "before"
    assert found["order"] == sorted(found["order"])
    assert found["sessions"] == 1
    record_property("seen", "+1, -2, +1 days in turns and open questions: all done, in order, in one session")
