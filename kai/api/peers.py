"""The process that connected, and whether it belongs to a run: all that is asked before a face lets anybody in."""

import math
import os
from collections.abc import Callable
from dataclasses import dataclass

from anyio import to_thread

from kai.model.errors import DeniedError
from kai.model.ids import RunId
from kai.processes.belonging import began_after


@dataclass(slots=True)
class Peer:
    """The process that connected, as it was at that moment (`at_s`, since boot). `run` is found out once."""

    uid: int
    gid: int
    pid: int
    at_s: float = math.inf
    run: RunId | None = None
    is_known: bool = False


async def run_of_peer(peer: Peer, run_of: Callable[[int], RunId | None]) -> RunId | None:
    """The run that the peer belongs to, or None for a person's own process.

    Raises `DeniedError` when the process that connected is gone: what it belonged to cannot be told any more, and an
    agent could hand its connection on.
    """
    if not peer.is_known:
        peer.run = await to_thread.run_sync(_look, peer, run_of)
        peer.is_known = True
    return peer.run


def _look(peer: Peer, run_of: Callable[[int], RunId | None]) -> RunId | None:
    if peer.pid == 0:  # from outside our own pid namespace, where no run of ours can be
        return None
    run = run_of(peer.pid)
    # A pid that passed to another process meanwhile tells of that one, be it in a run or in none.
    if _is_gone(peer.pid) or began_after(peer.pid, peer.at_s):
        raise DeniedError("the process that connected is gone", "Connect from the process that asks.")
    return run


def _is_gone(pid: int) -> bool:
    try:
        os.kill(pid, 0)  # not a look at /proc, which may hide other users' processes
    except ProcessLookupError:
        return True
    except PermissionError:
        return False
    return False
