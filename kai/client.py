"""The client of the API: what a bridge or a command calls. One method for each thing the door does.

httpx is imported when a client is opened: the daemon, which imports this module never, must not pay for it, and
neither must a command that only prints its help.
"""

import json
from collections.abc import AsyncGenerator, AsyncIterator, Mapping, Sequence
from contextlib import aclosing, asynccontextmanager
from dataclasses import asdict, fields, is_dataclass
from datetime import datetime
from enum import Enum
from functools import cache
from pathlib import Path
from types import TracebackType, UnionType
from typing import TYPE_CHECKING, Any, Self, TypeVar, Union, cast, get_args, get_origin, get_type_hints
from urllib.parse import quote

from kai.model.errors import ApiError, UnreachableError
from kai.model.messages import Accepted, InboundMessage
from kai.model.people import Preference
from kai.model.turns import Delivery, Progress, Receipt

if TYPE_CHECKING:
    import httpx

_T = TypeVar("_T")
View = dict[str, Any]  # what the door shows of a thing, as docs/api.md describes it
_OWED: Mapping[str, type[Delivery | Progress]] = {"delivery": Delivery, "progress": Progress}
_PATIENCE_S = (5.0, 45.0, 10.0, 10.0)  # of a stream: connect, read (three heartbeats), write, wait for a connection


