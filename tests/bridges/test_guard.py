"""The attacks that a listener on TCP meets, each played on a real loopback server by raw bytes."""

import asyncio
import json
import socket
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from typing import Any

import anyio
import anyio.lowlevel
import pytest
from starlette.types import Message, Receive, Scope, Send
from uvicorn.config import Config
from uvicorn.protocols.http.httptools_impl import HttpToolsProtocol
from uvicorn.server import ServerState

from kai.api.bodies import Body
from kai.api.routes import ROUTES
from kai.bridges.guard import Guard, Rules, Tries

pytestmark = pytest.mark.anyio
TOKEN = "right-" + "x" * 40


@dataclass
class Place:
    """A bridge behind its guard. `asked` is what got through."""

    host: str = "127.0.0.1"
    token: str = TOKEN
    clock: list[float] = field(default_factory=lambda: [1000.0])
    asked: list[tuple[str, str, Any]] = field(default_factory=list)
    port: int = 0
    family: socket.AddressFamily = socket.AF_INET

    async def app(self, scope: Scope, receive: Receive, send: Send) -> None:
        self.asked.append((scope["method"], scope["path"], scope["kai.who"]))
        await send({"type": "http.response.start", "status": 200, "headers": []})
        await send({"type": "http.response.body", "body": b"reached"})

    async def verify(self, token: str) -> str | None:
        return "anna" if token == self.token else None

    @property
    def name(self) -> str:
        return f"[{self.host}]:{self.port}" if ":" in self.host else f"{self.host}:{self.port}"

    @asynccontextmanager
    async def open(self, **rules: Any) -> AsyncIterator["Place"]:
        listener = socket.socket(self.family)
        listener.bind((self.host, 0))
        self.port = listener.getsockname()[1]
        names = {self.name, f"localhost:{self.port}"}
        guard = Guard(
            self.app,
            Rules(names, {f"http://{name}" for name in names}, open_paths={"/"}, **rules),
            self.verify,
            now=lambda: self.clock[0],
        )
        config = Config(guard, lifespan="off", ws="none", log_config=None, access_log=False, proxy_headers=False)
        config.load()
        state = ServerState()
        server = await asyncio.get_running_loop().create_server(
            lambda: HttpToolsProtocol(config, state, {}), sock=listener
        )
        try:
            yield self
        finally:
            server.close()
            for connection in tuple(state.connections):
                connection.transport.abort()
            await anyio.lowlevel.checkpoint()

    async def send(
        self, method: str = "GET", path: str = "/v1/status", *, headers: dict[str, str] | None = None,
        body: str = "", bare: bool = False, extra: str = "",
    ) -> tuple[int, dict[str, str], str]:  # fmt: skip
        """Status, headers and body of the answer to raw bytes. A good request, but for what is said."""
        given = {} if bare else {"host": self.name, "authorization": f"Bearer {self.token}"}
        given |= {"content-type": "application/json"} if method == "POST" and not bare else {}
        given |= {"content-length": str(len(body)), "connection": "close"} | (headers or {})
        lines = "".join(f"{name}: {value}\r\n" for name, value in given.items() if value != "-")
        with anyio.fail_after(10):
            async with await anyio.connect_tcp(self.host, self.port) as link:
                await link.send(f"{method} {path} HTTP/1.1\r\n{lines}{extra}\r\n{body}".encode("latin-1"))
                got = b""
                try:
                    while True:
                        got += await link.receive()
                except (anyio.EndOfStream, anyio.BrokenResourceError):
                    pass
        head, _, rest = got.decode("latin-1").partition("\r\n\r\n")
        first, *others = head.split("\r\n")
        answered = {name.lower(): value for name, _, value in (line.partition(": ") for line in others)}
        return int(first.split()[1]), answered, rest

    async def status(self, *args: str, **how: Any) -> int:
        return (await self.send(*args, **how))[0]


@pytest.fixture
async def place(anyio_backend: str) -> AsyncIterator[Place]:
    async with Place().open() as opened:
        yield opened


