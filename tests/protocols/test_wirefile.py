"""The wire file: written before the driver is fed, and enough to begin anew from."""

import errno
import os
from io import BytesIO
from pathlib import Path

import anyio
import pytest

from kai.model.backends import ProtocolName
from kai.model.context import Media, Prompt
from kai.model.events import Choice
from kai.model.ids import AttachmentRef, DispatchId
from kai.protocols import wirefile
from kai.protocols.driver import Driver, Outputs
from kai.protocols.registry import driver_for
from kai.protocols.replay import prompt_of, replay
from kai.protocols.wirefile import WireFile, prompt_fields
from kai.wire import record
from kai.wire.record import Kind
from tests.protocols import agents
from tests.protocols.agents import LIMITS, PROTOCOLS, Fake, setup, turn

pytestmark = pytest.mark.anyio


async def kinds(path: Path) -> list[Kind]:
    return [kind for kind, _ in record.decode(BytesIO(await anyio.Path(path).read_bytes()))]


async def test_the_file_is_private_and_gone_with_its_run(tmp_path: Path) -> None:
    wire = await WireFile.create(tmp_path / "runs" / "r-1" / "wire")
    wire.add(Kind.READ, b"x")
    assert (tmp_path / "runs" / "r-1" / "wire").stat().st_mode & 0o777 == 0o600
    assert (tmp_path / "runs" / "r-1").stat().st_mode & 0o777 == 0o700
    await wire.end(keep=False)
    assert os.listdir(tmp_path / "runs") == []  # noqa: PTH208


async def test_others_files_beside_it_stay(tmp_path: Path) -> None:
    wire = await WireFile.create(tmp_path / "wire")
    (tmp_path / "mine").touch()
    await wire.end(keep=False)
    assert os.listdir(tmp_path) == ["mine"]  # noqa: PTH208


async def test_a_file_that_cannot_be_made_costs_the_recording_and_not_the_run(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    wire = await WireFile.create(tmp_path / "file" / "wire")
    wire.add(Kind.READ, b"x")
    wire.call("interrupt")


async def test_a_full_disk_ends_the_recording_and_not_the_run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    wire = await WireFile.create(tmp_path / "wire")
    wire.add(Kind.READ, b"kept")

    def full(*_: object) -> int:
        raise OSError(errno.ENOSPC, "No space left on device")

    with monkeypatch.context() as patch:
        patch.setattr(os, "write", full)
        wire.add(Kind.READ, b"lost")
    wire.add(Kind.READ, b"not recorded any more")
    assert await kinds(tmp_path / "wire") == [Kind.READ]


async def test_a_run_that_says_too_much_is_not_recorded_to_its_end(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(wirefile, "MAX_BYTES", 1_000)
    wire = await WireFile.create(tmp_path / "wire")
    for _ in range(100):
        wire.add(Kind.READ, b"x" * 100)
    assert (tmp_path / "wire").stat().st_size <= 1_000


def test_a_prompt_with_media_survives_the_file() -> None:
    prompt = Prompt(DispatchId("d"), "é \u2028", (Media(AttachmentRef("a"), "image/png", b"\x89\0"),), bare=True)
    assert prompt_of(prompt_fields(prompt)) == prompt


class Recorded:
    """A driver whose outputs are kept."""

    def __init__(self, driver: Driver) -> None:
        self._driver = driver
        self.outputs: list[Outputs] = []

    @property
    def native_id(self) -> str:
        return self._driver.native_id

    def _keep(self, outputs: Outputs) -> Outputs:
        self.outputs.append(outputs)
        return outputs

    def start(self, resume: str) -> Outputs:
        return self._keep(self._driver.start(resume))

    def set_model(self, model: str, effort: str) -> Outputs:
        return self._keep(self._driver.set_model(model, effort))

    def frame(self, prompt: Prompt) -> bytes:
        return self._driver.frame(prompt)

    def prompt(self, prompt: Prompt) -> Outputs:
        return self._keep(self._driver.prompt(prompt))

    def answer(self, ask: str, choice: Choice | None, text: str = "") -> Outputs:
        return self._keep(self._driver.answer(ask, choice, text))

    def interrupt(self) -> Outputs:
        return self._keep(self._driver.interrupt())

    def feed(self, line: bytes) -> Outputs:
        return self._keep(self._driver.feed(line))

    def wake(self, name: str) -> Outputs:
        return self._keep(self._driver.wake(name))

    def eof(self, exit_code: int | None, stderr_tail: str) -> Outputs:
        return self._keep(self._driver.eof(exit_code, stderr_tail))


@pytest.mark.parametrize("protocol", PROTOCOLS)
async def test_a_fresh_driver_fed_from_the_file_says_what_the_first_one_said(
    protocol: ProtocolName, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    kept: list[Recorded] = []

    def keep(made: object) -> Recorded:
        kept.append(Recorded(driver_for(made)))  # type: ignore[arg-type]
        return kept[-1]

    monkeypatch.setattr(agents, "driver_for", keep)
    fake = Fake(protocol, tmp_path)
    async with fake.session() as session:
        await turn(session, "FAKE:noise FAKE:unknown FAKE:slow=3 FAKE:tool FAKE:huge=5 FAKE:say=end")
        await session.set_model("fake-2", "high")
        asked: list[str] = []
        async with session.prompt(agents.prompt("FAKE:ask FAKE:unsolicited")) as events:
            async for event in events:
                if type(event).__name__ == "Ask":
                    asked.append(event.ask)  # type: ignore[union-attr]
                    await session.answer(asked[-1], None, "no")
        await agents.until(lambda: fake.aside)
        async with session.prompt(agents.prompt("FAKE:silent")) as events:
            await session.interrupt()
        data = await anyio.Path(fake.wire).read_bytes()
    assert asked
    again = driver_for(setup(protocol, str(tmp_path)))
    outputs = list(replay(BytesIO(data), again, LIMITS.line_bytes))
    first = [list(one) for one in kept[0].outputs]
    assert [list(one) for one in outputs] == first[: len(outputs)]
    assert len(outputs) > 20
