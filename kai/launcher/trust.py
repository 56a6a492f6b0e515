"""Who could exchange what a path leads to, looked at step by step as the kernel would; and who is as good as root."""

import grp
import os
import pwd
import stat
from collections.abc import Iterator

_LINKS = 40
_RULERS = ("root", "sudo", "wheel", "admin", "docker", "lxd", "incus", "libvirt", "disk", "shadow")


def walk(path: str) -> Iterator[tuple[str, os.stat_result]]:
    """Every folder on the way to an absolute `path` and what is there at last, links resolved, from the root down.

    Raises `OSError` where it cannot go on: `FileNotFoundError` names the step that does not exist.
    """
    done, left, links = "", [part for part in path.split("/") if part], 0
    yield "/", os.lstat("/")
    while left:
        part = left.pop(0)
        if part == "..":
            done = done.rpartition("/")[0]
        elif part != ".":
            step = f"{done}/{part}"
            found = os.lstat(step)
            if stat.S_ISLNK(found.st_mode):
                target = os.readlink(step)  # noqa: PTH115
                left[:0] = [one for one in target.split("/") if one]
                done, links = "" if target.startswith("/") else done, links + 1
                if links > _LINKS:
                    raise OSError(40, "one link too many", step)
                continue
            yield step, found
            done = step


def weak_spot(path: str) -> str:
    """Who beside root could exchange what is at `path`; empty when nobody.

    Raises `FileNotFoundError` or `NotADirectoryError` when there is nothing; what may not be looked at is a weak spot.
    """
    if not path.startswith("/") or "\0" in path:
        return f"{path!r} is no absolute path"
    try:
        for step, found in walk(path):
            if problem := _problem(step, found):
                return problem
    except (FileNotFoundError, NotADirectoryError):
        raise
    except OSError as error:
        return f"{error.filename} cannot be looked at ({error.strerror})"
    return ""


def _problem(step: str, found: os.stat_result) -> str:
    if found.st_uid != 0:
        return f"{step} belongs to user {found.st_uid}"
    if found.st_mode & stat.S_IWOTH:
        return f"everybody may write to {step}"
    if found.st_mode & stat.S_IWGRP and found.st_gid != 0:
        return f"group {found.st_gid} may write to {step}"
    return ""


def writable_step(path: str, uid: int, groups: list[int]) -> str:
    """The first step to `path` that this user may write to, and so put something else there; empty when none.

    In a folder whose entries belong to who made them (the sticky bit), only its own entries are a user's. Raises
    `OSError`.
    """
    for step, found in walk(path):
        mode, sticky = found.st_mode, stat.S_ISDIR(found.st_mode) and found.st_mode & stat.S_ISVTX
        by_group = mode & stat.S_IWGRP and found.st_gid in groups
        if found.st_uid == uid or (not sticky and (mode & stat.S_IWOTH or by_group)):
            return step
    return ""


def ruler(user: str) -> str:
    """Why this user is as good as root; empty when it is not, as far as its uid and its groups tell."""
    entry = pwd.getpwnam(user)
    if entry.pw_uid == 0:
        return f"{user} is root"
    for gid in os.getgrouplist(user, entry.pw_gid):
        try:
            name = grp.getgrgid(gid).gr_name
        except KeyError:
            continue
        if name in _RULERS:
            return f"{user} is in the group {name}, and may become root by that"
    return ""
