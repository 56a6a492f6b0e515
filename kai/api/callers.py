"""Who calls: the peer's uid, as the kernel tells it, becomes a `Caller`. Nothing else names anybody."""

import math
import os
import pwd
import time
from collections.abc import Callable, Collection
from dataclasses import dataclass
from typing import Protocol

from anyio import to_thread

from kai.model.errors import DeniedError, UnknownThingError
from kai.model.ids import RunId
from kai.model.people import Person
from kai.processes.belonging import began_after
from kai.turns.door import Caller

_KEPT_S = 5.0  # how long a resolved caller is believed: a uid may get another owner


class Directory(Protocol):
    """The people kai knows."""

    async def by_os_user(self, os_user: str) -> Person | None: ...
    async def by_name(self, name: str) -> Person | None: ...


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


def _os_user(uid: int) -> str:
    try:
        return pwd.getpwuid(uid).pw_name
    except KeyError:
        return ""


class Callers:
    """Resolves peers. Who is an operator is looked up each time; whose a uid is, is kept for seconds or until `forget`.

    Operators are `trusted_uids` (unless given: root and the daemon's own) and the OS users that `operators` names.
    `changes` counts what was changed about people: what was kept before the last change is not believed.
    """

    def __init__(
        self,
        directory: Directory,
        operators: Callable[[], Collection[str]],
        *,
        trusted_uids: Collection[int] | None = None,
        os_user: Callable[[int], str] = _os_user,
        changes: Callable[[], int] = lambda: 0,
    ) -> None:
        self._directory = directory
        self._operators = operators
        self._trusted_uids = (0, os.geteuid()) if trusted_uids is None else trusted_uids
        self._os_user = os_user
        self._kept: dict[tuple[int, str], tuple[str, Person | None]] = {}
        self._kept_until = 0.0
        self._changes, self._seen = changes, 0

    def forget(self) -> None:
        """People or links have changed: the next request of everybody is resolved anew."""
        self._kept = {}  # a new one: what is being looked up at this moment goes into the old, and is not believed

    async def resolve(self, peer: Peer, as_name: str) -> Caller:
        """The caller that `peer` is, or for an operator the person `as_name`.

        Raises `DeniedError` for a uid that is nobody here, or that asks to be somebody else.
        """
        now = time.monotonic()
        if now > self._kept_until or self._seen != self._changes():
            self._kept, self._kept_until, self._seen = {}, now + _KEPT_S, self._changes()
        kept, key = self._kept, (peer.uid, as_name)
        if key not in kept:
            os_user = await to_thread.run_sync(self._os_user, peer.uid)
            kept[key] = os_user, await self._person(os_user, as_name)
        os_user, person = kept[key]
        is_operator = peer.uid in self._trusted_uids or (bool(os_user) and os_user in self._operators())
        if as_name and not is_operator:
            raise DeniedError("only an operator speaks for somebody else", "Leave the header 'kai-as' (--as) out.")
        if person is None and (as_name or not is_operator):
            kept.pop(key, None)  # whoever is added meanwhile need not wait
            if as_name:
                raise UnknownThingError("person", as_name)
            who = repr(os_user) if os_user else f"with uid {peer.uid}"
            raise DeniedError(
                f"the OS user {who} is no person of this kai", "An operator adds people with 'kai person add'."
            )
        return Caller(None if person is None else person.principal, "terminal", is_operator, os_user)

    async def _person(self, os_user: str, as_name: str) -> Person | None:
        if as_name:
            return await self._directory.by_name(as_name)
        return await self._directory.by_os_user(os_user) if os_user else None
