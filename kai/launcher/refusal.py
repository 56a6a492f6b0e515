"""Says who lacks what when an agent could not be started, by looking again at what was tried. As the agent's user."""

import errno
import os
import pwd
import resource
from pathlib import Path

from kai.launcher.messages import Spawn


def explain(spec: Spawn, stage: str, number: int) -> tuple[str, str]:
    """(kind, reason) as in `messages.Refused`. `stage`: "fork", "start", "limits", "cwd", "exec"; `number`: errno."""
    code = errno.errorcode.get(number, f"error {number}")
    match stage, code:
        case "fork", "ENOMEM":
            kind, reason = "fork", "the machine has no memory left for another process"
        case ("fork", _) | ("exec", "EAGAIN"):
            kind, reason = "fork", f"{_who()} may not have more processes (limit {_process_limit()})"
        case "cwd", _:
            kind, reason = "denied", _folder_problem(spec.cwd) or f"the folder {spec.cwd} cannot be entered ({code})"
        case "limits", _:
            kind, reason = "bad", f"{_who()} cannot have the limits {spec.limits} ({code})"
        case "exec", _:
            kind, reason = _program_problem(spec, code)
        case _:
            kind, reason = "bad", f"its session cannot be set up ({code})"
    return kind, reason


def _program_problem(spec: Spawn, code: str) -> tuple[str, str]:
    program = Path(spec.argv[0])
    match code:
        case "E2BIG":
            size = sum(len(os.fsencode(text)) + 1 for text in (*spec.argv, *spec.env, *spec.env.values()))
            return "bad", f"its arguments and environment are too long ({size:,} bytes)"
        case "ENOEXEC":
            return "bad", "it is neither a program for this machine nor a script that begins with #!"
        case "ETXTBSY":
            return "denied", "somebody is writing the file at this moment"
    if problem := _way_problem(program):
        return ("missing" if code == "ENOENT" else "denied"), problem
    if program.is_dir():
        return "denied", "it is a folder"
    if not os.access(program, os.X_OK):
        return "denied", f"{_who()} may not execute it"
    needed = _interpreter_problem(program) if code in ("ENOENT", "EACCES") else None
    return needed or ("denied", f"the system refuses to start it ({code})")


def _interpreter_problem(program: Path) -> tuple[str, str] | None:
    """What is wrong with the interpreter that the first line of a script names, or with a binary's loader."""
    try:
        with program.open("rb") as file:
            line = file.readline(256)
    except OSError:
        return None
    if line.startswith(b"\x7fELF"):
        return "missing", "the loader it needs is not on this machine"
    words = line.removeprefix(b"#!").split()
    if not line.startswith(b"#!") or not words:
        return None
    named = Path(os.fsdecode(words[0]))
    problem = _way_problem(named) or ("" if os.access(named, os.X_OK) else f"{_who()} may not execute {named}")
    return ("missing", f"its first line names an interpreter that is of no use: {problem}") if problem else None


def _folder_problem(folder: str) -> str:
    path = Path(folder)
    if problem := _way_problem(path):
        return problem
    if not path.is_dir():
        return f"{path} is not a folder"
    return "" if os.access(path, os.X_OK) else f"{_who()} may not enter the folder {path}"


def _way_problem(path: Path) -> str:
    """Who lacks what on the way to `path`, itself included; empty when it is there."""
    for step in (*reversed(path.parents), path):
        if step != path and step.is_file():
            return f"{step} is not a folder"
        if step != path and step.is_dir() and not os.access(step, os.X_OK):
            return f"{_who()} may not enter the folder {step}"
        if step.is_symlink() and not step.exists():
            return f"{step} is a link to {step.readlink()}, which does not exist"
        if not step.exists():
            return f"{step} does not exist"
    return ""


def _who() -> str:
    try:
        return pwd.getpwuid(os.geteuid()).pw_name
    except KeyError:
        return f"user {os.geteuid()}"


def _process_limit() -> str:
    limit = resource.getrlimit(resource.RLIMIT_NPROC)[0]
    return str(limit) if limit >= 0 else "of the machine"
