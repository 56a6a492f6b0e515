"""Starting the agent. What a started agent looks like is told by the suite of the launchers."""

import os
import signal

import psutil
import pytest

from kai.launcher import child
from kai.launcher.messages import RefusedError, Spawn


def test_a_start_gives_the_pid_of_a_child_of_this_process() -> None:
    pid = child.start(Spawn("r-1", ["/bin/sleep", "1000"], {}, "/"))
    os.kill(pid, signal.SIGTERM)
    assert os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]) == -signal.SIGTERM


def test_a_refused_start_leaves_no_zombie() -> None:
    before = {one.pid for one in psutil.Process().children()}
    with pytest.raises(RefusedError) as caught:
        child.start(Spawn("r-1", ["/nowhere/agent"], {}, "/"))
    assert (caught.value.kind, caught.value.reason) == ("missing", "/nowhere does not exist")
    assert {one.pid for one in psutil.Process().children()} <= before


@pytest.mark.parametrize(
    ("spec", "reason"),
    [
        (Spawn("r-1", [], {}, "/"), "absolute path"),
        (Spawn("r-1", ["true"], {}, "/"), "absolute path"),
        (Spawn("r-1", ["/bin/true"], {}, "tmp"), "'tmp'"),
        (Spawn("r-1", ["/bin/true", "\0"], {}, "/"), "NUL"),
        (Spawn("r-1", ["/bin/true"], {"A": "\0"}, "/"), "NUL"),
        (Spawn("r-1", ["/bin/true"], {}, "/\0"), "NUL"),
        (Spawn("r-1", ["/bin/true"], {"": "a"}, "/"), "no usable name"),
        (Spawn("r-1", ["/bin/true"], {"A=": "a"}, "/"), "no usable name"),
    ],
)
def test_what_can_never_start_is_refused_without_a_try(spec: Spawn, reason: str) -> None:
    with pytest.raises(RefusedError, match=reason) as caught:
        child.start(spec)
    assert caught.value.kind == "bad"


def test_orphans_can_be_adopted() -> None:
    pid = os.fork()
    if pid == 0:
        child.adopt_orphans()
        middle = os.fork()
        if middle == 0:
            os._exit(0 if os.fork() else 7)
        os.waitpid(middle, 0)
        os._exit(os.waitstatus_to_exitcode(os.waitpid(-1, 0)[1]))
    assert os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]) == 7