class Client:
    """Talks to the daemon behind `socket` as the calling process's own OS user.

    `as_person`: the name for whom an operator speaks. `temporary`: every message is. Every method raises `ApiError` for
    a refusal and `UnreachableError` when no answer came; what was asked for may then have happened, and repeating a
    message with the same `external_id` is always safe. What a view holds, docs/api.md says.
    """

    def __init__(self, socket: Path, *, as_person: str = "", answer_s: float = 60.0, temporary: bool = False) -> None:
        self._socket = socket
        self._as_person = as_person
        self._answer_s = answer_s
        self._temporary = temporary
        self._http: httpx.AsyncClient | None = None

    async def __aenter__(self) -> Self:
        import httpx  # noqa: PLC0415

        headers = {b"kai-as": self._as_person.encode()} if self._as_person else {}
        self._http = httpx.AsyncClient(
            # Not verified, as there is no TLS on it: else httpx reads all of the machine's certificates, for 0.1 s.
            transport=httpx.AsyncHTTPTransport(uds=str(self._socket), verify=False),
            base_url="http://kai",
            headers=headers,
            timeout=httpx.Timeout(self._answer_s, connect=5.0),
            limits=httpx.Limits(keepalive_expiry=30.0),  # shorter than the daemon keeps a connection
            trust_env=False,
        )
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        assert self._http is not None
        await self._http.aclose()

    async def receive(self, inbound: InboundMessage) -> Accepted:
        """Hand in a message; it is stored when this returns. `bridge` is left out: the daemon knows who calls."""
        body = {name: getattr(inbound, name) for name in _names(InboundMessage) if name != "bridge"}
        body["temporary"] |= self._temporary
        return decode(Accepted, await self._view("POST", "/v1/messages", body))

    async def deliveries(
        self, *, after: int | None = None, idempotent: bool = False
    ) -> AsyncGenerator[Delivery | Progress, None]:
        """What is owed to this bridge, and progress between; never ends by itself.

        Raises `UnreachableError` when the stream breaks or falls silent: the caller waits a little and calls again
        with the `number` of the last delivery it received.
        """
        asked = {"idempotent": "1" if idempotent else "0"} | ({} if after is None else {"after": str(after)})
        async with aclosing(self._stream("/v1/deliveries", asked)) as events:
            async for name, data in events:
                if name in _OWED:
                    yield decode(_OWED[name], data)
        raise UnreachableError(str(self._socket), "the daemon ended the stream")

    async def receipt(self, delivery: str, receipt: Receipt) -> None:
        await self._ask("POST", f"/v1/deliveries/{_part(delivery)}/receipt", asdict(receipt))

    async def attach(self, data: bytes, name: str, media_type: str) -> View:
        """Store a file; its `ref` goes into a message."""
        headers = {"content-type": media_type}
        answer = await self._send("POST", "/v1/attachments", params={"name": name}, content=data, headers=headers)
        stored: View = answer.json()
        return stored

    async def attachment(self, ref: str) -> bytes:
        return (await self._send("GET", f"/v1/attachments/{_part(ref)}")).content

    async def turns(self, *, channel: str = "", limit: int = 50) -> list[View]:
        return await self._views("GET", "/v1/turns", channel=channel, limit=str(limit))

    async def turn(self, turn: str) -> View:
        return await self._view("GET", f"/v1/turns/{_part(turn)}")

    async def events(self, turn: str) -> AsyncGenerator[View, None]:
        """What happens in a turn, from its beginning; the last has the type ``end``."""
        async with aclosing(self._stream(f"/v1/turns/{_part(turn)}/events", {})) as events:
            async for _, data in events:
                yield data

    async def stop(self, turn: str) -> View:
        """End a turn; tells the step that it took."""
        return await self._view("POST", f"/v1/turns/{_part(turn)}/stop", {})

    async def retry(self, turn: str) -> View:
        return await self._view("POST", f"/v1/turns/{_part(turn)}/retry", {})

    async def answer(self, ask: str, choice: str, text: str = "") -> View:
        return await self._view("POST", f"/v1/questions/{_part(ask)}/answer", {"choice": choice, "text": text})

    async def answer_turn(self, turn: str, choice: str, text: str = "") -> View:
        """Answer the one question that a turn has open."""
        return await self._view("POST", f"/v1/turns/{_part(turn)}/answer", {"choice": choice, "text": text})

    async def context(self, turn: str, *, why: bool = False) -> View:
        return await self._view("GET", f"/v1/turns/{_part(turn)}/context", why="1" if why else "0")

    async def verify(self, turn: str) -> View:
        return await self._view("GET", f"/v1/turns/{_part(turn)}/context/verify")

    async def preview(self, text: str, channel: str = "") -> View:
        """What would be put before `text` now."""
        return await self._view("POST", "/v1/context/preview", {"text": text, "channel": channel or None})

    async def diff(self, a: str, b: str) -> View:
        return await self._view("GET", "/v1/context/diff", a=a, b=b)

    async def channels(self) -> list[View]:
        return await self._views("GET", "/v1/channels")

    async def channel(self, channel: str) -> View:
        return await self._view("GET", f"/v1/channels/{_part(channel)}")

    async def add_channel(self, title: str, os_user: str = "", members: Sequence[str] = ()) -> View:
        return await self._view("POST", "/v1/channels", {"title": title, "os_user": os_user, "members": list(members)})

    async def change_channel(self, channel: str, changes: Mapping[str, str]) -> View:
        return await self._view("PATCH", f"/v1/channels/{_part(channel)}", dict(changes))

    async def member(self, channel: str, member: str, *, present: bool = True) -> View:
        body = {"member": member, "present": present}
        return await self._view("POST", f"/v1/channels/{_part(channel)}/members", body)

    async def bind(self, channel: str, bridge: str, chat: str, thread: str = "") -> View:
        body = {"bridge": bridge, "chat": chat, "thread": thread}
        return await self._view("POST", f"/v1/channels/{_part(channel)}/addresses", body)

    async def fetch(self, channel: str, path: str) -> View:
        """A file that an agent made becomes a stored one; its `ref` is for `attachment`."""
        return await self._view("POST", f"/v1/channels/{_part(channel)}/files", {"path": path})

    async def probe_person(self, person: str) -> View:
        """What a person's OS user can reach."""
        return await self._view("POST", f"/v1/people/{_part(person)}/probe", {})

    async def probe_channel(self, channel: str) -> View:
        """What the OS user of a shared channel's seat can reach."""
        return await self._view("POST", f"/v1/channels/{_part(channel)}/probe", {})

    async def history(self, channel: str, *, before: int | None = None, limit: int = 50) -> list[View]:
        """Messages, oldest first: the newest of those before `before`."""
        path = f"/v1/channels/{_part(channel)}/messages"
        return await self._views("GET", path, limit=str(limit), before="" if before is None else str(before))

    async def search(self, query: str, *, channel: str = "", limit: int = 20) -> list[View]:
        """Messages that hold the words."""
        body = {"query": query, "channel": channel or None, "limit": limit}
        return await self._views("POST", "/v1/history/search", body)

    async def people(self) -> list[View]:
        return await self._views("GET", "/v1/people")

    async def person(self, principal: str) -> View:
        return await self._view("GET", f"/v1/people/{_part(principal)}")

    async def add_person(self, name: str, os_user: str = "") -> View:
        return await self._view("POST", "/v1/people", {"name": name, "os_user": os_user})

    async def change_person(self, principal: str, changes: Mapping[str, str]) -> View:
        return await self._view("PATCH", f"/v1/people/{_part(principal)}", dict(changes))

    async def remove_person(self, principal: str) -> View:
        return await self._view("DELETE", f"/v1/people/{_part(principal)}")

    async def link(self, principal: str, bridge: str, account: str) -> View:
        body = {"bridge": bridge, "account": account}
        return await self._view("POST", f"/v1/people/{_part(principal)}/accounts", body)

    async def use(
        self, choice: Preference, *, channel: str = "", wait: bool = False, begin: bool = False, temporary: str = ""
    ) -> View:
        """Choose what is used from now on. With `begin`, `channel` is a title, and a new one begins a conversation.

        `temporary`, "on" or "off": whether what is said from the next message on is kept nowhere.
        """
        body = {name: value for name in _names(Preference) if (value := getattr(choice, name))}
        body |= {"channel": channel or None, "wait": wait}
        body |= {"begin": True} if begin else {}
        body |= {"temporary": temporary} if temporary else {}
        answer = await self._send("POST", "/v1/use", json=body, timeout=None if wait else self._answer_s)
        chosen: View = answer.json()
        return chosen

    async def memory(self, deed: str, fields: Mapping[str, Any], record: str = "") -> Any:
        """One of the deeds below ``/v1/memory``: a view, rows, or a receipt. `record` is what the path names."""
        method, path = _MEMORY[deed]
        where = f"/v1/memory/{path.format(_part(record))}"
        if method == "GET":
            return await self._ask("GET", where, **fields)
        return await self._ask("POST", where, {name: value for name, value in fields.items() if value is not None})

    async def backends(self) -> list[View]:
        return await self._views("GET", "/v1/backends")

    async def check_backend(self, backend: str) -> View:
        return await self._view("POST", f"/v1/backends/{_part(backend)}/check", {})

    async def agents(self) -> list[View]:
        return await self._views("GET", "/v1/agents")

    async def agent(self, name: str, *, revision: str = "") -> View:
        """An agent definition as it reads, or as it read."""
        return await self._view("GET", f"/v1/agents/{_part(name)}", revision=revision)

    async def status(self) -> View:
        return await self._view("GET", "/v1/status")

    async def doctor(self) -> list[View]:
        return await self._views("GET", "/v1/doctor")

    async def backup(self) -> View:
        """Back up the state; waits for as long as it takes."""
        answer = await self._send("POST", "/v1/backups", json={}, timeout=None)
        made: View = answer.json()
        return made

    async def backups(self) -> list[View]:
        return await self._views("GET", "/v1/backups")

    async def config(self) -> View:
        return await self._view("GET", "/v1/config")

    async def reload(self) -> View:
        return await self._view("POST", "/v1/reload", {})

    async def _view(self, method: str, path: str, body: Mapping[str, Any] | None = None, **asked: str) -> View:
        found: View = await self._ask(method, path, body, **asked)
        return found

    async def _views(self, method: str, path: str, body: Mapping[str, Any] | None = None, **asked: str) -> list[View]:
        found: list[View] = await self._ask(method, path, body, **asked)
        return found

    async def _ask(self, method: str, path: str, body: Mapping[str, Any] | None = None, **asked: str) -> Any:
        # ASCII, so that half a surrogate pair travels as an escape: the daemon mends it, and no message is lost.
        content = None if body is None else json.dumps(body, default=datetime.isoformat).encode()
        headers = {} if body is None else {"content-type": "application/json"}
        params = {name: value for name, value in asked.items() if value}
        answer = await self._send(method, path, content=content, headers=headers, params=params)
        return json.loads(answer.content) if answer.content else None

    async def _send(self, method: str, path: str, **how: Any) -> "httpx.Response":
        async with self._reached() as http:
            answer = await http.request(method, path, **how)
        if not answer.is_success:
            raise _refusal(answer.status_code, answer.content)
        return answer

    async def _stream(self, path: str, asked: Mapping[str, str]) -> AsyncGenerator[tuple[str, Any], None]:
        async with self._reached() as http, http.stream("GET", path, params=asked, timeout=_PATIENCE_S) as answer:
            if not answer.is_success:
                raise _refusal(answer.status_code, await answer.aread())
            async for name, data in events_in(answer.aiter_raw()):
                if name == "problem":
                    raise _refusal_of(int(data.get("status", 500)), data)
                yield name, data

    @asynccontextmanager
    async def _reached(self) -> AsyncIterator["httpx.AsyncClient"]:
        import httpx  # noqa: PLC0415

        assert self._http is not None, "a client is used inside `async with`"
        try:
            yield self._http
        except httpx.TimeoutException as error:
            raise UnreachableError(str(self._socket), "no answer came in time") from error
        except httpx.HTTPError as error:
            raise UnreachableError(str(self._socket), _reason(error)) from error


