"""The two faces: the people's, and the agents', which share neither a route nor a credential."""

from collections.abc import Awaitable, Callable, Iterable
from functools import partial
from typing import Any

from starlette.routing import Route as PathRoute
from starlette.routing import Router
from starlette.types import ASGIApp, Receive, Scope, Send

from kai.api.answers import Forwarded, fault, refuse
from kai.api.callers import run_of_peer
from kai.api.endpoint import Call, Endpoint, Methods, Parts, Route
from kai.api.requests import header, json_body
from kai.api.routes import ROUTES
from kai.model.errors import ApiError, BadInputError, DeniedError, KaiError
from kai.tools.door import AgentDoor


async def whoami(call: Call) -> dict[str, Any]:
    return await _door(call.parts).whoami(call.scope["kai.run"])


async def tools(call: Call) -> list[dict[str, Any]]:
    return await _door(call.parts).tools(call.scope["kai.run"])


async def call_tool(call: Call) -> dict[str, Any]:
    arguments = await json_body(call.scope, call.receive, call.parts.max_body_bytes())
    if not isinstance(arguments, dict):
        raise BadInputError("body", "is no object")
    return await _door(call.parts).call(call.scope["kai.run"], call.id, arguments)


async def speak_mcp(call: Call) -> Forwarded:
    from kai.api import mcp  # noqa: PLC0415 - loaded at first use

    live, cap_bytes = call.scope["kai.run"], call.parts.max_body_bytes()
    return Forwarded(partial(mcp.answer, _door(call.parts), live, cap_bytes))


def _door(parts: Parts) -> AgentDoor:
    if parts.agents is None:
        raise DeniedError("no agent is served here")
    return parts.agents


def _token(scope: Scope) -> str:
    scheme, _, token = header(scope, b"authorization").partition(" ")
    return token.strip() if scheme.lower() == "bearer" else ""


# `is_open`: no person is looked up; the face itself has let the run in.
AGENT_ROUTES = (
    Route("GET", "/v1/agent/whoami", whoami, "What the asking process is taken for.", is_open=True),
    Route("GET", "/v1/tools", tools, "The tools that this run may call.", is_open=True),
    Route("POST", "/v1/tools/{id}", call_tool, "Call a tool: its arguments are the body.", is_open=True),
    Route("POST", "/v1/mcp", speak_mcp, "One message of the Model Context Protocol.", is_open=True),
)


def people_face(parts: Parts) -> ASGIApp:
    """For bridges, operators and a person's own shell. A process of a run is refused, whoever its user is."""

    async def admit(scope: Scope) -> None:
        run = await run_of_peer(scope["kai.peer"], parts.run_of)
        if run is not None:
            raise DeniedError(f"a process of run {run} is no person", "Agents use the socket named in $KAI_SOCKET.")

    return _face(router_of(parts, ROUTES), admit)


def agents_face(parts: Parts) -> ASGIApp:
    """For processes of a run, and nobody else: which run is told by the process itself, or by its token."""

    async def admit(scope: Scope) -> None:
        peer = scope["kai.peer"]
        run = await run_of_peer(peer, parts.surely_of)
        scope["kai.run"] = _door(parts).admit(peer.uid, run, _token(scope))

    return _face(router_of(parts, AGENT_ROUTES), admit)


def _face(router: Router, admit: Callable[[Scope], Awaitable[None]]) -> ASGIApp:
    async def face(scope: Scope, receive: Receive, send: Send) -> None:
        try:
            await admit(scope)
        except KaiError as error:
            await refuse(send, error)
        except Exception as error:  # noqa: BLE001 - the boundary of a request; whoever is not known to be outside stays out
            await refuse(send, fault(error))
        else:
            await router(scope, receive, send)

    return face


def router_of(parts: Parts, routes: Iterable[Route]) -> Router:
    """Starlette's router over a table."""
    by_path: dict[str, Methods] = {}
    for route in routes:
        by_path.setdefault(route.path, Methods()).endpoints[route.method] = Endpoint(route, parts)
    paths = [PathRoute(path, methods) for path, methods in by_path.items()]
    return Router(paths, redirect_slashes=False, default=_nowhere)


async def _nowhere(scope: Scope, _: Receive, send: Send) -> None:
    await refuse(send, ApiError(404, "No route", f"There is no {scope['method']} {scope['path'][:200]} here."))
