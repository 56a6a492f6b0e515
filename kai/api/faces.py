"""The two faces: the people's, and the agents', which share neither a route nor a credential.

What they lead to is made at the first question. Only whether the daemon is alive is told without: whatever watches a
daemon asks it all the time, and that must not make an idle one hold what it does not need.
"""

from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import anyio
from anyio import to_thread
from starlette.types import ASGIApp, Receive, Scope, Send

from kai.api.limits import ApiLimits
from kai.api.peers import run_of_peer
from kai.first_use import importing
from kai.model.errors import DeniedError, KaiError
from kai.model.ids import RunId

if TYPE_CHECKING:
    from kai.api.endpoint import Parts

ALIVE = b"ok\n"
_HEADERS = ((b"content-type", b"text/plain; charset=utf-8"), (b"content-length", b"%d" % len(ALIVE)))


@dataclass(frozen=True, slots=True)
class Threshold:
    """What stands at the door before anybody has asked. `parts` gives all that is behind it, made at the first call.

    `run_of` tells the run that a process id belongs to, by whatever tells of one; `surely_of` only by what a process
    cannot change. Both may block, and are called in a worker thread.
    """

    parts: "Callable[[], Awaitable[Parts]]"
    run_of: Callable[[int], RunId | None]
    surely_of: Callable[[int], RunId | None] = lambda _: None
    limits: ApiLimits = field(default_factory=ApiLimits)
    streams: set[anyio.CancelScope] = field(default_factory=set)


def people_face(threshold: Threshold) -> ASGIApp:
    """For bridges, operators and a person's own shell. A process of a run is refused, whoever its user is."""

    async def admit(scope: Scope) -> None:
        run = await run_of_peer(scope["kai.peer"], threshold.run_of)
        if run is not None:
            raise DeniedError(f"a process of run {run} is no person", "Agents use the socket named in $KAI_SOCKET.")

    return _face(threshold, admit, _to_people, {"/healthz"})


def agents_face(threshold: Threshold) -> ASGIApp:
    """For processes of a run, and nobody else: which run is told by the process itself, or by its token."""

    async def admit(scope: Scope) -> None:
        peer, parts = scope["kai.peer"], await threshold.parts()
        if parts.agents is None:
            raise DeniedError("no agent is served here")
        run = await run_of_peer(peer, threshold.surely_of)
        scope["kai.run"] = parts.agents.admit(peer.uid, run, _token(scope))

    return _face(threshold, admit, _to_agents, set())


def _face(
    threshold: Threshold,
    admit: Callable[[Scope], Awaitable[None]],
    load: "Callable[[Parts], ASGIApp]",
    at_rest: set[str],
) -> ASGIApp:
    router: ASGIApp | None = None

    async def face(scope: Scope, receive: Receive, send: Send) -> None:
        nonlocal router
        try:
            await admit(scope)
            if router is None and not (scope["path"] in at_rest and scope["method"] == "GET"):
                router = await to_thread.run_sync(load, await threshold.parts())
        except KaiError as error:
            await _refuse(send, error)
        except Exception as error:  # noqa: BLE001 - the boundary of a request; whoever is not known to be outside stays out
            await _refuse(send, error)
        else:
            await (router or _alive)(scope, receive, send)

    return face


async def _alive(_: Scope, __: Receive, send: Send) -> None:
    await send({"type": "http.response.start", "status": 200, "headers": _HEADERS})
    await send({"type": "http.response.body", "body": ALIVE})


async def _refuse(send: Send, error: Exception) -> None:
    from kai.api.answers import fault, refuse  # noqa: PLC0415 - first use

    await refuse(send, error if isinstance(error, KaiError) else fault(error))


def _to_people(parts: "Parts") -> ASGIApp:
    with importing():
        from kai.api.endpoint import router_of  # noqa: PLC0415 - first use
        from kai.api.routes import ROUTES  # noqa: PLC0415
    return router_of(parts, ROUTES)


def _to_agents(parts: "Parts") -> ASGIApp:
    with importing():
        from kai.api.agent_routes import AGENT_ROUTES  # noqa: PLC0415 - first use
        from kai.api.endpoint import router_of  # noqa: PLC0415
    return router_of(parts, AGENT_ROUTES)


def _token(scope: Scope) -> str:
    from kai.api.requests import header  # noqa: PLC0415 - first use

    scheme, _, token = header(scope, b"authorization").partition(" ")
    return token.strip() if scheme.lower() == "bearer" else ""