def _reason(error: BaseException | None) -> str:
    while error is not None and not isinstance(error, OSError):
        error = error.__cause__ or error.__context__
    return (error and error.strerror) or "the connection broke"


def _refusal(status: int, content: bytes) -> ApiError:
    try:
        problem = json.loads(content)
    except ValueError:
        problem = None
    return _refusal_of(status, problem if isinstance(problem, dict) else {})


def _refusal_of(status: int, problem: View) -> ApiError:
    title, detail, field, hint = (str(problem.get(name, "")) for name in ("title", "detail", "field", "hint"))
    return ApiError(status, title or f"The daemon answered {status}.", detail, field, hint)


async def events_in(pieces: AsyncIterator[bytes]) -> AsyncIterator[tuple[str, Any]]:
    """Name and JSON of each server-sent event. Lines end at byte 0x0A only: a text may hold U+2028."""
    rest = b""
    async for piece in pieces:
        *lines, rest = (rest + piece).split(b"\n\n")
        for block in lines:
            name, data = "message", b""
            for line in block.split(b"\n"):
                key, _, value = line.partition(b": ")
                if key == b"event":
                    name = value.decode()
                elif key == b"data":
                    data += value
            if data:
                yield name, json.loads(data)


_MEMORY = {
    "search": ("POST", "search"),
    "records": ("GET", "records"),
    "save": ("POST", "records"),
    "record": ("GET", "records/{}"),
    **{
        deed: ("POST", f"records/{{}}/{deed}")
        for deed in ("correct", "forget", "restore", "redact", "accept", "reject")
    },
    **{deed: ("GET", deed) for deed in ("grants", "receipts", "audit", "export", "doctor")},
    "grant": ("POST", "grants"),
    "revoke": ("POST", "grants/{}/revoke"),
    **{deed: ("POST", deed) for deed in ("import", "gc", "reindex")},
}


def _part(text: str) -> str:
    return quote(text, safe="")


@cache
def _hints(kind: Any) -> dict[str, Any]:
    return get_type_hints(kind)


def _names(kind: Any) -> tuple[str, ...]:
    return tuple(field.name for field in fields(kind))


def decode(kind: type[_T], data: Any) -> _T:
    """A model value from its JSON. Unknown fields are left out: a newer daemon may send them."""
    hints = _hints(cast("Any", kind))
    known = {name: _decode(hints[name], data[name]) for name in _names(kind) if name in data}
    return kind(**known)


def _decode(kind: Any, data: Any) -> Any:
    kind = getattr(kind, "__supertype__", kind)
    origin, inner = get_origin(kind), get_args(kind)
    if origin in (Union, UnionType):
        return None if data is None else _decode(next(one for one in inner if one is not type(None)), data)
    if origin is tuple:
        return tuple(_decode(inner[0], item) for item in data)
    if isinstance(kind, type) and issubclass(kind, Enum):
        return kind(data)
    if kind is datetime:
        return datetime.fromisoformat(data)
    if is_dataclass(kind):
        return decode(kind, data)  # type: ignore[arg-type]
    return data
