"""Which OS users can be a person's, and why another cannot: an agent must gain nothing by the user that it runs as."""

import grp
import os
import pwd
import subprocess

from kai.launcher.trust import ruler

MIN_UID = 1000  # below are the system's own
NOBODY = 65534
_SUDO_S = 10.0


def unfit(name: str, *, daemon_uid: int | None = None) -> str:
    """Why the OS user `name` cannot be a person's; empty when it can. Blocks.

    `daemon_uid` is the daemon's (this process's own unless given): its group is closed to persons, too.
    """
    daemon = os.geteuid() if daemon_uid is None else daemon_uid
    try:
        entry = pwd.getpwnam(name)
        if problem := ruler(name):
            return problem
    except (KeyError, ValueError):
        return f"this machine has no user {name!r}"
    if entry.pw_uid == daemon:
        return f"{name} is the daemon's own user, who may read everything of kai's"
    if entry.pw_uid < MIN_UID or entry.pw_uid == NOBODY:
        return f"{name} is a user of the system's (uid {entry.pw_uid})"
    own = pwd.getpwuid(daemon).pw_gid
    if own in os.getgrouplist(name, entry.pw_gid):
        return f"{name} is in the daemon's own group {grp.getgrgid(own).gr_name}"
    return ""


def may_sudo(name: str) -> bool:
    """Whether the rules of sudo give `name` anything. Asks sudo itself, which tells root only. Blocks."""
    told = ""
    try:
        asked = ["sudo", "-n", "-l", "-U", name]
        env = {"LC_ALL": "C", "PATH": "/usr/sbin:/usr/bin:/sbin:/bin"}
        told = subprocess.run(asked, env=env, capture_output=True, text=True, timeout=_SUDO_S, check=False).stdout
    except (OSError, subprocess.TimeoutExpired):  # there is no sudo here
        pass
    return "may run the following" in told
