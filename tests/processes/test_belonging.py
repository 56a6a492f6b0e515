"""Which run a process belongs to."""

import os
import subprocess
from pathlib import Path

from kai.model.ids import RunId
from kai.processes.belonging import UNKNOWN, run_below, run_in_group


def test_ancestors_tell_whichever_generation_it_is() -> None:
    with subprocess.Popen(["/bin/sh", "-c", "sleep 1000 & echo $!; wait"], stdout=subprocess.PIPE) as process:
        assert process.stdout is not None
        grandchild = int(process.stdout.readline())
        assert run_below(grandchild, {process.pid: RunId("r-1")}) == "r-1"
        assert run_below(grandchild, {}, os.getpid()) == UNKNOWN, "below the spawner, and nobody knows whose"
        assert run_below(grandchild, {process.pid: RunId("r-1")}, os.getpid()) == "r-1"
        assert run_below(os.getpid(), {process.pid: RunId("r-1")}) is None
        os.kill(grandchild, 9)
        process.kill()


def test_where_a_process_is_hidden_the_groups_own_lists_tell(tmp_path: Path) -> None:
    group = tmp_path / "run-r-1"
    group.mkdir()
    (group / "cgroup.procs").write_text("1\n99999999\n")
    assert run_in_group(99999999, str(tmp_path)) == "r-1"
    assert run_in_group(9999999, str(tmp_path)) is None
    assert run_in_group(9999999, "") is None
    assert run_in_group(os.getpid(), str(tmp_path)) is None
