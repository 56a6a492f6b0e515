"""Serves both faces: the sockets, uvicorn's protocol on them without its signal handlers, and an end that ends."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from functools import partial
from pathlib import Path

import anyio
import anyio.lowlevel
from anyio import to_thread
from starlette.types import ASGIApp
from uvicorn.config import Config
from uvicorn.server import ServerState

from kai.api.connection import Gate, PeerConnection
from kai.api.faces import Threshold, agents_face, people_face
from kai.api.limits import ApiLimits
from kai.api.sockets import bind
from kai.log import log
from kai.settings.where import Folders, prepare

PEOPLE = "people.sock"
AGENTS = "agents.sock"


@asynccontextmanager
async def serve(
    threshold: Threshold, folders: Folders, *, people_group: int | None = None, agents_group: int | None = None
) -> AsyncIterator[None]:
    """Both sockets take requests inside the context. Raises `FolderError` when the folders cannot be used.

    The groups are ids of OS groups that may connect beside the daemon's own user. The caller holds the daemon's lock
    and owns the signals. At the end streams are closed, requests get `stop_s` to end, and are then cancelled.
    """
    await to_thread.run_sync(prepare, folders)
    people, agents = folders.socket(PEOPLE), folders.socket(AGENTS)
    for_all, limits, streams = folders.is_of_service, threshold.limits, threshold.streams
    async with (
        _listen(agents, agents_group, agents_face(threshold), limits, streams, for_all=for_all),
        _listen(people, people_group, people_face(threshold), limits, streams, for_all=for_all),
    ):
        log.info("api.ready", people=str(people), agents=str(agents))
        yield


@asynccontextmanager
async def shut(door: ASGIApp, folders: Folders) -> AsyncIterator[None]:
    """The people's socket refuses everything inside the context. Raises `FolderError`."""
    await to_thread.run_sync(prepare, folders)
    async with _listen(folders.socket(PEOPLE), None, door, ApiLimits(), set(), for_all=folders.is_of_service):
        yield


@asynccontextmanager
async def _listen(
    path: Path,
    group: int | None,
    app: ASGIApp,
    limits: ApiLimits,
    streams: set[anyio.CancelScope],
    *,
    for_all: bool = False,
) -> AsyncIterator[None]:
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
        timeout_keep_alive=limits.idle_s,
    )
    config.load()
    state = ServerState()
    bound = await to_thread.run_sync(partial(bind, path, group, for_all=for_all))
    # Not uvicorn's Server: it takes the signals, and wakes ten times a second for its date header.
    loop = asyncio.get_running_loop()
    gate = Gate(limits)
    server = await loop.create_server(lambda: PeerConnection(config, state, gate), sock=bound.listener)
    try:
        yield
    finally:
        with anyio.CancelScope(shield=True):
            server.close()
            await to_thread.run_sync(bound.remove)
            await _end(state, limits.stop_s, streams)


async def _end(state: ServerState, stop_s: float, streams: set[anyio.CancelScope]) -> None:
    for scope in tuple(streams):
        scope.cancel()
    for connection in tuple(state.connections):
        connection.shutdown()
    await _ended(state, stop_s)
    for task in tuple(state.tasks):
        task.cancel()
    await _ended(state, stop_s)
    for connection in tuple(state.connections):
        connection.transport.abort()
    await anyio.lowlevel.checkpoint()  # the aborted ones are told


async def _ended(state: ServerState, limit_s: float) -> None:
    if state.tasks:
        await asyncio.wait(tuple(state.tasks), timeout=limit_s)
