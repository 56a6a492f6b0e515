"""One route: how it is described, and the ASGI application that carries it out."""

from collections.abc import Awaitable, Callable, Iterable
from dataclasses import dataclass, field
from typing import Any, get_type_hints

import anyio
from starlette.routing import Route as PathRoute
from starlette.routing import Router
from starlette.types import Receive, Scope, Send

from kai.api.answers import JSON, TEXT, Forwarded, Stream, as_json, fault, refuse, respond, send_file, send_stream
from kai.api.attachments import AttachmentFolder
from kai.api.bodies import Body, Fields, NoQuery, checked
from kai.api.callers import Callers
from kai.api.limits import ApiLimits
from kai.api.requests import header, json_body, query
from kai.model.errors import ApiError, DeniedError, KaiError
from kai.model.messages import AttachmentInfo
from kai.tools.door import AgentDoor
from kai.turns.door import Caller, Door

NOBODY = Caller(None, "", operator=False, os_user="")


@dataclass(frozen=True, slots=True)
class Parts:
    """All that the handlers stand on. The callables are asked each time, so that a reload is felt at once."""

    door: Door
    callers: Callers
    attachments: AttachmentFolder
    max_body_bytes: Callable[[], int]
    max_attachment_bytes: Callable[[], int]
    agents: AgentDoor | None = None  # None: no agent is let in
    limits: ApiLimits = field(default_factory=ApiLimits)
    streams: set[anyio.CancelScope] = field(default_factory=set)


@dataclass(frozen=True, slots=True)
class Call:
    """One request, checked. `id` is the part of the path in braces, `fields` those of query and body by name."""

    caller: Caller
    id: str
    fields: dict[str, Any]
    parts: Parts
    scope: Scope
    receive: Receive

    @property
    def door(self) -> Door:
        return self.parts.door


Handler = Callable[[Call], Awaitable[Any]]


@dataclass(frozen=True, slots=True)
class Route:
    """A line of the table: routes, checks and the OpenAPI document all come from it.

    `fields` says what may be sent: a `Body` as JSON, a `Query` behind the question mark (a body is then raw bytes, for
    the handler to read). `is_open`: for whoever may connect; its caller is nobody. `changes_callers`: afterwards
    everybody is looked up anew.
    """

    method: str
    path: str
    handler: Handler
    summary: str
    fields: type[Fields] = NoQuery
    status: int = 200
    is_open: bool = False
    changes_callers: bool = False


def asks(method: Callable[..., Any]) -> Handler:
    """A handler that hands caller, id and all fields to a method of the door."""

    async def handler(call: Call) -> Any:
        ids = (call.id,) if call.id else ()
        return await getattr(call.door, method.__name__)(call.caller, *ids, **call.fields)

    handler.__name__ = method.__name__
    handler.__annotations__["return"] = get_type_hints(method)["return"]
    return handler


def router_of(parts: Parts, routes: Iterable[Route]) -> Router:
    """Starlette's router over a table."""
    by_path: dict[str, Methods] = {}
    for route in routes:
        by_path.setdefault(route.path, Methods()).endpoints[route.method] = Endpoint(route, parts)
    paths = [PathRoute(path, methods) for path, methods in by_path.items()]
    return Router(paths, redirect_slashes=False, default=_nowhere)


async def _nowhere(scope: Scope, _: Receive, send: Send) -> None:
    await refuse(send, ApiError(404, "No route", f"There is no {scope['method']} {scope['path'][:200]} here."))


class Endpoint:
    """Carries out one route. The boundary of a request: every error ends here as a problem document."""

    def __init__(self, route: Route, parts: Parts) -> None:
        self._route = route
        self._parts = parts

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        route = self._route
        try:
            call = await self._call(scope, receive)
            await self._send(call, send, await route.handler(call))
        except KaiError as error:
            await refuse(send, error)
        except Exception as error:  # noqa: BLE001 - the boundary of a request: logged, and said without a traceback
            # Behind the first byte of an answer uvicorn takes no second one, and closes: none takes a part for all.
            await refuse(send, fault(error, route=f"{route.method} {route.path}"))
        finally:
            if route.changes_callers:
                self._parts.callers.forget()

    async def _call(self, scope: Scope, receive: Receive) -> Call:
        route, parts = self._route, self._parts
        caller = NOBODY
        if not route.is_open:
            caller = await self._caller(scope)
        if issubclass(route.fields, Body):
            if scope["query_string"]:
                checked(NoQuery, query(scope))
            data = await json_body(scope, receive, parts.max_body_bytes())
        else:
            data = query(scope)
        fields = dict(checked(route.fields, data))
        return Call(caller, scope["path_params"].get("id", ""), fields, parts, scope, receive)

    async def _caller(self, scope: Scope) -> Caller:
        return await self._parts.callers.resolve(scope["kai.peer"], header(scope, b"kai-as"))

    async def _send(self, call: Call, send: Send, answer: Any) -> None:
        status, parts = self._route.status, self._parts

        async def still_may() -> None:
            if await self._caller(call.scope) != call.caller:
                raise DeniedError("what you may do here has changed", "Connect again.")

        match answer:
            case Stream():
                await send_stream(call.receive, send, answer, parts.limits.heartbeat_s, parts.streams, still_may)
            case AttachmentInfo():
                await send_file(send, answer)
            case Forwarded():
                await answer.app(call.scope, call.receive, send)
            case str():
                await respond(send, status, answer.encode(), TEXT)
            case _:
                await respond(send, status, b"" if status == 204 else as_json(answer), JSON)


class Methods:
    """One path: hands each method to its endpoint."""

    def __init__(self) -> None:
        self.endpoints: dict[str, Endpoint] = {}

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        endpoint = self.endpoints.get(scope["method"])
        if endpoint is None:
            allowed = ", ".join(sorted(self.endpoints))
            error = ApiError(405, "Wrong method", f"This path does not take {scope['method']}.", "", f"Use {allowed}.")
            await refuse(send, error, ((b"allow", allowed.encode()),))
        else:
            await endpoint(scope, receive, send)
