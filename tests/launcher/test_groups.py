"""Control groups of runs, on the machine's own tree where it has one."""

import os
import signal
import subprocess
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from kai.launcher import groups
from kai.launcher.messages import RefusedError
from tests.processes.seen import is_alive


@pytest.fixture
def own() -> Iterator[groups.Groups]:
    """Groups of this process, which stays in its own."""
    if os.geteuid() != 0 or "0::/" not in groups.lines("/proc/self/cgroup"):
        pytest.skip("only root in the root group can make groups here without moving the tests")
    one = groups.prepare()
    if not one.root:
        pytest.skip("this machine has no control groups of version 2 that may be written")
    yield one
    one.close()
    assert not Path(one.root).exists()


def test_a_group_holds_whoever_joined_and_all_below_and_ends_them_at_once(own: groups.Groups) -> None:
    group = own.make("r-1", {})
    assert group is not None
    command = ["/bin/sh", "-c", "setsid sleep 1000 & setsid sleep 1000 & echo up; wait"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, preexec_fn=group.join) as process:  # noqa: PLW1509
        assert process.stdout is not None
        assert process.stdout.readline() == b"up\n"
        there = group.pids()
        assert process.pid in there
        assert len(there) == 3
        assert not group.remove()
        assert sorted(group.kill()) == sorted(there)
        assert process.wait() == -signal.SIGKILL
    give_up_at = time.monotonic() + 10
    while any(map(is_alive, there)):
        assert time.monotonic() < give_up_at
    assert group.remove()
    assert group.remove(), "what is gone is no hindrance"
    assert (group.pids(), group.kill(), group.oom_kills()) == ([], [], 0)


def test_two_runs_never_share_a_group(own: groups.Groups) -> None:
    assert own.make("r-1", {"memory_bytes": 1 << 30, "pids": 50})
    with pytest.raises(RefusedError, match="already"):
        own.make("r-1", {})


def test_a_later_spawner_ends_what_a_former_one_left(own: groups.Groups) -> None:
    group = own.make("r-1", {})
    assert group is not None
    with subprocess.Popen(["/bin/sleep", "1000"], preexec_fn=group.join) as process:  # noqa: PLW1509
        own.clear()
        assert process.wait() == -signal.SIGKILL
    own.clear()
    assert not Path(group.path).exists()


def test_without_groups_everything_says_nothing() -> None:
    none = groups.Groups()
    assert none.make("r-1", {"pids": 1}) is None
    none.clear()
    none.close()
    assert groups.lines("/nowhere") == []
