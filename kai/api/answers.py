"""How answers go out over ASGI: JSON, problems, files, streams."""

import json
from collections.abc import AsyncGenerator, AsyncIterator, Awaitable, Callable
from dataclasses import dataclass
from typing import Any
from urllib.parse import quote

import anyio
import anyio.lowlevel
from pydantic_core import PydanticSerializationError, to_json, to_jsonable_python
from starlette.types import ASGIApp, Receive, Send

from kai.api.problems import document
from kai.log import log
from kai.model.errors import ApiError, KaiError
from kai.model.ids import fresh
from kai.model.messages import AttachmentInfo

JSON = "application/json"
PROBLEM = "application/problem+json"
SSE = "text/event-stream"
TEXT = "text/plain; charset=utf-8"
_PIECE_BYTES = 256 * 1024
Headers = tuple[tuple[bytes, bytes], ...]


@dataclass(frozen=True, slots=True)
class Event:
    """One server-sent event. `number` None leaves the reader's place as it is (progress)."""

    name: str
    data: Any
    number: int | None = None


@dataclass(frozen=True, slots=True)
class Forwarded:
    """An answer that another application gives to the whole request, its body too."""

    app: ASGIApp


@dataclass(frozen=True, slots=True)
class Stream:
    """Server-sent events: `source`, each item as `shape` tells it."""

    source: AsyncIterator[Any]
    shape: Callable[[Any], Event]


def as_json(value: Any) -> bytes:
    """Compact JSON of model values: field names, enums by value, times in ISO 8601 with their offset."""
    try:
        return to_json(value)
    except PydanticSerializationError:
        # What an agent wrote may hold half a surrogate pair; to lose the whole answer over it would be worse.
        return json.dumps(to_jsonable_python(value), ensure_ascii=False).encode("utf-8", "replace")


async def respond(send: Send, status: int, body: bytes, media_type: str, headers: Headers = ()) -> None:
    """One whole answer."""
    head = ((b"content-type", media_type.encode()), (b"content-length", b"%d" % len(body)), *headers)
    await send({"type": "http.response.start", "status": status, "headers": () if status == 204 else head})
    await send({"type": "http.response.body", "body": body})


async def refuse(send: Send, error: KaiError, headers: Headers = ()) -> None:
    """The problem document of an error."""
    problem = document(error)
    if problem.status in (408, 413):
        headers = ((b"connection", b"close"),)  # the rest of the body is not worth reading
    await respond(send, problem.status, as_json(problem), PROBLEM, headers)


def fault(error: Exception, **where: Any) -> ApiError:
    """Log an error that nobody foresaw under a fresh id, and give what may be said of it outside."""
    found = fresh("e")
    log.error("api.fault", fault=found, exc_info=error, **where)
    return ApiError(500, "Fault", f"kai made a mistake of its own; the daemon's log has the details under {found}.")


def encoded_problem(error: KaiError) -> bytes:
    """A whole HTTP/1.1 answer that closes the connection, for where no request could be read."""
    problem = document(error)
    body = as_json(problem)
    head = f"HTTP/1.1 {problem.status} {problem.title}\r\ncontent-type: {PROBLEM}\r\n"
    return f"{head}content-length: {len(body)}\r\nconnection: close\r\n\r\n".encode() + body


async def send_file(send: Send, info: AttachmentInfo) -> None:
    """The bytes of a stored file, read in a worker thread, a piece at a time. Raises `OSError` before the first."""
    async with await anyio.open_file(info.path, "rb") as file:
        head = (
            (b"content-type", info.media_type.encode()),
            (b"content-length", b"%d" % info.size_bytes),
            (b"content-disposition", f"attachment; filename*=UTF-8''{quote(info.name, safe='')}".encode()),
            (b"x-content-type-options", b"nosniff"),
        )
        await send({"type": "http.response.start", "status": 200, "headers": head})
        while piece := await file.read(_PIECE_BYTES):
            await send({"type": "http.response.body", "body": piece, "more_body": True})
    await send({"type": "http.response.body", "body": b""})


async def send_stream(
    receive: Receive,
    send: Send,
    stream: Stream,
    heartbeat_s: float,
    open_streams: set[anyio.CancelScope],
    still_may: Callable[[], Awaitable[None]] = anyio.lowlevel.checkpoint,
) -> None:
    """Send events until their source ends, the reader goes, or the server cancels the scope in `open_streams`.

    `still_may` is asked before each event, and raises once the reader may see no more of it.

    Nothing is buffered here: the source is asked for the next item only when the last one has left the process, so
    a slow reader costs one event, and one that stands still is cut by the connection's own limit.
    """
    group = anyio.create_task_group()
    try:
        head = ((b"content-type", SSE.encode()), (b"cache-control", b"no-store"))
        await send({"type": "http.response.start", "status": 200, "headers": head})
        async with group:
            open_streams.add(group.cancel_scope)
            group.start_soon(_watch, receive, send, heartbeat_s, group.cancel_scope)
            await _pump(send, stream, still_may)
            group.cancel_scope.cancel()
    finally:
        open_streams.discard(group.cancel_scope)
        if isinstance(stream.source, AsyncGenerator):
            await stream.source.aclose()
    await send({"type": "http.response.body", "body": b""})


async def _pump(send: Send, stream: Stream, still_may: Callable[[], Awaitable[None]]) -> None:
    """Send what there is. An error of the source becomes the last event, `problem`."""
    try:
        async for item in stream.source:
            await still_may()
            await _push(send, stream.shape(item))
    except KaiError as error:
        await _push(send, Event("problem", document(error)))
    except Exception as error:  # noqa: BLE001 - the boundary of a request: the fault is logged, the reader told
        await _push(send, Event("problem", document(fault(error))))


async def _push(send: Send, event: Event) -> None:
    number = b"" if event.number is None else b"id: %d\n" % event.number
    body = b"%sevent: %s\ndata: %s\n\n" % (number, event.name.encode(), as_json(event.data))
    await send({"type": "http.response.body", "body": body, "more_body": True})
    # To a reader that has gone, sending returns at once: without a pause nothing would ever notice, and a source
    # with much to give would give it all to nobody.
    await anyio.lowlevel.checkpoint()


async def _watch(receive: Receive, send: Send, heartbeat_s: float, scope: anyio.CancelScope) -> None:
    """End the stream when its reader goes; say now and then that we are still here."""
    gone = False
    while not gone:
        with anyio.move_on_after(heartbeat_s) as wait:
            gone = (await receive())["type"] == "http.disconnect"
        if wait.cancelled_caught:
            await send({"type": "http.response.body", "body": b": alive\n\n", "more_body": True})
    scope.cancel()
