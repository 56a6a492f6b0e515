"""A process that accepts messages and says which, to be killed: ``python -m tests.store.victim DATABASE FIRST``."""

import sys
from pathlib import Path

import anyio

from kai.clock import SystemClock
from kai.model.messages import InboundMessage
from kai.store import channels, messages
from kai.store.database import open_store
from tests.store.house import ANN


async def main(path: Path, first: int) -> None:
    clock = SystemClock()
    async with open_store(path, clock=clock) as store:
        door = await store.read(channels.address, "telegram", "chat-1", "")
        assert door

        async def accept_every_fourth(begin: int) -> None:
            for number in range(begin, 10**9, 4):
                inbound = InboundMessage("telegram", "chat-1", "", "ann", str(number), f"message {number}")
                now = clock.now()
                accepted = await store.write(messages.accept, inbound, door, ANN, "Ann", now, queue_bound=10**9)
                print(number, accepted.message, flush=True)

        async with anyio.create_task_group() as group:
            for offset in range(4):  # four at once, so that commits are groups
                group.start_soon(accept_every_fourth, first + offset)


if __name__ == "__main__":
    anyio.run(main, Path(sys.argv[1]), int(sys.argv[2]))
