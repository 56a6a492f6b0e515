"""What the spawner may start, as whom and with which variables: a file that only root can write.

The file, its parents, every program and its parents belong to root and can be written by nobody else; so nothing that
is looked at here can be another thing a moment later.
"""

import fnmatch
import json
import os
import pwd
import re
from typing import Any, NamedTuple

from kai.launcher import child
from kai.launcher.identity import Identity
from kai.launcher.messages import RefusedError, Spawn
from kai.launcher.trust import ruler, weak_spot

MAX_BYTES = 1024 * 1024
MAX_HOLD_S = 3600.0
_RUN = re.compile(r"[A-Za-z0-9][A-Za-z0-9_-]{0,99}")
_NOBODY = 65534
_ENV = ("HOME", "USER", "LOGNAME", "SHELL", "PATH", "LANG", "LANGUAGE", "LC_*", "TERM", "TZ", "TMPDIR", "KAI_RUN",
    "KAI_SOCKET", "KAI_RUN_FILE", "KAI_LOOKS")  # fmt: skip
# What makes a loader, a shell or an interpreter run something else than was named. No policy allows these.
_NEVER = ("LD_*", "PYTHON*", "PERL*", "RUBY*", "NODE_OPTIONS", "NODE_PATH", "BASH_*", "ENV", "IFS", "PS4",
    "SHELLOPTS", "BASHOPTS", "PROMPT_COMMAND", "GCONV_PATH", "GLIBC_*", "MALLOC_*", "LOCPATH", "NLSPATH",
    "JAVA_TOOL_OPTIONS")  # fmt: skip


class PolicyError(Exception):
    """The policy cannot be used; one sentence says why."""


class Policy(NamedTuple):
    """`users` by name, never below `min_uid`; `programs` by absolute path; `env`: names or ``NAME_*``.

    `limits` of each run: ``memory_bytes``, ``pids``.
    """

    daemon_user: str
    users: list[str]
    programs: list[str]
    min_uid: int = 1000
    env: list[str] = []  # noqa: RUF012 - named tuples know no factory; nobody writes into it
    limits: dict[str, int] = {}  # noqa: RUF012


def load(path: str) -> Policy:
    """Raises `PolicyError`."""
    try:
        if spot := weak_spot(path):
            raise PolicyError(f"{path} cannot be trusted: {spot}")
        file = os.open(path, os.O_RDONLY | os.O_CLOEXEC | os.O_NONBLOCK)
        try:
            data = os.read(file, MAX_BYTES)
        finally:
            os.close(file)
        fields: Any = json.loads(data)
        policy = Policy(**fields)
    except (OSError, ValueError, TypeError, RecursionError) as error:
        raise PolicyError(f"{path} cannot be used: {error}") from error
    texts = (*policy.users, *policy.programs, *policy.env) if _are_lists(policy) else (None,)
    if not all(isinstance(text, str) for text in (policy.daemon_user, *texts)):
        raise PolicyError(f"{path} cannot be used: names are texts, and users, programs and env lists of them")
    if not isinstance(policy.min_uid, int) or policy.min_uid < 1:
        raise PolicyError(f"{path} cannot be used: min_uid has to be a number above 0")
    if not isinstance(policy.limits, dict) or not all(type(value) is int for value in policy.limits.values()):
        raise PolicyError(f"{path} cannot be used: limits are numbers")
    return policy


def _are_lists(policy: Policy) -> bool:
    return all(isinstance(each, list) for each in (policy.users, policy.programs, policy.env))


def admit(policy: Policy, spec: Spawn, problem: str = "") -> Identity:
    """Whom `spec` is run as. Raises `RefusedError` with what it asks for in vain, or `problem` of a newer policy."""
    if problem:
        raise RefusedError("denied", problem)
    if bad := child.bad_spec(spec):
        raise RefusedError("bad", bad)
    if not _RUN.fullmatch(spec.run):
        raise RefusedError("bad", f"{spec.run[:100]!r} is no id of a run")
    if not 0 <= spec.hold_s <= MAX_HOLD_S:
        raise RefusedError("bad", f"a run is held for 0 to {MAX_HOLD_S:g} s")
    who = _identity(policy, spec.user)
    _admit_env(policy, spec, who)
    program = spec.argv[0]
    if program not in policy.programs and os.path.realpath(program) not in map(os.path.realpath, policy.programs):
        raise RefusedError("denied", f"{program} is no program that the spawner's policy allows")
    try:
        spot = weak_spot(program)
    except (
        FileNotFoundError,
        NotADirectoryError,
    ):  # so far only root could have put it there; the person is told what is missing for them
        return who
    if spot:
        raise RefusedError("denied", f"it could be exchanged: {spot}")
    return who


def _identity(policy: Policy, user: str) -> Identity:
    try:
        entry = pwd.getpwnam(user)
    except (KeyError, ValueError):
        raise RefusedError("denied", f"this machine has no user {user!r}") from None
    if user not in policy.users:
        raise RefusedError("denied", f"{user} is not one of the users that the spawner's policy allows")
    if problem := ruler(user):
        raise RefusedError("denied", problem)
    if entry.pw_uid < policy.min_uid or entry.pw_uid == _NOBODY or user == policy.daemon_user:
        raise RefusedError("denied", f"no agent runs as {user} (uid {entry.pw_uid}), whatever the policy says")
    groups = os.getgrouplist(user, entry.pw_gid)
    return Identity(user, entry.pw_uid, entry.pw_gid, tuple(groups), entry.pw_dir)


def _admit_env(policy: Policy, spec: Spawn, who: Identity) -> None:
    fixed = {"HOME": who.home, "USER": who.user, "LOGNAME": who.user, "KAI_RUN": spec.run}
    for name, value in spec.env.items():
        allowed = any(fnmatch.fnmatchcase(name, pattern) for pattern in (*_ENV, *policy.env))
        if not allowed or any(fnmatch.fnmatchcase(name, pattern) for pattern in _NEVER):
            raise RefusedError("denied", f"the variable {name[:100]} is not one that the spawner's policy allows")
        if value != fixed.get(name, value):
            raise RefusedError("denied", f"{name} has to be {fixed[name]}")
    if any(not entry.startswith("/") for entry in spec.env.get("PATH", "/").split(":")):
        raise RefusedError("denied", "PATH has to be a list of absolute paths")
