"""A shut door tells why, but not to everybody."""

import os

import pytest

from kai.api.peers import Peer
from kai.api.shut import ShutDoor

pytestmark = pytest.mark.anyio


async def ask(door: ShutDoor, path: str, uid: int) -> tuple[int, str]:
    sent = []

    async def send(message: dict[str, object]) -> None:
        sent.append(message)

    async def receive() -> dict[str, object]:
        raise AssertionError("the body does not matter")

    await door({"type": "http", "path": path, "kai.peer": Peer(uid, 0, 1)}, receive, send)  # type: ignore[arg-type]
    return sent[0]["status"], sent[1]["body"].decode()  # type: ignore[return-value, attr-defined]


async def test_only_root_and_the_daemons_user_are_told_the_reason() -> None:
    async def refused() -> tuple[str, ...]:
        return ("kai.yaml:2:1: what",)

    door = ShutDoor(refused)
    await door.look()
    for uid in (0, os.geteuid()):
        status, body = await ask(door, "/v1/messages", uid)
        assert status == 503
        assert "kai.yaml:2:1" in body
    status, body = await ask(door, "/v1/messages", 4711)
    assert status == 503
    assert "kai.yaml" not in body


async def test_only_they_can_let_it_look_again() -> None:
    looks = 0

    async def refused() -> tuple[str, ...]:
        nonlocal looks
        looks += 1
        return ()

    door = ShutDoor(refused, ("bad",))
    assert (await ask(door, "/v1/reload", 4711))[0] == 503
    assert looks == 0
    assert await ask(door, "/v1/reload", 0) == (200, '{"loaded":true,"problems":[]}')
    assert (looks, door.problems) == (1, ())
