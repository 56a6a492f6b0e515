"""A stand-in for the daemon, and a view that keeps what it is shown."""

import getpass
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path

import anyio
import pytest

from kai.bridges.terminal.view import Row, Tool
from tests.fake_daemon import FakeDaemon


@dataclass
class Shown:
    """Everything that was shown, in order, as (what, turn, text)."""

    everything: list[tuple[str, str, str]] = field(default_factory=list)

    async def text(self, turn: str, piece: str) -> None:
        self.everything.append(("text", turn, piece))

    async def tool(self, turn: str, tool: Tool) -> None:
        self.everything.append(("tool", turn, f"{tool.name} {tool.target} {tool.ok}"))

    async def ask(self, turn: str, question: Row) -> None:
        self.everything.append(("ask", turn, question["title"]))

    async def notice(self, turn: str, text: str) -> None:
        self.everything.append(("notice", turn, text))

    async def state(self, turn: str, state: str) -> None:
        self.everything.append(("state", turn, state))

    async def end(self, turn: str, end: Row) -> None:
        self.everything.append(("end", turn, end["text"] or end["reason"]))

    async def letter(self, heading: str, text: str) -> None:
        self.everything.append(("letter", "", text))

    def of(self, *kinds: str) -> list[str]:
        return [text for kind, _, text in self.everything if kind in kinds]


@pytest.fixture
def fake(tmp_path: Path) -> Iterator[FakeDaemon]:
    with FakeDaemon(tmp_path / "people.sock") as daemon:
        person = {"name": "Ann", "principal": "p-ann", "os_user": getpass.getuser(), "zone": "", "email": ""}
        daemon.canned["GET", "/v1/people"] = (200, [person])
        yield daemon


@pytest.fixture
def shown() -> Shown:
    return Shown()


async def until(condition: Callable[[], object]) -> None:
    """Wait for a condition of another thread, or of the other side of a socket."""
    with anyio.fail_after(8):
        while not condition():  # noqa: ASYNC110 - what it waits for happens outside the event loop
            await anyio.sleep(0.005)
