"""Finds what is left of a run whose keeper was killed: every process of it bears the run's id in its environment.

The last resort, not the rule: a process that cleared its environment bears no mark.
"""

import os
import signal
import time
from pathlib import Path

from kai.launcher.tree import process
from kai.model.ids import RunId
from kai.processes.launcher import TreeAliveError

MARK = "KAI_RUN"
_GIVE_UP_S = 5.0


def marked(run: RunId) -> list[int]:
    """Pids of the living processes that bear the mark of `run` and may be looked at. Blocks for milliseconds."""
    mark = f"{MARK}={run}".encode()
    found = []
    for entry in Path("/proc").iterdir():
        if entry.name.isdigit() and mark in _environment(entry):
            alive = process(int(entry.name))
            if alive and not alive.is_dead:
                found.append(alive.pid)
    return found


def run_above(pid: int) -> RunId | None:
    """Which run a process belongs to: it or an ancestor bears a mark. Blocks for less than a millisecond.

    Any mark counts, of a run that is just starting or ending too; but not the one that this process bears itself. A
    process that cleared its environment and was orphaned is not known: without control groups an agent can hide.
    """
    own = os.environ.get(MARK, "")
    while pid > 1:
        for variable in _environment(Path(f"/proc/{pid}")):
            name, _, value = variable.partition(b"=")
            if name == MARK.encode() and value.decode(errors="replace") not in ("", own):
                return RunId(value.decode(errors="replace"))
        alive = process(pid)
        pid = alive.parent if alive else 0
    return None


def kill_marked(run: RunId) -> int:
    """Kill them until none is left; gives how many. Blocks: call it in a thread. Raises `TreeAliveError`."""
    killed: set[int] = set()
    give_up_at = time.monotonic() + _GIVE_UP_S
    while left := marked(run):
        for number in (signal.SIGSTOP, signal.SIGKILL):  # all stopped first: none can start another one meanwhile
            for pid in left:
                if _send(pid, run, number):
                    killed.add(pid)
        if time.monotonic() > give_up_at:
            raise TreeAliveError(run, f"these processes do not end: {', '.join(map(str, left))}")
        time.sleep(0.005)
    return len(killed)


def _send(pid: int, run: RunId, number: int) -> bool:
    try:
        handle = os.pidfd_open(pid)
    except OSError:
        return False
    try:  # the mark is read again behind the handle: by now the pid could be a stranger's
        if f"{MARK}={run}".encode() in _environment(Path(f"/proc/{pid}")):
            signal.pidfd_send_signal(handle, number)
            return True
    except OSError:
        pass
    finally:
        os.close(handle)
    return False


def _environment(entry: Path) -> list[bytes]:
    try:
        return (entry / "environ").read_bytes().split(b"\0")
    except OSError:
        return []
