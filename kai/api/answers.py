"""What a handler may give back, and how it goes out over ASGI."""

from collections.abc import AsyncGenerator, AsyncIterator, Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from urllib.parse import quote

import anyio
from anyio import to_thread
from pydantic_core import PydanticSerializationError, to_json
from starlette.types import Receive, Send

from kai.api.problems import FaultError, NoRouteError, ProblemDocument, SlowRequestError, TooLargeError, document
from kai.log import log
from kai.model.errors import KaiError
from kai.model.ids import fresh
from kai.model.messages import AttachmentInfo

JSON = "application/json"
PROBLEM = "application/problem+json"
SSE = "text/event-stream"
_PIECE_BYTES = 256 * 1024


@dataclass(frozen=True, slots=True)
class Event:
    """One server-sent event. `number` None leaves the reader's place as it is (progress)."""

    name: str
    data: Any
    number: int | None = None


@dataclass(frozen=True, slots=True)
class Stream:
    """Server-sent events: `source`, each item as `shape` tells it. `prompt`: the first item comes at once, so that
    an error in its place can still be a status."""

    source: AsyncIterator[Any]
    shape: Callable[[Any], Event]
    prompt: bool = False


@dataclass(frozen=True, slots=True)
class FileAnswer:
    """A stored file as it was sent in."""

    info: AttachmentInfo


@dataclass(frozen=True, slots=True)
class TextAnswer:
    """Plain text."""

    text: str


@dataclass(frozen=True, slots=True)
class JsonAnswer:
    """JSON that is encoded already."""

    body: bytes


def as_json(value: Any) -> bytes:
    """Compact JSON of model values: field names, enums by value, times in ISO 8601 with their offset."""
    try:
        return to_json(value)
    except PydanticSerializationError:
        return to_json(_sound(value))


def _sound(value: Any) -> Any:
    # What an agent wrote may hold half a surrogate pair, which no UTF-8 can carry; a lost answer would be worse.
    match value:
        case str():
            return value.encode("utf-8", "replace").decode()
        case dict():
            return {_sound(key): _sound(item) for key, item in value.items()}
        case list() | tuple() | set() | frozenset():
            return [_sound(item) for item in value]
        case _ if hasattr(value, "__dataclass_fields__"):
            return {name: _sound(getattr(value, name)) for name in value.__dataclass_fields__}
        case _:
            return value


async def respond(
    send: Send, status: int, body: bytes, media_type: str, headers: tuple[tuple[bytes, bytes], ...] = ()
) -> None:
    """One whole answer."""
    head = [(b"content-type", media_type.encode()), *headers]
    if status != 204:
        head.append((b"content-length", b"%d" % len(body)))
    await send({"type": "http.response.start", "status": status, "headers": head})
    await send({"type": "http.response.body", "body": body})


async def refuse(send: Send, error: KaiError) -> None:
    """The problem document of an error."""
    problem = document(error)
    extra: list[tuple[bytes, bytes]] = []
    if isinstance(error, TooLargeError | SlowRequestError):
        extra.append((b"connection", b"close"))  # the rest of the body is not worth reading
    if isinstance(error, NoRouteError) and error.allowed:
        extra.append((b"allow", ", ".join(error.allowed).encode()))
    await respond(send, problem.status, as_json(problem), PROBLEM, tuple(extra))


def fault(error: Exception, **where: Any) -> FaultError:
    """Log an error that nobody foresaw under a fresh id, and give what may be said of it outside."""
    found = FaultError(fresh("e"))
    log.error("api.fault", fault=found.fault, exc_info=error, **where)
    return found


async def send_file(send: Send, answer: FileAnswer) -> None:
    """The bytes of a stored file, read in a worker thread, a piece at a time."""
    info = answer.info
    async with await anyio.open_file(Path(info.path), "rb") as file:
        name = quote(info.name, safe="")
        head = [
            (b"content-type", info.media_type.encode()),
            (b"content-length", b"%d" % info.size_bytes),
            (b"content-disposition", f"attachment; filename*=UTF-8''{name}".encode()),
            (b"x-content-type-options", b"nosniff"),
        ]
        await send({"type": "http.response.start", "status": 200, "headers": head})
        left = info.size_bytes
        while left and (piece := await file.read(min(left, _PIECE_BYTES))):
            left -= len(piece)
            await send({"type": "http.response.body", "body": piece, "more_body": True})
    await send({"type": "http.response.body", "body": b""})


def _encode(event: Event) -> bytes:
    number = b"" if event.number is None else b"id: %d\n" % event.number
    return b"%sevent: %s\ndata: %s\n\n" % (number, event.name.encode(), as_json(event.data))


async def send_stream(
    receive: Receive, send: Send, stream: Stream, *, heartbeat_s: float, open_streams: set[anyio.CancelScope]
) -> None:
    """Send events until their source ends, the reader goes, or the server cancels the scope in `open_streams`.

    Nothing is buffered here: the source is asked for the next item only when the last one has left the process, so
    a slow reader costs one event, and one that stands still is cut by the connection's own limit. An error of the
    source becomes an event `problem`, and ends the stream.
    """
    try:
        first = [item] if stream.prompt and (item := await anext(stream.source, None)) is not None else []
        head = [(b"content-type", SSE.encode()), (b"cache-control", b"no-store")]
        await send({"type": "http.response.start", "status": 200, "headers": head})
        async with anyio.create_task_group() as group:
            open_streams.add(group.cancel_scope)
            group.start_soon(_watch, receive, send, heartbeat_s, group.cancel_scope)
            try:
                await _pump(send, first, stream)
            finally:
                open_streams.discard(group.cancel_scope)
            group.cancel_scope.cancel()
    finally:
        if isinstance(stream.source, AsyncGenerator):
            await stream.source.aclose()
    await send({"type": "http.response.body", "body": b""})


async def _push(send: Send, event: Event) -> None:
    await send({"type": "http.response.body", "body": _encode(event), "more_body": True})


async def _pump(send: Send, first: list[Any], stream: Stream) -> None:
    try:
        for item in first:
            await _push(send, stream.shape(item))
        async for item in stream.source:
            await _push(send, stream.shape(item))
    except KaiError as error:
        await _push(send, Event("problem", document(error)))
    except Exception as error:  # noqa: BLE001 - the boundary of a request: the fault is logged, the reader told
        await _push(send, Event("problem", document(fault(error))))


async def _watch(receive: Receive, send: Send, heartbeat_s: float, scope: anyio.CancelScope) -> None:
    """End the stream when its reader goes; say now and then that we are still here."""
    while True:
        with anyio.move_on_after(heartbeat_s):
            message = await receive()
            if message["type"] == "http.disconnect":
                scope.cancel()
                return
            continue
        await send({"type": "http.response.body", "body": b": alive\n\n", "more_body": True})


async def file_is_there(info: AttachmentInfo) -> bool:
    """Whether the bytes of an attachment are still kept."""
    return await to_thread.run_sync(Path(info.path).is_file)


def encoded_problem(error: KaiError) -> bytes:
    """A whole HTTP/1.1 answer that closes the connection, for where no request could be read."""
    problem: ProblemDocument = document(error)
    body = as_json(problem)
    head = f"HTTP/1.1 {problem.status} {problem.title}\r\ncontent-type: {PROBLEM}\r\n"
    return f"{head}content-length: {len(body)}\r\nconnection: close\r\n\r\n".encode() + body
