"""Sessions with the fake agent, for the tests of this package."""

import sys
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass, field, replace
from hashlib import sha256
from pathlib import Path

import anyio
import psutil

from kai.clock import SystemClock
from kai.model.backends import Can, LaunchPlan, Limits, Manifest, ProtocolName
from kai.model.context import Prompt
from kai.model.events import BackendEvent, Choice, Finished, TextDelta
from kai.model.ids import DispatchId, RunId
from kai.processes.direct import DirectLauncher
from kai.processes.launcher import LaunchSpec
from kai.protocols.driver import DriverSetup
from kai.protocols.hosting import open_session
from kai.protocols.registry import driver_for
from kai.protocols.session import Session

FAKE = Path(__file__).parents[1] / "fake_agent" / "__main__.py"
PROTOCOLS = (ProtocolName.STREAM_JSON, ProtocolName.APP_SERVER, ProtocolName.PI_RPC, ProtocolName.ACP)
LIMITS = Limits(
    start_s=10,
    first_output_s=10,
    silence_s=10,
    turn_s=15,
    stop_s=1.0,
    eof_s=0.5,
    term_s=0.5,
    write_s=1.0,
    line_bytes=4 * 1024 * 1024,
    repeats=50,
)


def manifest(protocol: ProtocolName, **options: str) -> Manifest:
    plan = LaunchPlan(sys.executable, (str(FAKE), "--protocol", protocol.value))
    return Manifest("fake", "Fake", protocol, plan, "/", Can(resume=True), options=tuple(options.items()))


def setup(protocol: ProtocolName, cwd: str, **more: str) -> DriverSetup:
    spoken = manifest(protocol, model_by="set_model", effort_config="effort")
    return replace(DriverSetup(spoken, cwd), **more)  # type: ignore[arg-type]


@dataclass
class Fake:
    """How to start a session with the fake agent, and what it told outside its turns."""

    protocol: ProtocolName
    folder: Path
    limits: Limits = LIMITS
    script: str = ""
    aside: list[str] = field(default_factory=list)
    runs: int = 0

    @property
    def log(self) -> Path:
        """Every line that the agent got."""
        return self.folder / "stdin.log"

    @property
    def wire(self) -> Path:
        return self.folder / "runs" / f"r-{self.runs}" / "wire"

    @asynccontextmanager
    async def session(self, *, resume: str = "", **more: str) -> AsyncIterator[Session]:
        self.runs += 1
        state = self.folder / "state"
        await anyio.Path(state).mkdir(exist_ok=True)
        argv = [sys.executable, str(FAKE), "--protocol", self.protocol.value, "--script", self.script]
        argv += ["--log", str(self.log), "--state", str(state)]
        if resume and self.protocol is not ProtocolName.ACP:
            argv += ["--resume", resume]
        env = {"PATH": "/usr/bin:/bin", "HOME": str(self.folder)}
        spec = LaunchSpec(RunId(f"r-{self.runs}"), tuple(argv), env, str(self.folder))
        async with open_session(
            DirectLauncher(),
            spec,
            driver_for(setup(self.protocol, str(self.folder), **more)),
            self.limits,
            clock=SystemClock(),
            wire_path=self.wire,
            resume=resume,
            on_unsolicited=self.aside.append,
        ) as session:
            yield session


def prompt(text: str, number: int = 1) -> Prompt:
    return Prompt(DispatchId(f"d-{number}-{sha256(text.encode('utf-8', 'replace')).hexdigest()[:8]}"), text)


async def turn(
    session: Session, text: str, *, each: "Callable[[BackendEvent], object] | None" = None, number: int = 1
) -> list[BackendEvent]:
    """All events of one turn."""
    seen: list[BackendEvent] = []
    async with session.prompt(prompt(text, number)) as events:
        async for event in events:
            seen.append(event)
            if each is not None:
                each(event)
    return seen


def text_of(events: list[BackendEvent]) -> str:
    """The answer as the caller would keep it."""
    end = events[-1]
    said = "".join(event.text for event in events if isinstance(event, TextDelta))
    return end.text if isinstance(end, Finished) and end.text else said


async def until(condition: Callable[[], object], limit_s: float = 8.0) -> None:
    """Wait until it holds; fails when it does not in time."""
    with anyio.fail_after(limit_s):
        while not condition():  # noqa: ASYNC110 - what it waits for lies outside this process
            await anyio.sleep(0.01)


def is_running(pid: int) -> bool:
    try:
        return psutil.Process(pid).status() != psutil.STATUS_ZOMBIE
    except psutil.NoSuchProcess:
        return False


def pick(choices: tuple[Choice, ...], kind: str) -> Choice:
    return next(choice for choice in choices if choice.kind.value == kind)
