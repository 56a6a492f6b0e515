"""Becoming another OS user for good, and looking at /proc as that user does."""

import ctypes
import os
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from typing import NamedTuple

_PR_CAPBSET_DROP = 24
_PR_SET_NO_NEW_PRIVS = 38
_OOM_SCORE = "500"  # when the machine has no memory left, an agent goes before whatever answers for it
_libc = ctypes.CDLL(None, use_errno=True)


class Identity(NamedTuple):
    """An OS user as a run has it: its name, ids, every group of it, its home folder."""

    user: str
    uid: int
    gid: int
    groups: tuple[int, ...]
    home: str


def drop_to(who: Identity) -> None:
    """Become `who`, with no way back. Raises `OSError`.

    Capabilities leave the bounding set where that is permitted; where it is not, `forbid_privileges` does the same.
    """
    with suppress(OSError):
        for number in range(64):
            prctl(_PR_CAPBSET_DROP, number)
    os.setgroups(who.groups)
    os.setresgid(who.gid, who.gid, who.gid)
    os.setresuid(who.uid, who.uid, who.uid)
    if os.getresuid() != (who.uid,) * 3 or os.getresgid() != (who.gid,) * 3 or 0 in (who.uid, who.gid):
        raise PermissionError(1, "the user was not changed")


def forbid_privileges() -> None:
    """No program that is executed from here on gives anything: no set-user-id bit, no file capability."""
    prctl(_PR_SET_NO_NEW_PRIVS, 1)


def offer_for_oom() -> None:
    with suppress(OSError):
        file = os.open("/proc/self/oom_score_adj", os.O_WRONLY | os.O_CLOEXEC)
        try:
            os.write(file, _OOM_SCORE.encode())
        finally:
            os.close(file)


@contextmanager
def seeing_as(who: Identity | None) -> Iterator[None]:
    """Read /proc with that user's eyes: where processes are hidden from others, they are hidden from a root without
    CAP_SYS_PTRACE too. Nothing else changes, least of all who may signal us.
    """
    if who is None:
        yield
        return
    _libc.setfsgid(who.gid)
    _libc.setfsuid(who.uid)
    try:
        yield
    finally:
        _libc.setfsuid(0)
        _libc.setfsgid(0)


def prctl(option: int, value: int) -> None:
    """Raises `OSError`."""
    if _libc.prctl(option, value, 0, 0, 0):
        number = ctypes.get_errno()
        raise OSError(number, os.strerror(number))
