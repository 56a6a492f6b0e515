"""A process of a run is told from others by what it cannot change, however it hides."""

import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import anyio
import pytest
from anyio.to_thread import run_sync

from kai.launcher import tree
from kai.model.ids import RunId
from kai.processes import belonging
from kai.processes.belonging import UNKNOWN, began_after, run_below, run_in_group
from kai.processes.direct import DirectLauncher
from kai.processes.launcher import LaunchSpec
from kai.processes.marks import MARK, run_above

pytestmark = pytest.mark.anyio
# Clears its environment, leaves its session, is orphaned, says its pid and waits.
OUTCAST = """
import os, sys
if os.fork():
    os._exit(0)
os.setsid()
if os.fork():
    os._exit(0)
work = "import os, time; print(os.getpid(), flush=True); time.sleep(100)"
os.execve(sys.executable, [sys.executable, "-I", "-S", "-c", work], {})
"""
RUN = RunId("r-23456789bcdf")


async def test_an_orphan_with_a_cleared_environment_and_a_session_of_its_own_is_still_of_its_run() -> None:
    """The attack: setsid, double fork and an empty environment, to be taken for the person's own shell."""
    launcher = DirectLauncher()
    run = await launcher.spawn(LaunchSpec(RUN, (sys.executable, "-I", "-S", "-c", OUTCAST), {MARK: RUN}, "/"))
    try:
        with anyio.fail_after(10):
            pid = int(await run.read())
            await run.wait()
        assert await run_sync(launcher.run_of, pid) == RUN
        # Neither the mark nor another launcher would have told.
        assert await run_sync(run_above, pid) is None
        assert await run_sync(DirectLauncher().run_of, pid) is None
    finally:
        await run.aclose()
    assert await run_sync(launcher.run_of, pid) is None


def test_a_process_of_nobody_is_of_no_run() -> None:
    for pid in (os.getpid(), 1, 2**22 + 1):
        assert DirectLauncher().run_of(pid) is None
        assert run_in_group(pid, "") is None


def test_a_mark_says_nothing_for_sure() -> None:
    """The attack: bear the mark of another's run."""
    child = subprocess.Popen(["sleep", "100"], env={MARK: RUN})
    try:
        assert (run_above(child.pid), DirectLauncher().run_of(child.pid)) == (RUN, None)
    finally:
        child.kill()
        child.wait()


def test_a_child_of_the_spawner_that_is_not_known_yet_is_of_a_run_all_the_same() -> None:
    child = subprocess.Popen(["sleep", "100"])
    try:
        assert run_below(child.pid, {}, os.getpid()) == UNKNOWN
        assert run_below(child.pid, {child.pid: RUN}, os.getpid()) == RUN
        assert run_below(child.pid, {os.getpid(): RUN}) == RUN
    finally:
        child.kill()
        child.wait()


def test_a_parent_that_ends_during_the_look_is_looked_up_again(monkeypatch: pytest.MonkeyPatch) -> None:
    gone = iter([True])

    def process(pid: int) -> object:
        return None if next(gone, False) else tree.process(pid)

    monkeypatch.setattr(belonging, "process", process)
    assert run_below(os.getpid(), {os.getppid(): RUN}) == RUN


@pytest.fixture
def group() -> Iterator[Path]:
    """A control group as the spawner makes one."""
    root = next((one for one in (Path("/sys/fs/cgroup/unified"), Path("/sys/fs/cgroup")) if _can_make(one)), None)
    if root is None:
        pytest.skip("no control group can be made here")
    made = root / f"kai-test-{os.getpid()}/runs/run-{RUN}"
    made.mkdir(parents=True)
    try:
        yield made
    finally:
        for pid in map(int, (made / "cgroup.procs").read_text().split()):
            os.kill(pid, signal.SIGKILL)
        while (made / "cgroup.procs").read_text():
            pass
        for each in (made, *list(made.parents)[:2]):
            each.rmdir()


def _can_make(root: Path) -> bool:
    if os.geteuid() or not (root / "cgroup.procs").exists():
        return False
    probe = root / f"kai-probe-{os.getpid()}"
    try:
        probe.mkdir()
        probe.rmdir()
    except OSError:
        return False
    return True


def test_a_process_is_of_the_run_that_its_control_group_names(group: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Orphaned, without a mark, below no keeper: the group is kept. Also where other users' processes are hidden."""
    joined = f"open({str(group / 'cgroup.procs')!r}, 'w').write('0')\n{OUTCAST}"
    child = subprocess.Popen([sys.executable, "-c", joined], env={}, stdout=subprocess.PIPE)
    assert child.stdout is not None
    pid = int(child.stdout.readline())
    child.wait()
    child.stdout.close()
    assert run_in_group(pid, "") == RUN
    monkeypatch.setattr(belonging, "_GROUP_FILE", "/nowhere/{}")
    assert run_in_group(pid, str(group.parent)) == RUN
    assert run_in_group(os.getpid(), str(group.parent)) is None


@pytest.mark.parametrize(
    ("line", "run"),
    [
        ("0::/kai-spawner.service/runs/run-r-23456789bcdf", RUN),
        ("0::/x/run-r-23456789bcdf", None),
        ("0::/user.slice/run-r1a2b3.scope", None),
        ("0::/system.slice/run-u12.service", None),
        ("0::/", None),
    ],
)
def test_only_a_group_that_kai_names_is_a_runs(
    tmp_path: Path, line: str, run: RunId | None, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "7").write_text(f"1:cpu:/other\n{line}\n")
    monkeypatch.setattr(belonging, "_GROUP_FILE", f"{tmp_path}/{{}}")
    assert run_in_group(7, "") == run


def test_when_a_process_began_is_known_to_a_hundredth_of_a_second() -> None:
    assert not began_after(os.getpid(), 10**9)
    assert began_after(os.getpid(), 0.0)
    assert not began_after(2**22 + 1, 0.0)
