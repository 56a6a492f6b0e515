"""How a session begins: its epoch, its row, its process, and the driver that speaks to it."""

from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from dataclasses import replace
from functools import partial
from typing import Any

from anyio import CancelScope, to_thread

from kai.context.epoch import Grounds, epoch
from kai.log import log
from kai.model.backends import Manifest
from kai.model.errors import SessionBrokenError
from kai.model.ids import RunId, SessionId, fresh
from kai.model.turns import SessionRow
from kai.processes.plan import LaunchPlanned, plan, refuse_lasting
from kai.protocols.driver import DriverSetup
from kai.protocols.hosting import open_session, take_session_over
from kai.protocols.registry import driver_for
from kai.protocols.session import Session
from kai.protocols.trial import trial
from kai.store import sessions
from kai.turns.backends import home_of_login
from kai.turns.backends import os_user as own_user
from kai.turns.background import Background
from kai.turns.facts import identity_mark, memory_mode, route_tools
from kai.turns.offering import fills, looking, offered
from kai.turns.parts import Parts
from kai.turns.pool import Live, Opener
from kai.turns.protection import refuse_shared
from kai.turns.route import Route
from kai.turns.survivors import Survivor


def may_go_on(row: SessionRow, route: Route) -> bool:
    """Back to its own default an agent's session is not brought: only a new one has it for sure."""
    return bool(route.model or not row.model) and bool(route.effort or not row.effort)


