"""The door while no configuration holds: nothing is taken, and whoever may know is told why."""

import os
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field

import anyio
from starlette.types import Receive, Scope, Send

from kai.api.answers import JSON, as_json, refuse, respond
from kai.model.errors import ApiError

_OF_ALL = "The configuration is refused, and no message is taken until it is mended."


@dataclass
class ShutDoor:
    """An ASGI application that refuses everything but ``POST /v1/reload``, which looks again.

    `refused` gives every problem of the configuration. `touched` is set when `problems` has been looked for anew.
    """

    refused: Callable[[], Awaitable[tuple[str, ...]]]
    problems: tuple[str, ...] = ()
    touched: anyio.Event = field(default_factory=anyio.Event)

    async def look(self) -> None:
        """Look for problems again."""
        self.problems = await self.refused()
        self.touched.set()
        self.touched = anyio.Event()

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        may_know = scope["kai.peer"].uid in (0, os.geteuid())  # who the operators are stands in what cannot be read
        if may_know and scope["path"] == "/v1/reload":
            await self.look()
            found = {"loaded": not self.problems, "problems": self.problems}
            await respond(send, 200, as_json(found), JSON)
            return
        why = f" {self.problems[0]}" if may_know and self.problems else ""
        await refuse(send, ApiError(503, "Bad configuration", _OF_ALL + why, remedy="Run 'kai check-config' as root."))
