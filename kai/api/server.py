"""Serves both faces: the sockets, uvicorn's protocol on them without its signal handlers, and an end that ends."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from functools import partial
from pathlib import Path

import anyio
import anyio.lowlevel
from anyio import to_thread
from starlette.types import ASGIApp
from uvicorn.config import Config
from uvicorn.server import ServerState

from kai.api.connection import PeerConnection, connections
from kai.api.endpoint import Parts
from kai.api.faces import agents_face, people_face
from kai.api.limits import ApiLimits
from kai.api.sockets import bind
from kai.log import log

PEOPLE = "people.sock"
AGENTS = "agents.sock"


@dataclass(frozen=True, slots=True)
class Groups:
    """Ids of the OS groups that may connect beside the daemon's own user; None: nobody."""

    people: int | None = None
    agents: int | None = None


@asynccontextmanager
async def serve(parts: Parts, runtime: Path, groups: Groups | None = None) -> AsyncIterator[None]:
    """Both sockets take requests inside the context. Raises `FolderError` when the runtime folder cannot be used.

    The caller holds the daemon's lock and owns the signals. At the end no request is left running: streams are
    closed, requests get `stop_s` to end, then they are cancelled.
    """
    groups = groups or Groups()
    await to_thread.run_sync(parts.attachments.prepare)
    async with (
        _listen(runtime / AGENTS, groups.agents, agents_face(parts), parts),
        _listen(runtime / PEOPLE, groups.people, people_face(parts), parts),
    ):
        log.info("api.ready", runtime=str(runtime))
        yield


@asynccontextmanager
async def _listen(path: Path, group: int | None, app: ASGIApp, parts: Parts) -> AsyncIterator[None]:
    config = Config(
        app,
        http=PeerConnection,
        interface="asgi3",
        lifespan="off",
        ws="none",
        log_config=None,
        log_level="critical",  # what is worth a line is logged by kai
        access_log=False,
        proxy_headers=False,
        server_header=False,
        date_header=False,
        timeout_keep_alive=parts.limits.idle_s,
    )
    config.load()
    state = ServerState()
    # Not uvicorn's Server: it takes the signals, and wakes ten times a second for its date header.
    loop = asyncio.get_running_loop()
    bound = await to_thread.run_sync(partial(bind, path, group=group))
    server = await loop.create_server(connections(config, state, parts.limits), sock=bound.listener)
    try:
        yield
    finally:
        with anyio.CancelScope(shield=True):
            server.close()
            await to_thread.run_sync(bound.remove)
            await _end(state, parts)


async def _end(state: ServerState, parts: Parts) -> None:
    for scope in list(parts.streams):
        scope.cancel()
    for connection in list(state.connections):
        connection.shutdown()
    await _ended(state, parts.limits)
    for task in list(state.tasks):
        task.cancel()
    await _ended(state, parts.limits)
    for connection in list(state.connections):
        connection.transport.abort()
    await anyio.lowlevel.checkpoint()  # the aborted ones are told


async def _ended(state: ServerState, limits: ApiLimits) -> None:
    if state.tasks:
        await asyncio.wait(list(state.tasks), timeout=limits.stop_s)
