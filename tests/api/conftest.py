"""A whole door on real sockets, with a fake house behind it."""

import tempfile
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import anyio
import httpx
import pytest
from anyio import to_thread

from kai.api.attachments import AttachmentFolder
from kai.api.callers import Callers
from kai.api.endpoint import Parts
from kai.api.faces import Threshold
from kai.api.limits import ApiLimits
from kai.api.server import AGENTS, PEOPLE, serve
from kai.model.ids import RunId
from kai.settings.where import Folders
from tests.api.fake_door import ANNA, BEN, FakeAgents, FakeDirectory, FakeDoor

MAX_BODY = 64 * 1024
MAX_FILE = 3 * 1024 * 1024


@dataclass
class House:
    """What a test may turn: who is who, which pid belongs to which run, every limit."""

    folder: Path
    door: FakeDoor = field(default_factory=FakeDoor)
    directory: FakeDirectory = field(default_factory=lambda: FakeDirectory(ANNA, BEN))
    operators: tuple[str, ...] = ()
    trusted_uids: tuple[int, ...] | None = None  # (): who runs the test is no operator
    os_user: Callable[[int], str] = lambda _uid: "anna"
    run_of: Callable[[int], RunId | None] = lambda _pid: None
    surely_of: Callable[[int], RunId | None] = lambda _pid: None
    agents_door: FakeAgents = field(default_factory=FakeAgents)
    limits: ApiLimits = field(default_factory=ApiLimits)

    @property
    def folders(self) -> Folders:
        return Folders(self.folder / "config", self.folder / "state", self.folder / "run")

    @property
    def people(self) -> Path:
        return self.folder / "run" / PEOPLE

    @property
    def agents(self) -> Path:
        return self.folder / "run" / AGENTS

    @asynccontextmanager
    async def serving(self, *, people_group: int | None = None) -> AsyncIterator[Parts]:
        callers = Callers(self.directory, lambda: self.operators, trusted_uids=self.trusted_uids, os_user=self.os_user)
        parts = Parts(
            door=self.door,
            callers=callers,
            attachments=AttachmentFolder(self.folder / "state" / "attachments"),
            agents=self.agents_door,  # type: ignore[arg-type]
            max_body_bytes=lambda: MAX_BODY,
            max_attachment_bytes=lambda: MAX_FILE,
            limits=self.limits,
        )
        await to_thread.run_sync(parts.attachments.prepare)

        async def given() -> Parts:
            return parts

        threshold = Threshold(given, self.run_of, self.surely_of, self.limits, parts.streams)
        async with serve(threshold, self.folders, people_group=people_group):
            yield parts

    @asynccontextmanager
    async def http(self, socket: Path | None = None, **how: Any) -> AsyncIterator[httpx.AsyncClient]:
        transport = httpx.AsyncHTTPTransport(uds=str(socket or self.people))
        async with httpx.AsyncClient(transport=transport, base_url="http://kai", timeout=10.0, **how) as client:
            yield client

    async def raw(self, data: bytes, *, socket: Path | None = None) -> bytes:
        """Everything that comes back for these bytes until the peer closes."""
        with anyio.fail_after(10):
            async with await anyio.connect_unix(socket or self.people) as stream:
                await stream.send(data)
                got = b""
                try:
                    while True:
                        got += await stream.receive()
                except (anyio.EndOfStream, anyio.BrokenResourceError):
                    return got


@pytest.fixture
def house() -> Iterator[House]:
    """A house whose socket paths are short enough."""
    with tempfile.TemporaryDirectory(prefix="kai-") as folder:
        yield House(Path(folder))


@pytest.fixture
async def served(house: House, anyio_backend: str) -> AsyncIterator[House]:
    """The same, with its door open."""
    async with house.serving():
        yield house


@pytest.fixture
async def http(served: House) -> AsyncIterator[httpx.AsyncClient]:
    """A client of its people's socket."""
    async with served.http() as client:
        yield client


async def until(condition: Callable[[], bool], *, limit_s: float = 5.0) -> None:
    """Wait for a condition, with a limit."""
    with anyio.fail_after(limit_s):
        while not condition():  # noqa: ASYNC110 - what is waited for happens in the code under test
            await anyio.sleep(0.005)
