"""What every bridge needs: to outlive a restart of the daemon, and to say so."""

from collections.abc import Awaitable, Callable
from contextlib import suppress
from typing import TypeVar

import anyio

from kai.client import Client
from kai.model.errors import KaiError, UnreachableError

RETRY_S = 0.5  # between two looks for a daemon that is gone

T = TypeVar("T")
Revive = Callable[[], Awaitable[None]]


class Patience:
    """Waits for the daemon while it cannot be reached. `tell` says so, once for all who wait.

    `revive` may start one: it is called once, after `revive_after_s` seconds, so that a service that restarts finds its
    state free. After `limit_s` seconds the `UnreachableError` is raised.
    """

    def __init__(
        self,
        client: Client,
        tell: Callable[[str], Awaitable[None]],
        *,
        revive: Revive | None = None,
        revive_after_s: float = 10.0,
        limit_s: float = float("inf"),
    ) -> None:
        self._client, self._tell = client, tell
        self._revive, self._revive_after_s, self._limit_s = revive, revive_after_s, limit_s
        self._waiting = anyio.Lock()

    async def sure(self, ask: Callable[[], Awaitable[T]]) -> T:
        """The answer to `ask`, which is asked again however often the daemon is lost meanwhile."""
        while True:
            try:
                return await ask()
            except UnreachableError as error:
                await self.wait(error)

    async def wait(self, error: UnreachableError) -> None:
        """Return when the daemon answers."""
        async with self._waiting:
            if await self._answers():
                return
            await self._tell("The connection to the daemon is lost; waiting for it to come back.")
            began, revive = anyio.current_time(), self._revive
            while not await self._answers():
                gone_s = anyio.current_time() - began
                if gone_s > self._limit_s:
                    raise error
                if revive is not None and gone_s > self._revive_after_s:
                    try:
                        await revive()
                    except KaiError as failed:
                        await self._tell(spoken(failed))
                    revive = None
                await anyio.sleep(RETRY_S)
            await self._tell("Connected again.")

    async def _answers(self) -> bool:
        with suppress(UnreachableError):
            await self._client.status()
            return True
        return False


def spoken(error: KaiError) -> str:
    """An error as a person reads it."""
    return f"{error.sentence} {error.hint}".strip()
