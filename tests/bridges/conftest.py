"""A stand-in for the daemon."""

import getpass
from collections.abc import Callable, Iterator
from pathlib import Path

import anyio
import pytest

from tests.fake_daemon import FakeDaemon


@pytest.fixture
def fake(tmp_path: Path) -> Iterator[FakeDaemon]:
    with FakeDaemon(tmp_path / "people.sock") as daemon:
        person = {
            "name": "Ann",
            "principal": "p-ann",
            "os_user": getpass.getuser(),
            "zone": "",
            "email": "",
            "is_you": True,
        }
        daemon.canned["GET", "/v1/people"] = (200, [person])
        yield daemon


async def until(condition: Callable[[], object]) -> None:
    """Wait for a condition of another thread, or of the other side of a socket."""
    with anyio.fail_after(8):
        while not condition():  # noqa: ASYNC110 - what it waits for happens outside the event loop
            await anyio.sleep(0.005)
