"""Starts the agent as a child of this process, and says in words who lacks what when that fails."""

import ctypes
import os
import signal
from typing import NoReturn

from kai.launcher.messages import Spawn

_PR_SET_PDEATHSIG = 1
_PR_SET_CHILD_SUBREAPER = 36
_UMASK = 0o077
_libc = ctypes.CDLL(None, use_errno=True)


class RefusedError(Exception):
    """The agent was not started. `kind` and `reason` as in `messages.Refused`."""

    def __init__(self, kind: str, reason: str) -> None:
        super().__init__(reason)
        self.kind = kind
        self.reason = reason


def adopt_orphans() -> None:
    """Make this process the parent of every descendant whose own parent ends, whatever session it is in."""
    _prctl(_PR_SET_CHILD_SUBREAPER, 1)


def start(spec: Spawn) -> int:
    """The pid of the started program, head of its own session, with this process's descriptors 0 to 2 and no other.

    It dies with this process. Raises `RefusedError`; then nothing is left.
    """
    problem = _bad_spec(spec)
    if problem:
        raise RefusedError("bad", problem)
    read_end, write_end = os.pipe()  # closed by a successful exec
    attendant = os.getpid()
    try:
        pid = os.fork()
    except OSError as error:
        os.close(read_end)
        os.close(write_end)
        raise _refused(spec, "fork", error.errno or 0) from error
    if pid == 0:
        _become(spec, attendant, write_end)
    os.close(write_end)
    report = os.read(read_end, 64)
    os.close(read_end)
    if not report:
        return pid
    os.waitpid(pid, 0)
    stage, number = report.decode().split()
    raise _refused(spec, stage, int(number))


def _refused(spec: Spawn, stage: str, number: int) -> RefusedError:
    from kai.launcher.refusal import explain  # noqa: PLC0415 - a run that starts well does not pay for it

    return RefusedError(*explain(spec, stage, number))


def _bad_spec(spec: Spawn) -> str:
    if not spec.argv or not spec.argv[0].startswith("/"):
        return "the program is not given by its absolute path"
    if not spec.cwd.startswith("/"):
        return f"the folder {spec.cwd!r} is not given by its absolute path"
    if any("\0" in text for text in (*spec.argv, *spec.env, *spec.env.values(), spec.cwd)):
        return "an argument or a variable holds a NUL"
    if any("=" in name or not name for name in spec.env):
        return "a variable has no usable name"
    return ""


def _become(spec: Spawn, attendant: int, report: int) -> NoReturn:
    """In the child: turn into the agent, or report the failing stage and leave."""
    stage = "start"
    try:
        os.setsid()
        stage = "limits"
        if spec.limits:
            import resource  # noqa: PLC0415 - most runs have no limits, and start faster without it

            for name, value in spec.limits.items():
                resource.setrlimit(getattr(resource, f"RLIMIT_{name}"), (value, value))
        os.umask(_UMASK)
        stage = "start"
        _prctl(_PR_SET_PDEATHSIG, signal.SIGKILL)
        if os.getppid() != attendant:  # it ended before the line above could take effect
            os._exit(127)
        for number in signal.valid_signals():
            if number not in (signal.SIGKILL, signal.SIGSTOP):
                signal.signal(number, signal.SIG_DFL)
        signal.pthread_sigmask(signal.SIG_SETMASK, ())
        stage = "cwd"
        os.chdir(spec.cwd)
        stage = "exec"
        os.execve(spec.argv[0], spec.argv, spec.env)  # noqa: S606 - no shell is wanted
    except OSError as error:
        os.write(report, f"{stage} {error.errno or 0}".encode())
    except BaseException:  # noqa: BLE001 - nothing may run on in the child as if it were the parent
        os.write(report, f"{stage} 0".encode())
    os._exit(127)


def _prctl(option: int, value: int) -> None:
    if _libc.prctl(option, value, 0, 0, 0):
        number = ctypes.get_errno()
        raise OSError(number, os.strerror(number))
