"""Who calls: the peer's uid, as the kernel tells it, becomes a `Caller`. Nothing else names anybody."""

import os
import pwd
import time
from collections.abc import Callable, Collection
from typing import Protocol

from anyio import to_thread

from kai.api.peers import Peer
from kai.model.errors import DeniedError, UnknownThingError
from kai.model.people import Person
from kai.turns.door import Caller

_KEPT_S = 5.0  # how long a resolved caller is believed: a uid may get another owner


class Directory(Protocol):
    """The people kai knows."""

    async def by_os_user(self, os_user: str) -> Person | None: ...
    async def by_name(self, name: str) -> Person | None: ...


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
