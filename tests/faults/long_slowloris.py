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
PEERS = 180  # of one user: the cap is 192 of 256
MORE = 40


async def test_programs_that_hold_connections_are_bounded_for_each_user(tmp_path: Path, record_property: Seen) -> None:
    house = House(tmp_path)
    async with served(house) as (process, client):
        path = str(house.folders.runtime / "people.sock")
        with ExitStack() as stack:
            peers = [connected(stack, path) for _ in range(PEERS)]
            with ExitStack() as more:
                beyond = [connected(more, path) for _ in range(MORE)]
                answers = await anyio.to_thread.run_sync(lambda: [answer(peer) for peer in beyond[-20:]])
            assert all(b" 503 " in one for one in answers), answers
            assert (await end_of(client, await say(client, "hello", "a")))["state"] == "done"
            held = files(process)
            for _ in range(12):  # a head has 10 seconds, however it drips
                await anyio.sleep(1)
                for peer in peers:
                    with suppress(OSError):
                        peer.send(b"E")
            left = files(process)
        assert left < 60
        assert process.poll() is None
        assert (await end_of(client, await say(client, "and now?", "b")))["state"] == "done"
    told = f"{PEERS} slow peers: another is answered, those beyond the cap get 503, all cut at 10 s"
    record_property("seen", f"{told} ({held} → {left} files)")


def connected(stack: ExitStack, path: str) -> socket.socket:
    """One that has sent the first byte of a head."""
    peer = stack.enter_context(socket.socket(socket.AF_UNIX))
    peer.settimeout(2)
    with suppress(OSError):  # refused: its answer says so
        peer.connect(path)
        peer.send(b"G")
    return peer


def answer(peer: socket.socket) -> bytes:
    try:
        return peer.recv(4096)
    except OSError:
        return b""
