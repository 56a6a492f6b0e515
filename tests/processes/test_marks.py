"""Finding and ending what bears a run's mark."""

import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from kai.model.ids import RunId, fresh
from kai.processes import marks
from kai.processes.launcher import TreeAliveError
from tests.processes.seen import is_alive


def start(run: str, command: str = "exec sleep 1000") -> "subprocess.Popen[bytes]":
    process = subprocess.Popen(["/bin/sh", "-c", command], env={"KAI_RUN": run, "PATH": "/usr/bin:/bin"})
    while is_alive(process.pid) and not any(marks._environment(Path(f"/proc/{process.pid}"))):
        pass  # it is a program already, but its environment comes last
    return process


def test_every_process_of_a_former_run_is_ended_and_no_other() -> None:
    """Kind of F26, F179: what a former daemon left is known by its mark, never by a pid that may be another's."""
    run, longer = RunId(fresh("r")), RunId(fresh("r") + "-x")
    mine = [start(run), start(run, "trap '' TERM; kill -STOP $$")]
    others = [start(longer), start(run + "-longer"), start("r-other", f"KAI_RUNS={run} exec sleep 1000")]
    try:
        killed = marks.kill_marked(run)
        assert killed >= 2
        assert [process.wait() for process in mine] == [-signal.SIGKILL] * 2
        assert all(is_alive(process.pid) for process in others)
        assert marks.kill_marked(run) == 0
        assert marks.marked(run) == []
    finally:
        for process in others:
            process.kill()
            process.wait()


def test_a_zombie_is_not_waited_for() -> None:
    run = RunId(fresh("r"))
    process = start(run, "exit 0")
    os.waitid(os.P_PID, process.pid, os.WEXITED | os.WNOWAIT)
    assert marks.kill_marked(run) == 0
    process.wait()


def test_what_does_not_end_is_an_error(monkeypatch: pytest.MonkeyPatch) -> None:
    run = RunId(fresh("r"))
    process = start(run)
    monkeypatch.setattr(marks, "_GIVE_UP_S", 0.05)
    monkeypatch.setattr(marks, "_send", lambda *_: False)
    with pytest.raises(TreeAliveError) as caught:
        marks.kill_marked(run)
    assert str(process.pid) in caught.value.sentence
    assert caught.value.hint
    process.kill()
    process.wait()


def test_a_pid_that_passed_on_is_spared(tmp_path: Path) -> None:
    process = subprocess.Popen(["/bin/sleep", "1000"], env={})
    assert marks._send(process.pid, RunId("r-1"), signal.SIGKILL) is False
    assert marks._send(2**22 + 1, RunId("r-1"), signal.SIGKILL) is False
    assert is_alive(process.pid)
    process.kill()
    process.wait()


def test_a_process_is_known_by_the_mark_of_an_ancestor_and_a_stranger_is_not() -> None:
    run = RunId("r-above")
    script = "import subprocess,sys; p=subprocess.Popen(['sleep','30'],env={}); print(p.pid,flush=True); p.wait()"
    parent = subprocess.Popen([sys.executable, "-c", script], env={"KAI_RUN": run}, stdout=subprocess.PIPE, text=True)
    try:
        assert parent.stdout is not None
        child = int(parent.stdout.readline())
        assert marks.run_above(parent.pid) == run
        assert marks.run_above(child) == run
        assert marks.run_above(os.getpid()) is None
    finally:
        os.kill(child, signal.SIGKILL)
        parent.communicate()
