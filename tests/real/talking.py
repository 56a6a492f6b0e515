"""A person who talks to a whole kai, with a real agent at the other end, in as many conversations as wished."""

from collections.abc import AsyncIterator
from contextlib import aclosing, asynccontextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import anyio
from anyio import to_thread

from kai.client import Client
from kai.model.errors import UnreachableError
from kai.model.messages import Accepted, InboundMessage
from kai.model.turns import Delivery, Receipt, ReceiptOutcome
from tests.real.agents import RealAgent
from tests.real.driving import until
from tests.real.household import Household
from tests.stub_model import StubModel

LIMIT_S = 150.0


@dataclass
class Talk:
    """A client and all that it was ever owed."""

    agent: RealAgent
    household: Household
    client: Client
    owed: list[Delivery] = field(default_factory=list)
    sent: int = 0

    async def say(self, text: str, thread: str = "", attachments: tuple[str, ...] = ()) -> Accepted:
        """Hand in a message; every `thread` is a conversation of its own."""
        self.sent += 1
        message = InboundMessage("", "shell", thread, "", f"x-{self.sent}", text, attachments)  # type: ignore[arg-type]
        return await self.client.receive(message)

    async def ended(self, accepted: Accepted) -> dict[str, Any]:
        """The turn of a message, at its end."""
        assert accepted.turn is not None
        with anyio.fail_after(LIMIT_S):
            async with aclosing(self.client.events(accepted.turn)) as events:
                async for event in events:
                    if event["type"] == "end":
                        break
        return await self.client.turn(accepted.turn)

    async def ask(self, text: str, thread: str = "") -> dict[str, Any]:
        return await self.ended(await self.say(text, thread))

    async def told(self, accepted: Accepted) -> str:
        """The words that tell the person how it went with a message: its end, or until when it is held."""

        def of_it() -> list[str]:
            mine = [one for one in self.owed if one.turn == accepted.turn]
            return [one.text for one in mine if one.turn_state or "Your message is held until" in one.text]

        await until(lambda: bool(of_it()), LIMIT_S)
        return of_it()[0]

    async def listen(self) -> None:
        """Until the daemon ends."""
        with suppress(UnreachableError):
            async for item in self.client.deliveries(idempotent=True):
                if isinstance(item, Delivery):
                    await self.client.receipt(item.delivery, Receipt(ReceiptOutcome.SENT))
                    self.owed.append(item)


@asynccontextmanager
async def talk(
    agent: RealAgent, model: StubModel, yaml: str = "", url: str = "", *, is_subscribed: bool = False
) -> AsyncIterator[Talk]:
    """A daemon in a process of its own whose default backend is `agent`, and a person at its socket."""
    with TemporaryDirectory(prefix="kai-") as folder:  # pytest's own are too deep for a socket
        household = Household(Path(folder), model, url, is_subscribed)
        (household.root / "config/kai.yaml").write_text(f"backend: {agent.backend}\n{yaml}")
        daemon = household.daemon()
        await to_thread.run_sync(daemon.__enter__)
        async with Client(household.root / "runtime/people.sock") as client, anyio.create_task_group() as tasks:
            spoken = Talk(agent, household, client)
            tasks.start_soon(spoken.listen)
            try:
                yield spoken
            finally:
                with anyio.CancelScope(shield=True):
                    await to_thread.run_sync(daemon.__exit__, None, None, None)
        assert household.agents_left == ()