async def test_a_good_request_gets_through_and_says_whose_it_is(place: Place) -> None:
    assert await place.status() == 200
    assert await place.status("POST", "/v1/messages", body="{}") == 200
    assert await place.status(headers={"origin": f"http://{place.name}", "sec-fetch-site": "same-origin"}) == 200
    assert {who for _, _, who in place.asked} == {"anna"}


@pytest.mark.parametrize(
    "host",
    ["evil.example", "evil.example:{port}", "127.0.0.1", "127.0.0.1:1", "127.0.0.1.evil.example:{port}", "", "-"],
)
async def test_a_name_that_is_not_this_places_is_misdirected(place: Place, host: str) -> None:
    """DNS rebinding: the attacker's name leads to 127.0.0.1, and his page is of the same origin as we are."""
    assert await place.status(headers={"host": host.format(port=place.port)}) in (421, 400)
    assert place.asked == []


async def test_two_hosts_are_none(place: Place) -> None:
    """Request smuggling: one Host for the guard, another for what stands behind it."""
    assert await place.status(extra="Host: evil.example\r\n") == 400
    assert place.asked == []


@pytest.mark.parametrize(
    "origin",
    ["http://evil.example", "null", "http://127.0.0.1", "https://{name}", "http://{name}.evil.example", "file://"],
)
async def test_a_foreign_page_is_refused_though_it_has_the_token(place: Place, origin: str) -> None:
    """A page in the person's browser asks this port (CVE-2026-25253: the token had been sent to the page)."""
    for method in ("GET", "POST"):
        assert await place.status(method, headers={"origin": origin.format(name=place.name)}, body="{}") == 403
    assert place.asked == []


@pytest.mark.parametrize("site", ["cross-site", "same-site", "SAME-ORIGIN", "nonsense", ""])
async def test_what_the_browser_says_of_the_site_counts(place: Place, site: str) -> None:
    """An image or a form of another site sends no Origin with a GET; the browser tells all the same."""
    assert await place.status(headers={"sec-fetch-site": site}) == 403
    assert place.asked == []


@pytest.mark.parametrize("origin", ["http://evil.example", "null"])
async def test_a_web_socket_of_a_foreign_page_is_refused(place: Place, origin: str) -> None:
    """One-click remote code execution over a web socket whose origin nobody looked at (CVE-2026-25253)."""
    shake = {
        "upgrade": "websocket",
        "connection": "Upgrade",
        "sec-websocket-key": "eA==",
        "sec-websocket-version": "13",
    }
    assert await place.status(headers={**shake, "origin": origin}) == 403
    assert place.asked == []


@pytest.mark.parametrize(("origin", "reaches"), [("http://evil.example", False), ("http://here:1", True)])
async def test_a_web_socket_that_a_server_took_up_is_judged_alike(origin: str, reaches: bool) -> None:
    sent: list[Message] = []
    reached: list[Scope] = []

    async def app(scope: Scope, receive: Receive, send: Send) -> None:
        reached.append(scope)

    async def send(message: Message) -> None:
        sent.append(message)

    async def receive() -> Message:
        raise AssertionError("nothing is read")

    guard = Guard(app, Rules({"here:1"}, {"http://here:1"}), Place().verify)
    headers = [(b"host", b"here:1"), (b"origin", origin.encode()), (b"authorization", f"Bearer {TOKEN}".encode())]
    await guard({"type": "websocket", "path": "/", "headers": headers, "client": ("::1", 1)}, receive, send)
    assert bool(reached) is reaches
    assert sent == ([] if reaches else [{"type": "websocket.close", "code": 1008}])


@pytest.mark.parametrize(
    "kind", ["text/plain", "application/x-www-form-urlencoded", "multipart/form-data; boundary=x", "", "-",
        "text/plain; application/json", "application/jsonp"],
)  # fmt: skip
@pytest.mark.parametrize("method", ["POST", "PUT", "PATCH", "DELETE"])
async def test_what_needs_no_preflight_changes_nothing(place: Place, method: str, kind: str) -> None:
    """CSRF: a form of another page, or a fetch that the browser sends without asking first."""
    assert await place.status(method, "/v1/messages", headers={"content-type": kind}, body="{}") == 415
    assert place.asked == []


