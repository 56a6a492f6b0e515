"""Driving a real agent through kai's own launcher, driver and session, as a turn would, without the daemon."""

import getpass
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path

import anyio
from anyio.to_thread import run_sync

from kai.clock import Clock
from kai.model.backends import Manifest
from kai.model.context import Prompt
from kai.model.events import Ask, BackendEvent, ChoiceKind, Failed, Finished, Started, TextDelta, ToolCall, ToolResult
from kai.model.ids import DispatchId, RunId
from kai.processes.direct import DirectLauncher
from kai.processes.plan import plan
from kai.protocols.child import StopReport
from kai.protocols.driver import DriverSetup
from kai.protocols.hosting import open_session
from kai.protocols.registry import driver_for
from kai.protocols.session import Session
from tests.real.agents import RealAgent, processes_marked
from tests.stub_model import Request, StubModel

FRONT = "[Agent: house]\n\n[User's current message - respond to this:]\n"  # disarms a word that begins with /


@dataclass
class Seen:
    """The events of one turn."""

    events: list[BackendEvent] = field(default_factory=list)

    @property
    def text(self) -> str:
        """The answer, without the words by which the offline agent says what it is."""
        said = "".join(event.text for event in self.events if isinstance(event, TextDelta))
        return said.partition("\n\n")[2] if said.startswith("I am the offline agent") else said

    @property
    def pieces(self) -> int:
        return sum(isinstance(event, TextDelta) for event in self.events)

    @property
    def tools(self) -> list[tuple[str, bool]]:
        """Name and outcome of every tool call, in order of the results."""
        names = {event.tool_id: event.name for event in self.events if isinstance(event, ToolCall)}
        return [(names[event.tool_id], event.ok) for event in self.events if isinstance(event, ToolResult)]

    @property
    def asks(self) -> list[Ask]:
        return [event for event in self.events if isinstance(event, Ask)]

    @property
    def end(self) -> Finished | Failed:
        """The last event; the contract of a turn (`Started` first, one end, last) is checked on the way."""
        ends = [event for event in self.events if isinstance(event, Finished | Failed)]
        assert isinstance(self.events[0], Started), self.events
        assert len(ends) == 1, self.events
        assert self.events[-1] is ends[0], self.events
        return ends[0]

    @property
    def failed(self) -> Failed:
        assert isinstance(self.end, Failed), self.events
        return self.end


