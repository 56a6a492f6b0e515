"""Whom no agent may run as, and which program no agent may be: refused at every start as another user."""

import os
import pwd

from kai.launcher.trust import ruler, writable_step


def objection(user: str, program: str) -> str:
    """Why `program` is not started as `user`, one sentence's part; empty when nothing speaks against it. Blocks."""
    return user_objection(user) or program_objection(user, program)


def user_objection(user: str) -> str:
    """Why no agent runs as `user`; empty when nothing speaks against it. Blocks."""
    try:
        return ruler(user)
    except KeyError:
        return f"this machine has no user {user!r}"


def program_objection(user: str, program: str) -> str:
    """Whether `user` could exchange `program` for another one; what is not there, others complain of. Blocks."""
    try:
        entry = pwd.getpwnam(user)
        step = writable_step(program, entry.pw_uid, os.getgrouplist(user, entry.pw_gid))
    except (KeyError, OSError, ValueError):
        return ""
    return f"{user} may write to {step}, and so exchange the program" if step else ""