class Opening:
    """Makes what a session is started under and starts it."""

    def __init__(self, parts: Parts) -> None:
        self._parts = parts
        self.background = Background(parts)

    async def epoch(self, route: Route) -> str:
        """The hash of all that a session of this route is started under. Raises `LaunchError` when it may not be."""
        if route.temporary:
            refuse_lasting(route.manifest)
        while (known := await to_thread.run_sync(self.known_epoch, route)) is None:
            await self._parts.backends.installed(route.manifest, route.os_user)
        return known

    def known_epoch(self, route: Route) -> str | None:
        """The same, when it is known how the backend is installed here. Blocks for a look at one file of the home."""
        manifest = route.manifest
        installed = self._parts.backends.known(manifest, route.os_user)
        if installed is None:
            return None
        return epoch(
            Grounds(
                backend=manifest.id,
                version=installed.version,
                # The plan and not its result: the same argv follows from it, without a look at the disk each turn.
                argv=(installed.program or "", repr(manifest.launch), route.permissions),
                workspace=str(route.workspace),
                os_user=route.os_user,
                channel=route.channel.channel,
                kind=route.channel.kind,
                audience=route.channel.members,
                agent=route.agent.revision,
                memory=memory_mode(self._parts.config.settings, route),
                model=route.model,
                effort=route.effort,
                sets_model=manifest.can.set_model,
                identity=identity_mark(self._parts, route),
                tools=tuple(tool.name for tool in route_tools(self._parts, route)),
            )
        )

    async def row(self, route: Route, epoch: str, *, resume: bool) -> SessionRow:
        """A new session's row; with the native id to take up again when one was left within the same epoch."""
        now = self._parts.clock.now()
        before = None
        if resume and route.manifest.can.resume and not route.temporary:  # of such a one nothing is left to take up
            before = await self._parts.store.read(
                sessions.latest,
                route.channel.channel,
                route.person.principal,
                route.manifest.id,
                epoch,
                str(route.workspace),
            )
        if before is not None and not may_go_on(before, route):
            before = None
        return SessionRow(
            session=SessionId(fresh("s")),
            channel=route.channel.channel,
            principal=route.person.principal,
            backend=route.manifest.id,
            epoch=epoch,
            workspace=str(route.workspace),
            native_id=before.native_id if before else "",
            turns=0,
            state="live",
            created_at=now,
            used_at=now,
            model=route.model,
            effort=route.effort,
        )

    async def fit(self, held: Live, route: Route) -> bool:
        """Make a session work with the model and effort of `route`. False: only a new process of it can.

        Raises `SessionLostError` when the agent does not take them.
        """
        if (held.row.model, held.row.effort) == (route.model, route.effort):
            return True
        row = replace(held.row, model=route.model, effort=route.effort)
        # First, so that what a transcript may go on with is never better known to its agent than here.
        await self._parts.store.write_soft(sessions.open, row)
        try:
            await held.session.set_model(route.model if route.model != held.row.model else "", route.effort)
        except SessionBrokenError:
            return False
        held.row = row
        log.info("session.model_set", session=row.session, model=held.session.ready.model)
        return True

    def setup(self, route: Route, run: RunId) -> DriverSetup:
        """What the driver of a session is told."""
        return DriverSetup(
            manifest=route.manifest,
            cwd=str(route.workspace),
            model=route.model,
            effort=route.effort,
            permissions=route.permissions,
            temporary=route.temporary,
            mcp_servers=offered(self._parts, route, run),
        )

    def opener(self, route: Route, row: SessionRow, run: RunId) -> Opener:
        """Starts the session of `row` when it is called and entered."""

        @asynccontextmanager
        async def open_it() -> AsyncIterator[Session]:
            await refuse_shared(self._parts, route.os_user)
            await self._parts.backends.refuse_old(route.manifest, route.os_user)
            setup = await to_thread.run_sync(self.setup, route, run)
            has_login = await self._parts.backends.has_login(route.manifest, route.os_user)
            planned = await to_thread.run_sync(
                self._plan, route, row.native_id, run, fills(setup.mcp_servers), has_login
            )
            for note in () if route.delegated else planned.notes:
                await self.background.note(row.channel, note)
            limits = self._parts.config.settings.limits.over(route.manifest.limits)
            async with (
                self._known(route, row, run),
                open_session(
                    self._parts.launcher,
                    planned.spec,
                    driver_for(setup),
                    limits,
                    clock=self._parts.clock,
                    wire_path=self._parts.runs / run / "wire",
                    resume=row.native_id,
                    helpers=route.manifest.helpers,
                    on_unsolicited=self.background.listener(row.channel, route.manifest.title, route.temporary),
                ) as session,
            ):
                yield session

        return open_it

    @asynccontextmanager
    async def _known(self, route: Route, row: SessionRow, run: RunId) -> AsyncIterator[None]:
        """While its processes live, they are let in on the agents' face."""
        runs = self._parts.live_runs
        begin = partial(
            runs.begin, run, session=row.session, channel=row.channel, principal=row.principal,
            os_user=route.os_user, agent=route.agent, temporary=route.temporary, depth=route.depth,
            is_shared=route.is_shared,
        )  # fmt: skip
        await to_thread.run_sync(begin)
        try:
            yield
        finally:
            with CancelScope(shield=True):
                await to_thread.run_sync(runs.end, run)

    def taker(self, route: Route, row: SessionRow, survivor: Survivor) -> Opener:
        """Takes the session of `row` over, which a former daemon began, when it is called and entered."""
        manifest, run = route.manifest, survivor.run

        @asynccontextmanager
        async def take_it() -> AsyncIterator[Session]:
            claimed = await self._parts.launcher.claim(run, survivor.pipes)
            setup = await to_thread.run_sync(self.setup, route, run)
            async with (
                self._known(route, row, run),
                take_session_over(
                    claimed,
                    driver_for(setup),
                    self._parts.config.settings.limits.over(manifest.limits),
                    clock=self._parts.clock,
                    wire_path=self._parts.runs / run / "wire",
                    helpers=manifest.helpers,
                    on_unsolicited=self.background.listener(row.channel, manifest.title, route.temporary),
                ) as session,
            ):
                yield session

        return take_it

    def _plan(
        self, route: Route, resume: str, run: RunId, mcp: Mapping[str, str], has_login: bool | None
    ) -> LaunchPlanned:
        planned = plan(
            route.manifest,
            run=run,
            model=route.model,
            effort=route.effort,
            permissions=route.permissions,
            resume=resume,
            temporary=route.temporary,
            workspace=route.workspace,
            os_user=route.os_user,
            home=home_of_login(route.os_user),
            socket_path=self._parts.socket,
            token_path=self._parts.live_runs.token_file(run, route.os_user),
            mcp=mcp,
            looks=() if route.manifest.can.mcp else looking(self._parts, route),
            has_login=has_login,
        )
        return replace(planned, spec=replace(planned.spec, hold_s=self._parts.launcher.hold_s))

    async def handshake(self, manifest: Manifest, os_user: str) -> dict[str, Any]:
        """Start a backend in an empty folder, wait until it is ready, and end it. Raises `KaiError`."""
        parts = self._parts
        place, started = parts.runs / fresh("r"), parts.clock.monotonic()
        home = None if os_user == own_user() else await to_thread.run_sync(home_of_login, os_user)
        has_login = await parts.backends.has_login(manifest, os_user)
        async with trial(parts.launcher, manifest, os_user, parts.clock, place, home=home, has_login=has_login) as (
            session,
            notes,
        ):
            return {
                "ready": True,
                "seconds": round(parts.clock.monotonic() - started, 3),
                "told_version": session.ready.version,
                "model": session.ready.model,
                "notes": list(notes),
            }
