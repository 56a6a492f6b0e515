"""Peers that send a byte a moment, against a real daemon."""

import socket
from collections.abc import Callable
from contextlib import ExitStack, suppress
from pathlib import Path

import anyio
import pytest

from tests.e2e.house import House
from tests.e2e.served import end_of, say, served
from tests.faults.test_room import files

pytestmark = [pytest.mark.anyio, pytest.mark.timeout(120)]
Seen = Callable[[str, object], None]
PEERS = 250


async def test_programs_that_hold_connections_are_bounded_for_each_user(tmp_path: Path, record_property: Seen) -> None:
    house = House(tmp_path)
    async with served(house) as (process, client):
        path = str(house.folders.runtime / "people.sock")
        with ExitStack() as stack:
            peers = [stack.enter_context(socket.socket(socket.AF_UNIX)) for _ in range(PEERS)]
            for peer in peers:
                peer.settimeout(1)
                with suppress(OSError):
                    peer.connect(path)
                    peer.send(b"G")
            assert (await end_of(client, await say(client, "hello", "a")))["state"] == "done"
            held = files(process)
            for _ in range(12):  # a head has 10 seconds, however it drips
                await anyio.sleep(1)
                for peer in peers:
                    with suppress(OSError):
                        peer.send(b"E")
            left = files(process)
        assert left < held - 150
        assert process.poll() is None
    told = f"{PEERS} slow peers: another client is answered, all of them are cut after 10 s ({held} → {left} files)"
    record_property("seen", told)
