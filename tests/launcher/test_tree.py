"""Looking at and striking the processes below this one."""

import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress

import psutil
import pytest

from kai.launcher import tree
from tests.processes.seen import is_alive


@contextmanager
def shell(command: str) -> Iterator["subprocess.Popen[bytes]"]:
    """A shell with its own group, all of which ends with the block."""
    pipe = subprocess.PIPE
    process = subprocess.Popen(["/bin/sh", "-c", command], stdin=pipe, stdout=pipe, start_new_session=True)
    try:
        yield process
    finally:
        with suppress(ProcessLookupError):
            os.killpg(process.pid, signal.SIGKILL)
        process.communicate()


def test_a_process_is_what_proc_says() -> None:
    own = tree.process(os.getpid())
    assert own is not None
    assert (own.parent, own.group, own.state) == (os.getppid(), os.getpgrp(), "R")
    assert own.cpu_s == pytest.approx(sum(os.times()[:4]), abs=0.1)
    assert own.rss_bytes > 1_000_000
    assert own.age_s == pytest.approx(time.time() - psutil.Process().create_time(), abs=2)
    assert not own.is_dead
    assert tree.process(2**22 + 1) is None


def test_a_name_that_looks_like_fields_is_no_matter() -> None:
    code = "import ctypes, sys; ctypes.CDLL(None).prctl(15, b') R 1 (\\n'); print('up', flush=True); sys.stdin.read()"
    with subprocess.Popen([sys.executable, "-c", code], stdin=subprocess.PIPE, stdout=subprocess.PIPE) as process:
        assert process.stdout
        process.stdout.readline()
        found = tree.process(process.pid)
        assert found
        assert found.parent == os.getpid()
        process.communicate()


def test_the_whole_tree_is_found_parents_first() -> None:
    with shell("(sleep 1000 & sleep 1000 & echo up; wait) & wait") as process:
        assert process.stdout
        process.stdout.readline()
        found = tree.below(os.getpid())
        mine = [one for one in found if one.pid == process.pid or one.parent != os.getpid()]
        assert mine[0].pid == process.pid
        assert len(mine) == 4
        assert {one.parent for one in mine[2:]} == {mine[1].pid}
        assert [one.pid for one in tree.below(mine[1].pid)] == [one.pid for one in mine[2:]]


def test_a_process_that_is_gone_has_no_children() -> None:
    assert tree.children(2**22 + 1) == []
    assert tree.below(2**22 + 1) == []


def test_children_of_every_thread_are_found() -> None:
    code = (
        "import threading, subprocess, sys\n"
        "def run(): p = subprocess.Popen(['sleep', '1000']); print(p.pid, flush=True); p.wait()\n"
        "threading.Thread(target=run).start()\n"
    )
    with subprocess.Popen([sys.executable, "-c", code], stdout=subprocess.PIPE) as process:
        assert process.stdout
        child = int(process.stdout.readline())
        assert tree.children(process.pid) == [child]
        os.kill(child, signal.SIGKILL)


def test_a_strike_stops_before_it_looks_and_leaves_no_one_out() -> None:
    """In a process of its own: it strikes everything below."""
    code = (
        "import os, signal, subprocess, sys\n"
        "from kai.launcher import tree\n"
        "p = subprocess.Popen(['sh', '-c', 'while :; do sleep 0.001 & done'])\n"
        "q = subprocess.Popen(['sh', '-c', 'sleep 1000 & echo up; wait'], stdout=subprocess.PIPE)\n"
        "q.stdout.readline()\n"
        "struck, refused = tree.strike(signal.SIGSTOP)\n"
        "while (states := {one.state for one in tree.below(os.getpid()) if not one.is_dead}) != {'T'}: pass\n"
        "killed, refused = tree.strike(signal.SIGKILL)\n"
        "p.wait(), q.wait()\n"
        "print(refused, {p.pid, q.pid} <= set(struck), set(killed) <= set(struck), len(killed) >= 3)\n"
    )
    said = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert said.stdout == "[] True True True\n"


def test_a_pid_that_passed_on_to_a_stranger_is_spared() -> None:
    """The pid of a dead process may be anybody's: only children of the tree are signalled."""
    with shell("read _") as process:
        assert tree._send(process.pid, signal.SIGKILL, [process.pid]) is False
        time.sleep(0)
        assert is_alive(process.pid)
        assert tree._send(process.pid, signal.SIGTERM, [os.getpid()]) is True
        assert process.wait() == -signal.SIGTERM
        assert tree._send(process.pid, signal.SIGTERM, [os.getpid()]) is False