async def test_a_preflight_is_answered_to_nobody(place: Place) -> None:
    """CORS: a page asks whether it may; the answer has no word that a browser takes for a yes."""
    for origin in ("http://evil.example", f"http://{place.name}"):
        headers = {"origin": origin, "access-control-request-method": "POST"}
        status, answered, _ = await place.send("OPTIONS", headers=headers)
        assert status == 403
        assert not [name for name in answered if name.startswith("access-control")]


@pytest.mark.parametrize("name", ["token", "access_token", "auth", "Authorization", "api_key"])
async def test_a_token_in_the_query_or_a_cookie_is_none(place: Place, name: str) -> None:
    """A token in the address ends in logs, in the history and in the Referer of the next page."""
    for headers in ({"authorization": "-"}, {"authorization": "-", "cookie": f"{name}={TOKEN}"}, {}):
        assert await place.status(path=f"/v1/status?{name}={TOKEN}", headers=headers) == 401
    assert await place.status(headers={"authorization": "-", "cookie": f"{name}={TOKEN}"}) == 401
    assert place.asked == []


@pytest.mark.parametrize("value", ["-", "", "Bearer", "Bearer ", "Basic {t}", "{t}", "Bearer {t}x", "Token {t}"])
async def test_whoever_bears_no_token_is_not_let_in(place: Place, value: str) -> None:
    status, answered, body = await place.send(headers={"authorization": value.format(t=TOKEN)})
    assert status == 401
    assert answered["www-authenticate"] == "Bearer"
    assert TOKEN not in body
    assert json.loads(body)["status"] == 401


async def test_after_ten_wrong_tokens_the_right_one_has_to_wait(place: Place) -> None:
    """Brute force from this very machine: loopback is not exempt."""
    for n in range(10):
        assert await place.status(headers={"authorization": f"Bearer wrong{n}"}) == 401
    status, answered, _ = await place.send()
    assert status == 429
    assert 0 < int(answered["retry-after"]) <= 301
    place.clock[0] += 301
    assert await place.status() == 200


async def test_no_other_field_switches_the_limit_off(place: Place) -> None:
    """The limiter was skipped when another credential was sent along."""
    for n in range(10):
        wrong = {"authorization": f"Bearer wrong{n}", "cookie": f"token={TOKEN}", "x-api-key": TOKEN}
        assert await place.status(path=f"/v1/status?token={n}", headers=wrong) == 401
    assert await place.status() == 429
    assert await place.status(headers={"cookie": "a=b"}) == 429
    assert await place.status(path="/v1/status?token=x") == 429


@pytest.mark.parametrize(
    "header", ["x-forwarded-for", "forwarded", "x-real-ip", "cf-connecting-ip", "true-client-ip", "client-ip"]
)
async def test_an_address_that_is_only_said_is_no_address(place: Place, header: str) -> None:
    """Auth and limits by forwarded headers: each try says that it comes from elsewhere, or from this machine."""
    for n in range(10):
        said = {header: f"10.0.0.{n}", "authorization": f"Bearer wrong{n}"}
        assert await place.status(headers=said) == 401
    assert await place.status(headers={header: "127.0.0.1"}) == 429
    assert await place.status(headers={header: "127.0.0.1", "authorization": "-"}) == 429


@pytest.mark.parametrize("addresses", [("127.0.0.1", "127.0.0.2", "::ffff:127.0.0.1", "127.9.9.9"),
    ("2001:db8:1:2::1", "2001:db8:1:2:ffff::2", "2001:db8:1:2:a:b:c:d"), ("10.0.0.1", "::ffff:10.0.0.1")])  # fmt: skip
