"""Starts the agent as a child of this process, and says in words who lacks what when that fails."""

import json
import os
import signal
from typing import NoReturn

from kai.launcher.groups import Group
from kai.launcher.identity import Identity, drop_to, forbid_privileges, offer_for_oom, prctl
from kai.launcher.messages import RefusedError, Spawn

_PR_SET_PDEATHSIG = 1
_PR_SET_CHILD_SUBREAPER = 36
_UMASK = 0o077
_REPORT_BYTES = 64 * 1024


def adopt_orphans() -> None:
    """Make this process the parent of every descendant whose own parent ends, whatever session it is in."""
    prctl(_PR_SET_CHILD_SUBREAPER, 1)


def die_with_parent(number: int) -> None:
    """Get signal `number` when the parent ends. A change of user undoes this."""
    prctl(_PR_SET_PDEATHSIG, number)


def start(spec: Spawn, who: Identity | None = None, group: Group | None = None) -> int:
    """The pid of the started program, head of its own session, with this process's descriptors 0 to 2 and no other.

    `who`: as which other user, in which control `group`. It dies with this process. Raises `RefusedError`; then nothing
    is left.
    """
    problem = bad_spec(spec)
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
        _become(spec, attendant, write_end, who, group)
    os.close(write_end)
    report = b""
    while part := os.read(read_end, _REPORT_BYTES):
        report += part
    os.close(read_end)
    if not report:
        return pid
    os.waitpid(pid, 0)
    raise RefusedError(*json.loads(report))


def _refused(spec: Spawn, stage: str, number: int) -> RefusedError:
    from kai.launcher.refusal import explain  # noqa: PLC0415 - a run that starts well does not pay for it

    return RefusedError(*explain(spec, stage, number))


def bad_spec(spec: Spawn) -> str:
    """Why no program can be started by it; empty when one can."""
    if not spec.argv or not spec.argv[0].startswith("/"):
        return "the program is not given by its absolute path"
    if not spec.cwd.startswith("/"):
        return f"the folder {spec.cwd!r} is not given by its absolute path"
    if any("\0" in text for text in (*spec.argv, *spec.env, *spec.env.values(), spec.cwd)):
        return "an argument or a variable holds a NUL"
    if any("=" in name or not name for name in spec.env):
        return "a variable has no usable name"
    return ""


def _become(spec: Spawn, attendant: int, report: int, who: Identity | None, group: Group | None) -> NoReturn:
    """In the child: turn into the agent, or report who lacks what and leave.

    The order matters: while it is root it joins the group and takes its limits; the signal that ends it with its parent
    is asked for after the user has changed, which would have undone it; folder and program are reached as the person.
    """
    stage = "start"
    try:
        if group is not None:
            group.join()
        if who is not None:
            offer_for_oom()
        os.setsid()
        stage = "limits"
        _limit(spec.limits)
        stage = "start"
        if who is not None:
            drop_to(who)
        os.umask(_UMASK)
        die_with_parent(signal.SIGKILL)
        if os.getppid() != attendant:  # it ended before the line above could take effect
            os._exit(127)
        if who is not None:
            forbid_privileges()
        _default_signals()
        stage = "cwd"
        os.chdir(spec.cwd)
        stage = "exec"
        os.execve(spec.argv[0], spec.argv, spec.env)  # noqa: S606 - no shell is wanted
    except OSError as error:
        _report(report, spec, stage, error.errno or 0)
    except BaseException:  # noqa: BLE001 - nothing may run on in the child as if it were the parent
        _report(report, spec, stage, 0)
    os._exit(127)


def _limit(limits: dict[str, int]) -> None:
    if limits:
        import resource  # noqa: PLC0415 - most runs have no limits, and start faster without it

        for name, value in limits.items():
            resource.setrlimit(getattr(resource, f"RLIMIT_{name}"), (value, value))


def _default_signals() -> None:
    for number in signal.valid_signals() - {signal.SIGKILL, signal.SIGSTOP}:
        signal.signal(number, signal.SIG_DFL)
    signal.pthread_sigmask(signal.SIG_SETMASK, ())


def _report(report: int, spec: Spawn, stage: str, number: int) -> None:
    """What failed is looked at again as the user for whom it did: nobody else can tell, and root must not look."""
    try:
        refused = _refused(spec, stage, number)
        told = json.dumps([refused.kind, refused.reason]).encode()
    except BaseException:  # noqa: BLE001 - as above
        told = json.dumps(["bad", f"it cannot be started ({stage}, error {number})"]).encode()
    os.write(report, told[:_REPORT_BYTES])
