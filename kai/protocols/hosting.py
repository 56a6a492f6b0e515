"""How a session begins and ends: with a new process, or with one that a former daemon has left at work."""

from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from pathlib import Path

import anyio

from kai.clock import Clock
from kai.model.backends import Limits
from kai.model.errors import FailureKind, SessionLostError
from kai.processes.launcher import Launcher, LaunchSpec, Run
from kai.protocols.driver import Driver
from kai.protocols.session import Session
from kai.protocols.stand import stand_of
from kai.protocols.wirefile import WireFile


def _ignore(_: str) -> None:
    pass


@asynccontextmanager
async def open_session(  # noqa: PLR0913 - what a session is made of, by name
    launcher: Launcher,
    spec: LaunchSpec,
    driver: Driver,
    limits: Limits,
    *,
    clock: Clock,
    wire_path: Path,
    resume: str = "",
    on_unsolicited: Callable[[str], None] = _ignore,
    keep_wire: bool = False,
    helpers: tuple[str, ...] = (),
) -> AsyncIterator[Session]:
    """Start an agent and yield its session, ready for a prompt; at the end nothing of the run is left.

    `resume` is the native id to take up, "" for a new session. `on_unsolicited` is called with text outside any turn
    and must return at once. `helpers` are programs that the agent runs beside its tools: they are no work. Raises
    `LaunchError` and `SessionLostError`; then, too, nothing is left.
    """

    async def begin(run: Run) -> tuple[Session, Callable[[anyio.abc.TaskGroup], Awaitable[None]]]:
        wire = await WireFile.create(wire_path)
        session = Session(run, driver, limits, clock, wire, on_unsolicited, helpers)
        return session, lambda tasks: session.get_ready(tasks, resume)

    async with _hosted(await launcher.spawn(spec), begin, keep_wire=keep_wire) as session:
        yield session


@asynccontextmanager
async def take_session_over(
    run: Run,
    driver: Driver,
    limits: Limits,
    *,
    clock: Clock,
    wire_path: Path,
    on_unsolicited: Callable[[str], None] = _ignore,
    helpers: tuple[str, ...] = (),
) -> AsyncIterator[Session]:
    """The session of a run that a former daemon began, brought by its wire file to where it stood; its turn goes on.

    `driver` is a fresh one, set up as that of the former daemon. Raises `SessionLostError` when what was said to the
    agent cannot be known for sure; then, as at the end, nothing of the run is left.
    """

    async def begin(run: Run) -> tuple[Session, Callable[[anyio.abc.TaskGroup], Awaitable[None]]]:
        wire, entries = await WireFile.reopen(wire_path)
        session = Session(run, driver, limits, clock, wire, on_unsolicited, helpers)

        async def go_on(tasks: anyio.abc.TaskGroup) -> None:
            stand = stand_of(entries, driver, limits.line_bytes)
            if not stand.is_certain:
                raise SessionLostError("What the agent was told last may have been cut.", FailureKind.CRASH)
            session.take_over(tasks, stand)

        return session, go_on

    async with _hosted(run, begin, keep_wire=False) as session:
        yield session


@asynccontextmanager
async def _hosted(
    run: Run,
    begin: Callable[[Run], Awaitable[tuple[Session, Callable[[anyio.abc.TaskGroup], Awaitable[None]]]]],
    *,
    keep_wire: bool,
) -> AsyncIterator[Session]:
    session: Session | None = None
    try:
        session, go = await begin(run)
        async with anyio.create_task_group() as tasks:
            try:
                await go(tasks)
                yield session
            finally:
                await session.close()
                session.end_tasks()
    except BaseExceptionGroup as group:
        if len(group.exceptions) > 1:
            raise
        raise group.exceptions[0] from None  # the caller's own, which a task group only wrapped
    finally:
        with anyio.CancelScope(shield=True):
            await run.aclose()
            if session is not None:
                session.close_frames()
                await session.wire.end(keep=keep_wire)
