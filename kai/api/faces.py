"""The two faces: the people's, and the agents', which share neither a route nor a credential."""

from collections.abc import Iterable
from typing import Any

from anyio import to_thread
from starlette.routing import Route as PathRoute
from starlette.routing import Router
from starlette.types import ASGIApp, Receive, Scope, Send

from kai.api import household, messages, turns
from kai.api.answers import fault, refuse
from kai.api.bodies import NoBody, NoQuery
from kai.api.callers import run_of_peer
from kai.api.endpoint import Call, Endpoint, Methods, Parts, Route
from kai.api.openapi import document
from kai.api.problems import NoRouteError
from kai.model.errors import DeniedError, KaiError


async def openapi(_: Call[NoBody, NoQuery]) -> dict[str, Any]:
    """This document."""
    return await to_thread.run_sync(document, PEOPLE_ROUTES)


async def whoami(call: Call[NoBody, NoQuery]) -> dict[str, str]:
    """The run that the asking process belongs to."""
    return {"run": str(call.scope["kai.peer"].run)}


# The order is that of the look-up: what is asked most stands first.
PEOPLE_ROUTES: tuple[Route, ...] = (
    *messages.ROUTES,
    *turns.ROUTES,
    *household.ROUTES,
    Route("GET", "/v1/openapi.json", openapi),
)
AGENT_ROUTES: tuple[Route, ...] = (Route("GET", "/v1/agent/whoami", whoami, is_open=True),)


def people_face(parts: Parts) -> ASGIApp:
    """For bridges, operators and a person's own shell. A process of a run is refused, whoever its user is."""
    return _face(parts, PEOPLE_ROUTES, for_runs=False)


def agents_face(parts: Parts) -> ASGIApp:
    """For processes of a run, and nobody else."""
    return _face(parts, AGENT_ROUTES, for_runs=True)


def _face(parts: Parts, routes: Iterable[Route], *, for_runs: bool) -> ASGIApp:
    router = _router(parts, routes)

    async def face(scope: Scope, receive: Receive, send: Send) -> None:
        try:
            run = await run_of_peer(scope["kai.peer"], parts.run_of)
            _admit(run, for_runs=for_runs)
        except KaiError as error:
            await refuse(send, error)
        except Exception as error:  # noqa: BLE001 - the boundary of a request; whoever is not known to be outside stays out
            await refuse(send, fault(error))
        else:
            await router(scope, receive, send)

    return face


def _admit(run: str | None, *, for_runs: bool) -> None:
    if for_runs and run is None:
        raise DeniedError("this socket is for agents that kai has started", "People use people.sock.")
    if not for_runs and run is not None:
        raise DeniedError(f"a process of run {run} is no person", "Agents use the socket named in $KAI_SOCKET.")


def _router(parts: Parts, routes: Iterable[Route]) -> Router:
    by_path: dict[str, Methods] = {}
    for route in routes:
        by_path.setdefault(route.path, Methods()).endpoints[route.method] = Endpoint(route, parts)
    paths = [PathRoute(path, methods) for path, methods in by_path.items()]
    return Router(paths, redirect_slashes=False, default=_nowhere)


async def _nowhere(scope: Scope, receive: Receive, send: Send) -> None:
    del receive  # nobody reads what was sent to nowhere
    await refuse(send, NoRouteError(scope["method"], scope["path"][:200]))
