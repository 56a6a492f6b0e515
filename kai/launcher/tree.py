"""The processes below one process, as /proc shows them: who they are, what they use, and how to strike every one."""

import os
import signal
import time
from typing import NamedTuple

_TICK_S = 1 / os.sysconf("SC_CLK_TCK")
_PAGE_BYTES = os.sysconf("SC_PAGE_SIZE")


class Process(NamedTuple):
    """One process. `cpu_s` includes its ended children; a zombie uses no memory but still tells its CPU time."""

    pid: int
    parent: int
    group: int
    state: str
    cpu_s: float
    rss_bytes: int
    name: str = ""  # as the kernel has it, cut after 15 bytes
    age_s: float = 0.0

    @property
    def is_dead(self) -> bool:
        return self.state in "ZX"


def process(pid: int) -> Process | None:
    """The process with this pid, None when there is none (any more)."""
    try:
        with open(f"/proc/{pid}/stat", "rb") as file:  # noqa: PTH123 - pathlib would cost every run a millisecond
            line = file.read()
    except OSError:
        return None
    # The name stands in parentheses and may hold anything, parentheses and line breaks included.
    fields = line[line.rindex(b")") + 2 :].split()
    ticks = sum(int(value) for value in fields[11:15])
    parent, group, rss_bytes = int(fields[1]), int(fields[2]), int(fields[21]) * _PAGE_BYTES
    name = line[line.index(b"(") + 1 : line.rindex(b")")].decode(errors="replace")
    age_s = time.clock_gettime(time.CLOCK_BOOTTIME) - int(fields[19]) * _TICK_S
    return Process(pid, parent, group, fields[0].decode(), ticks * _TICK_S, rss_bytes, name, age_s)


def children(pid: int) -> list[int]:
    """Pids of the children of all threads of `pid`. Complete only while `pid` cannot fork."""
    found: list[int] = []
    try:
        for task in os.listdir(f"/proc/{pid}/task"):  # noqa: PTH208
            with open(f"/proc/{pid}/task/{task}/children", "rb") as file:  # noqa: PTH123
                found += map(int, file.read().split())
    except OSError:  # it ended meanwhile: its children are now the children of whoever keeps the tree
        pass
    return found


def below(root: int) -> list[Process]:
    """Every descendant of `root`, parents before their children, zombies included."""
    found, known = [], {root}
    todo = [root]
    while todo:
        for pid in children(todo.pop(0)):
            if (one := process(pid)) and one.parent in known and pid not in known:
                known.add(pid)
                found.append(one)
                todo.append(pid)
    return found


def strike(number: int) -> tuple[list[int], list[int]]:
    """Send signal `number` to every living descendant of this process: the pids that got it, and those out of reach.

    Each is stopped before its children are looked up. A stopped process can neither fork nor wait: the list of its
    children is complete, their pids cannot pass to strangers, and no parent is left to start a killed child again.
    What is being forked at that moment, or has just lost its parent, can be missed: the caller strikes again until it
    has no child left, as every orphan becomes its own.
    """
    own = os.getpid()
    known, todo, struck, refused = [own], [own], [], []
    while todo:
        parent = todo.pop(0)
        for pid in children(parent):
            _send(pid, signal.SIGSTOP, known, certain=parent == own)
            known.append(pid)
            todo.append(pid)
    for pid in reversed(known[1:]):  # children first: each still has the parent that was found
        sent = _send(pid, number, known)
        if sent is None:
            refused.append(pid)
        elif sent:
            struck.append(pid)
    return struck, refused


def _send(pid: int, number: int, known: list[int], *, certain: bool = False) -> bool | None:
    """Signal `pid` if it lives and its parent is one of `known`; None when that is not permitted.

    `certain`: it is a child of this process, which has not waited for it, so that its pid is surely still its own. That
    saves the looking up, in which a process that does nothing but fork and exit would get away.
    """
    try:
        if certain:
            os.kill(pid, number)
            return True
        handle = os.pidfd_open(pid)
        try:
            found = process(pid)
            if found is None or found.is_dead or found.parent not in known:
                return False
            signal.pidfd_send_signal(handle, number)
        finally:
            os.close(handle)
    except PermissionError:
        return None
    except ProcessLookupError:
        return False
    return True