async def test_one_attacker_has_one_address_however_it_is_written(addresses: tuple[str, ...]) -> None:
    """The same machine by another of its addresses, or by IPv4 in IPv6."""

    async def told(address: str, token: str) -> int:
        sent: list[Message] = []

        async def send(message: Message) -> None:
            sent.append(message)

        async def receive() -> Message:
            return {"type": "http.request", "body": b"", "more_body": False}

        headers = [(b"host", b"here"), (b"authorization", f"Bearer {token}".encode())]
        scope = {"type": "http", "method": "GET", "path": "/x", "query_string": b"", "headers": headers}
        await guard({**scope, "client": (address, 1)}, receive, send)
        return int(sent[0]["status"])

    guard = Guard(Place().app, Rules({"here"}, set()), Place().verify, now=lambda: 0.0)
    for n in range(10):
        assert await told(addresses[n % len(addresses)], f"wrong{n}") == 401
    for address in addresses:
        assert await told(address, TOKEN) == 429
    assert await told("192.0.2.1", TOKEN) == 200


async def test_on_ipv6_loopback_it_is_the_same() -> None:
    try:
        place = Place("::1", family=socket.AF_INET6)
        async with place.open():
            assert await place.status() == 200
            for n in range(10):
                assert await place.status(headers={"authorization": f"Bearer wrong{n}"}) == 401
            assert await place.status() == 429
    except OSError:
        pytest.skip("this machine has no IPv6 loopback")


def test_many_addresses_together_are_limited_too_and_none_grows_the_memory() -> None:
    rules = Rules((), (), tries=3, all_tries=100, addresses=10)
    now = [0.0]
    tries = Tries(rules, lambda: now[0])
    for n in range(99):
        tries.failed(f"10.0.{n}.1")
    assert tries.wait_s("192.0.2.1") == 0
    tries.failed("10.1.1.1")
    assert tries.wait_s("192.0.2.1") > 0
    assert len(tries._of) <= 10
    now[0] += rules.window_s + 1
    assert tries.wait_s("192.0.2.1") == 0


async def test_a_token_that_was_changed_is_the_old_one_no_more_at_the_next_request(place: Place) -> None:
    """A secret that is read once at the start goes on after it was revoked (GHSA-m8wm-r5vq-qjpg)."""
    assert await place.status() == 200
    place.token = "another"
    assert await place.status(headers={"authorization": f"Bearer {TOKEN}"}) == 401
    assert await place.status() == 200


async def test_scopes_that_are_only_said_have_no_effect(place: Place) -> None:
    """The client declares what it may do (GHSA-rqpp-rjj8-7wv8)."""
    said = {"x-scopes": "admin", "x-kai-who": "root", "kai-as": "ben", "x-user": "root"}
    assert await place.status(headers=said) == 200
    assert place.asked[-1][2] == "anna"


async def test_an_open_path_is_open_for_looking_only(place: Place) -> None:
    assert await place.status("GET", "/", headers={"authorization": "-"}) == 200
    assert place.asked == [("GET", "/", None)]
    assert await place.status("POST", "/", headers={"authorization": "-"}, body="{}") == 401
    assert await place.status("GET", "/", headers={"authorization": "-", "origin": "http://evil.example"}) == 403
    assert await place.status("GET", "/", headers={"authorization": "-", "host": "evil.example"}) == 421
    for path in ("//", "/.", "/%2f", "/v1/status", "/?x=1/../v1"):
        status = await place.status("GET", path, headers={"authorization": "-"})
        assert status == (200 if path.startswith("/?") else 401), path


async def test_the_guard_lets_the_bridge_start_and_end() -> None:
    seen: list[str] = []

    async def app(scope: Scope, receive: Receive, send: Send) -> None:
        seen.append(scope["type"])

    async def nothing(*_: Any) -> Any:
        return {}

    await Guard(app, Rules((), ()), Place().verify)({"type": "lifespan"}, nothing, nothing)
    assert seen == ["lifespan"]


def test_no_route_writes_what_is_executed_or_fetches_what_is_named() -> None:
    """config.apply took the path of a program (CVE-2026-25593); a server fetched a given address (CVE-2026-26322)."""
    own = "/v1/channels/{id}/files"  # a file below the seat's own folder, read as its user: nothing of anybody else's
    bodies = [route.fields for route in ROUTES if issubclass(route.fields, Body) and route.path != own]
    names = {name for body in bodies for name in body.model_fields}
    assert not {
        name for name in names if any(word in name for word in ("path", "program", "command", "argv", "url", "uri"))
    }
    assert not [route for route in ROUTES if "config" in route.path and route.method != "GET"]
