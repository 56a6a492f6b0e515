"""One route: how it is described, and the ASGI application that carries it out."""

from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field
from typing import Any, Generic, TypeVar, get_args, get_type_hints

import anyio
from starlette.types import Message, Receive, Scope, Send

from kai.api.answers import (
    JSON,
    TEXT,
    FileAnswer,
    Stream,
    TextAnswer,
    as_json,
    fault,
    refuse,
    respond,
    send_file,
    send_stream,
)
from kai.api.attachments import AttachmentFolder
from kai.api.bodies import Body, Query, checked
from kai.api.callers import Callers
from kai.api.limits import ApiLimits
from kai.api.problems import WrongMethodError
from kai.api.requests import header, json_body, query
from kai.model.errors import KaiError
from kai.turns.door import Caller, Door

NOBODY = Caller(None, "", operator=False, os_user="")
BodyT = TypeVar("BodyT", bound=Body | None)
QueryT = TypeVar("QueryT", bound=Query)


@dataclass(frozen=True, slots=True)
class Parts:
    """All that the handlers stand on. The callables are asked each time, so that a reload is felt at once.

    `run_of` tells the run that a process id belongs to; it may block, and is called in a worker thread.
    """

    door: Door
    callers: Callers
    attachments: AttachmentFolder
    run_of: Callable[[int], str | None]
    max_body_bytes: Callable[[], int]
    max_attachment_bytes: Callable[[], int]
    limits: ApiLimits = field(default_factory=ApiLimits)
    streams: set[anyio.CancelScope] = field(default_factory=set)


@dataclass(frozen=True, slots=True)
class Call(Generic[BodyT, QueryT]):
    """One request, checked. `id` is the part of the path in braces."""

    caller: Caller
    body: BodyT
    query: QueryT
    id: str
    parts: Parts
    scope: Scope
    receive: Receive

    @property
    def door(self) -> Door:
        return self.parts.door


@dataclass(frozen=True, slots=True)
class Route:
    """A line of the table. The handler's types and docstring say the rest: body, query, answer, summary.

    A handler whose body is `None` reads the raw bytes itself. `is_open`: for whoever may connect; its caller is nobody.
    """

    method: str
    path: str
    handler: Callable[[Call[Any, Any]], Awaitable[Any]]
    status: int = 200
    is_open: bool = False

    def shapes(self) -> tuple[type[Body] | None, type[Query], Any]:
        """The types of its body (None: raw bytes), its query and its answer."""
        call, answer = get_type_hints(self.handler).values()
        body, asked = get_args(call)
        return None if body is type(None) else body, asked, answer


class Endpoint:
    """Carries out one route. The boundary of a request: every error ends here as a problem document."""

    def __init__(self, route: Route, parts: Parts) -> None:
        self._route = route
        self._parts = parts
        body, self._query, _ = route.shapes()
        self._body = None if route.method in ("GET", "DELETE") else body

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        has_started = False

        async def noting(message: Message) -> None:
            nonlocal has_started
            has_started = True
            await send(message)

        try:
            answer = await self._route.handler(await self._call(scope, receive))
            await self._send(receive, noting, answer)
        except KaiError as error:
            problem = error
        except Exception as error:  # noqa: BLE001 - the boundary of a request: logged, and said without a traceback
            problem = fault(error, route=f"{self._route.method} {self._route.path}")
        else:
            return
        if not has_started:
            await refuse(send, problem)
        # Else the answer stays incomplete, and the connection is closed: nobody takes a part for the whole.

    async def _call(self, scope: Scope, receive: Receive) -> Call[Any, Any]:
        parts = self._parts
        caller = NOBODY
        if not self._route.is_open:
            caller = await parts.callers.resolve(scope["kai.peer"], header(scope, b"kai-as"))
        body: Body | None = None
        if self._body is not None:
            body = checked(self._body, await json_body(scope, receive, parts.max_body_bytes(), parts.limits.body_s))
        asked = checked(self._query, query(scope))
        return Call(caller, body, asked, scope["path_params"].get("id", ""), parts, scope, receive)

    async def _send(self, receive: Receive, send: Send, answer: Any) -> None:
        status, parts = self._route.status, self._parts
        match answer:
            case Stream():
                await send_stream(
                    receive, send, answer, heartbeat_s=parts.limits.heartbeat_s, open_streams=parts.streams
                )
            case FileAnswer():
                await send_file(send, answer.info)
            case TextAnswer():
                await respond(send, status, answer.text.encode(), TEXT)
            case _:
                await respond(send, status, b"" if status == 204 else as_json(answer), JSON)


class Methods:
    """One path: hands each method to its endpoint."""

    def __init__(self) -> None:
        self.endpoints: dict[str, Endpoint] = {}

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        endpoint = self.endpoints.get(scope["method"])
        if endpoint is None:
            await refuse(send, WrongMethodError(scope["method"], scope["path"], tuple(sorted(self.endpoints))))
        else:
            await endpoint(scope, receive, send)
