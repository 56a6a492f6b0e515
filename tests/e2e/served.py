"""``kai serve`` as a process of its own, and what a bridge and a person do with it."""

import os
import signal
import subprocess
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import asynccontextmanager, suppress
from pathlib import Path
from typing import Any

import anyio

from kai.client import Client
from kai.model.errors import UnreachableError
from kai.model.messages import Accepted, InboundMessage
from kai.model.turns import Delivery, Progress, Receipt, ReceiptOutcome
from tests.e2e.house import House

LIMIT_S = 15.0
Process = subprocess.Popen[bytes]


@asynccontextmanager
async def served(
    house: House,
    *,
    argv: Sequence[str] = (),
    before: Callable[[], object] | None = None,
    stderr: int | None = None,
    start_s: float = 60.0,  # a slow machine is no fault
) -> AsyncIterator[tuple[Process, Client]]:
    """A daemon; `argv` instead of ``kai serve``, `before` is called in its process before it starts."""
    with (house.root / "daemon.log").open("ab") as log:
        process = await anyio.to_thread.run_sync(
            lambda: subprocess.Popen(
                list(argv) or house.kai("serve"),
                env=house.environment,
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=log if stderr is None else stderr,
                preexec_fn=before,  # noqa: PLW1509 - the child of a test
            )
        )
    try:
        async with Client(house.folders.runtime / "people.sock") as client:
            await until_up(house, process, client, start_s)
            yield process, client
    finally:
        if process.poll() is None:
            process.send_signal(signal.SIGTERM)
        await anyio.to_thread.run_sync(process.wait)


async def until_up(house: House, process: Process, client: Client, limit_s: float = LIMIT_S) -> None:
    with anyio.fail_after(limit_s):
        while True:
            try:
                await client.status()
            except UnreachableError:
                assert process.poll() is None, (house.root / "daemon.log").read_text()
                await anyio.sleep(0.05)
            else:
                return


async def say(client: Client, text: str, key: str, thread: str = "") -> Accepted:
    return await client.receive(InboundMessage("", "shell", thread, "", key, text))


async def end_of(client: Client, accepted: Accepted, limit_s: float = LIMIT_S) -> dict[str, Any]:
    with anyio.fail_after(limit_s):
        async for event in client.events(accepted.turn or ""):
            if event["type"] == "end":
                return event
    raise AssertionError("no end")


async def until_said(client: Client, accepted: Accepted, words: str = "chunk0") -> str:
    """What a running turn has said so far, once it has said `words`."""
    said = ""
    with anyio.fail_after(LIMIT_S):
        async for event in client.events(accepted.turn or ""):
            said += str(event.get("text", "")) if event["type"] == "text" else ""
            if words in said:
                return said
            assert event["type"] != "end", event
    raise AssertionError(said)


async def everything_owed(client: Client, quiet_s: float = 1.0) -> list[Delivery]:
    """All that is owed to this bridge, with receipts, until nothing came for a while."""
    got: list[Delivery] = []
    with anyio.move_on_after(quiet_s) as waiting:
        async for item in client.deliveries():
            if not isinstance(item, Progress):
                got.append(item)
                await client.receipt(item.delivery, Receipt(ReceiptOutcome.SENT))
                waiting.deadline = anyio.current_time() + quiet_s
    return got


def processes_of(house: House) -> list[int]:
    """Processes that are alive and have this house in their environment: a daemon's agents and their keepers."""
    mark = os.fsencode(house.folders.runtime)
    found = []
    for entry in Path("/proc").iterdir():
        if entry.name.isdigit():
            with suppress(OSError):
                state = (entry / "stat").read_text().rpartition(")")[2].split()[0]
                if state not in "ZX" and mark in (entry / "environ").read_bytes():
                    found.append(int(entry.name))
    return found


async def gone(house: House, limit_s: float) -> float:
    """Seconds until no process of the house is left. The limit is that of a machine with nothing else to do."""
    limit_s *= max(1.0, os.getloadavg()[0] / (os.cpu_count() or 1))
    began = anyio.current_time()
    with anyio.fail_after(limit_s):
        while processes_of(house):  # noqa: ASYNC110 - other processes' ends
            await anyio.sleep(0.01)
    return anyio.current_time() - began
