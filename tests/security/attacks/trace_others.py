"""As A's agent: trace the daemon, the spawner, its own keeper, B's agent, and read their memory."""

import ctypes
import os
import sys
from pathlib import Path

sys.path.insert(0, sys.argv[0].rpartition("/tests/")[0])
from tests.security.attacks.attempt import PLACES, attempt

libc = ctypes.CDLL(None, use_errno=True)
PTRACE_ATTACH, PTRACE_SEIZE = 16, 0x4206
PIDFD_GETFD = 438


def checked(result: int) -> int:
    if result < 0:
        raise OSError(ctypes.get_errno(), os.strerror(ctypes.get_errno()))
    return result


def trace(how: int, pid: int) -> int:
    return checked(libc.ptrace(how, pid, 0, 0))


def taken_from(pid: int) -> int:
    return checked(libc.syscall(PIDFD_GETFD, os.pidfd_open(pid), 0, 0))


targets = {**PLACES["pids"], "B's agent": PLACES["pid_of_b"]}
for name, pid in targets.items():
    attempt(f"attach to {name}", trace, PTRACE_ATTACH, pid)
    attempt(f"seize {name}", trace, PTRACE_SEIZE, pid)
    attempt(f"open the memory of {name}", Path(f"/proc/{pid}/mem").open, "r+b")
    attempt(f"copy a descriptor of {name}", taken_from, pid)
