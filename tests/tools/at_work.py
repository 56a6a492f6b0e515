"""An agent at work in a whole kai, whose tools a test calls as it would."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from typing import Any

from kai.model.messages import Accepted
from kai.tools.door import AgentDoor
from kai.turns.runs import LiveRun
from tests.e2e.house import Kai


@dataclass
class AtWork:
    """The run of a turn that goes on until `stop`; its session lives beyond that."""

    kai: Kai
    door: AgentDoor
    live: LiveRun
    accepted: Accepted

    async def call(self, name: str, **arguments: Any) -> dict[str, Any]:
        return await self.door.call(self.live, name, arguments)

    async def stop(self) -> dict[str, Any]:
        """The turn, at its end."""
        assert self.accepted.turn is not None
        await self.kai.client.stop(self.accepted.turn)
        return await self.kai.end(self.accepted)


@asynccontextmanager
async def at_work(kai: Kai, words: str = "please", **more: Any) -> AsyncIterator[AtWork]:
    """A turn for these words that says something and then goes on for as long as the body runs."""
    before = set(kai.daemon.parts.live_runs._live)
    accepted = await kai.say(f"{words} FAKE:say=well FAKE:silent", **more)
    await kai.until(accepted, "text")
    every = kai.daemon.parts.live_runs._live
    new = [live for run, live in every.items() if run not in before] or list(every.values())
    run = AtWork(kai, AgentDoor(kai.daemon.parts), new[-1], accepted)
    try:
        yield run
    finally:
        if (await kai.client.turn(accepted.turn or ""))["ended_at"] is None:
            await run.stop()