@dataclass
class Bench:
    """One person's home and workspace, the stub model, and the agent's sessions there."""

    agent: RealAgent
    model: StubModel
    folder: Path
    clock: Clock
    manifest: Manifest
    runs: list[RunId] = field(default_factory=list)
    dispatches: int = 0
    looks: tuple[str, ...] = ()  # tools of kai that only look
    aside: list[str] = field(default_factory=list)  # what agents said outside their turns

    @classmethod
    def make(cls, agent: RealAgent, model: StubModel, folder: Path, clock: Clock) -> "Bench":
        bench = cls(agent, model, folder, clock, agent.manifest)
        for made in (bench.home, bench.workspace):
            made.mkdir()
        agent.seed(bench.home, model.url)
        return bench

    @property
    def home(self) -> Path:
        return self.folder / "home"

    @property
    def workspace(self) -> Path:
        return self.folder / "work"

    @property
    def keeps_a_stopped_session(self) -> bool:
        return "stop_spoils" not in self.manifest.quirks

    def limits(self, **seconds: float) -> None:
        """Other limits than the manifest's, for sessions from now on."""
        self.manifest = replace(self.manifest, limits=replace(self.manifest.limits, **seconds))  # type: ignore[arg-type]

    @asynccontextmanager
    async def session(
        self, *, resume: str = "", permissions: str = "ask", temporary: bool = False, url: str = "", effort: str = ""
    ) -> AsyncIterator[Session]:
        """A session of the agent; `url` points it elsewhere than at the stub."""
        run = RunId(f"r-{self.agent.backend}-{len(self.runs)}-{id(self)}")
        self.runs.append(run)
        if url:
            self.agent.seed(self.home, url)
        inherited = self.agent.inherited(url or self.model.url)
        planned = await run_sync(
            lambda: plan(
                self.manifest,
                run=run,
                model=self.agent.model,
                effort=effort,
                permissions=permissions,
                resume=resume,
                temporary=temporary,
                workspace=self.workspace,
                os_user=getpass.getuser(),
                home=self.home,
                socket_path=self.folder / "no.sock",
                looks=self.looks,
                inherited=inherited,
            )
        )
        setup = DriverSetup(
            manifest=self.manifest,
            cwd=str(self.workspace),
            model=self.agent.model,
            effort=effort,
            permissions=permissions,
            temporary=temporary,
        )
        async with open_session(
            DirectLauncher(),
            replace(planned.spec, user=""),
            driver_for(setup),
            self.manifest.limits,
            clock=self.clock,
            wire_path=self.folder / f"wire-{len(self.runs)}",
            resume=resume,
            on_unsolicited=self.aside.append,
            helpers=self.manifest.helpers,
        ) as session:
            yield session

    def word(self, name: str, value: str = "") -> str:
        """A prompt that makes the agent say ("say"), stream ("slow") or ask for leave ("write"), by its own words."""
        if self.agent.has_model:
            return f"{FRONT}STUB:{name}={value};;"
        return FRONT + {"say": f"echo {value}", "slow": f"slow {value}", "write": "ask"}[name]

    def prompt(self, text: str, *, bare: bool = False) -> Prompt:
        self.dispatches += 1
        return Prompt(DispatchId(f"d-{id(self)}-{self.dispatches}"), text, bare=bare)

    async def turn(
        self, session: Session, text: str, *, choose: ChoiceKind | None = ChoiceKind.ALLOW_ONCE, bare: bool = False
    ) -> Seen:
        """One whole turn; every question is answered with the first choice of kind `choose` (None denies)."""
        seen = Seen()
        async with session.prompt(self.prompt(text, bare=bare)) as events:
            async for event in events:
                seen.events.append(event)
                if isinstance(event, Ask):
                    choice = next((choice for choice in event.choices if choice.kind is choose), None)
                    await session.answer(event.ask, choice)
        return seen

    async def stopped(
        self,
        session: Session,
        text: str,
        when: Callable[[Seen], Awaitable[object]],
        *,
        choose: ChoiceKind | None = ChoiceKind.ALLOW_ONCE,
    ) -> tuple[Seen, StopReport]:
        """A turn that is interrupted as soon as `when` returns; `choose` None leaves its questions open."""
        seen, reports = Seen(), list[StopReport]()
        async with session.prompt(self.prompt(text)) as events, anyio.create_task_group() as tasks:

            async def interrupt() -> None:
                await when(seen)
                reports.append(await session.interrupt())

            tasks.start_soon(interrupt)
            async for event in events:
                seen.events.append(event)
                if isinstance(event, Ask) and choose is not None:
                    await session.answer(event.ask, next(one for one in event.choices if one.kind is choose))
        return seen, reports[0]

    async def wait(self, wanted: Callable[[Request], bool], limit_s: float = 60.0) -> None:
        """Until the stub has got a request that is `wanted`."""
        await run_sync(self.model.wait, wanted, limit_s, abandon_on_cancel=True)

    @property
    def left(self) -> tuple[str, ...]:
        """Command lines of the live processes of the newest run."""
        return processes_marked(self.runs[-1])


async def until(condition: Callable[[], bool], limit_s: float = 30.0) -> None:
    """Wait for something outside this process, such as a file that the agent's tool makes."""
    with anyio.fail_after(limit_s):
        while not condition():  # noqa: ASYNC110 - another process gives no event
            await anyio.sleep(0.02)
