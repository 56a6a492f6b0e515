"""What stands before every bridge that listens on TCP: an ASGI application around the bridge's own.

A page in somebody's browser can reach any port of the machine, the loopback ones too. So nothing is believed that a
foreign page can bring about: no address, no name in `Host`, no cookie, no word in the query, no body without preflight.
"""

import ipaddress
import json
import time
from collections import OrderedDict
from collections.abc import Awaitable, Callable, Collection
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import parse_qsl

from starlette.types import ASGIApp, Receive, Scope, Send

JSON = "application/json"
_ONCE = (b"host", b"origin", b"authorization", b"content-type", b"sec-fetch-site", b"content-length")
_SAFE = ("GET", "HEAD")
_CREDENTIALS = frozenset({"token", "access_token", "auth", "authorization", "bearer", "key", "api_key", "password"})

Verify = Callable[[str], Awaitable[Any]]  # a token → whose it is, or None; asked at each request, never kept


@dataclass(frozen=True, slots=True)
class Rules:
    """What a listener answers to.

    `hosts` as browsers send them (``127.0.0.1:8420``, ``kai.home``), `origins` with scheme. `open_paths` need no token,
    and only GET and HEAD reach them: the page itself, which has none yet. `types`: of bodies that may be sent.
    """

    hosts: Collection[str]
    origins: Collection[str]
    open_paths: Collection[str] = ()
    types: Collection[str] = (JSON,)
    tries: int = 10  # wrong tokens from one address within `window_s`
    all_tries: int = 200  # and from all of them: one IPv6 provider has more addresses than there are tokens to try
    window_s: float = 300.0
    addresses: int = 4096  # remembered at most


@dataclass
class _Refusal(Exception):  # noqa: N818 - an answer, not an error
    status: int
    title: str
    detail: str
    headers: tuple[tuple[bytes, bytes], ...] = ()


class Guard:
    """Lets through what a bridge may look at: ``scope["kai.who"]`` is then what `verify` gave, None on open paths."""

    def __init__(
        self, app: ASGIApp, rules: Rules, verify: Verify, *, now: Callable[[], float] = time.monotonic
    ) -> None:
        self._app = app
        self._rules = rules
        self._verify = verify
        self._tries = Tries(rules, now)
        self._hosts = frozenset(host.lower() for host in rules.hosts)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] == "lifespan":
            await self._app(scope, receive, send)
            return
        try:
            scope["kai.who"] = await self._who(scope)
        except _Refusal as refusal:
            await _refuse(scope, send, refusal)
        else:
            await self._app(scope, receive, send)

    async def _who(self, scope: Scope) -> Any:
        headers = _headers(scope)
        self._same_site(headers)
        method = scope.get("method", "GET")  # a web socket begins as one
        if method == "OPTIONS":
            raise _Refusal(403, "No preflight", "Pages of other origins have no business here.")
        if method not in _SAFE and headers.get(b"content-type", "").partition(";")[0].strip().lower() not in (
            self._rules.types
        ):
            raise _Refusal(415, "Wrong type", f"What changes something is {' or '.join(self._rules.types)}.")
        if method in _SAFE and scope["type"] == "http" and scope["path"] in self._rules.open_paths:
            return None
        return await self._bearer(scope, headers)

    def _same_site(self, headers: dict[bytes, str]) -> None:
        if headers.get(b"host", "").lower() not in self._hosts:
            raise _Refusal(421, "Wrong host", "This is no name of this place.")
        if b"origin" in headers and headers[b"origin"] not in self._rules.origins:
            raise _Refusal(403, "Foreign origin", "The page that asks is not this place's own.")
        if headers.get(b"sec-fetch-site", "none") not in ("same-origin", "none"):
            raise _Refusal(403, "Foreign origin", "The browser says that another site asks.")

    async def _bearer(self, scope: Scope, headers: dict[bytes, str]) -> Any:
        address = _address(scope)
        # First of all, whatever else was sent along: a limit that some other field switches off is none.
        if wait_s := self._tries.wait_s(address):
            retry = ((b"retry-after", b"%d" % (wait_s + 1)),)
            raise _Refusal(429, "Too many tries", f"Wrong tokens came from {address}; wait.", retry)
        query = parse_qsl(scope.get("query_string", b"").decode("latin-1"), keep_blank_values=True)
        scheme, _, token = headers.get(b"authorization", "").partition(" ")
        is_header = scheme.lower() == "bearer" and bool(token.strip())
        if is_header and not any(name.lower() in _CREDENTIALS for name, _ in query):
            if (who := await self._verify(token.strip())) is not None:
                return who
            self._tries.failed(address)
        elif b"authorization" in headers:
            self._tries.failed(address)  # a try all the same; who has no token yet has made none
        detail = "A token is borne in the header 'Authorization: Bearer', and in nothing else."
        raise _Refusal(401, "Who are you", detail, ((b"www-authenticate", b"Bearer"),))


@dataclass(slots=True)
class Tries:
    """Wrong tokens by address. No address is exempt, the loopback ones least: every local program and page has them."""

    rules: Rules
    now: Callable[[], float]
    _of: OrderedDict[str, list[float]] = field(default_factory=OrderedDict)
    _all: list[float] = field(default_factory=list)

    def wait_s(self, address: str) -> float:
        """Seconds until the next try may be made; 0: at once."""
        begin = self.now() - self.rules.window_s
        self._all = [at for at in self._all if at > begin]
        mine = [at for at in self._of.get(address, ()) if at > begin]
        oldest = [kept[-most] for kept, most in ((mine, self.rules.tries), (self._all, self.rules.all_tries))
            if len(kept) >= most]  # fmt: skip
        return max((at - begin for at in oldest), default=0.0)

    def failed(self, address: str) -> None:
        self._all.append(self.now())
        self._of.setdefault(address, []).append(self.now())
        self._of.move_to_end(address)
        del self._of[address][: -self.rules.tries]
        while len(self._of) > self.rules.addresses:
            self._of.popitem(last=False)


def _headers(scope: Scope) -> dict[bytes, str]:
    """Each header once: of two, one is believed here and the other behind."""
    found: dict[bytes, str] = {}
    for name, value in scope["headers"]:
        if name in found and name in _ONCE:
            raise _Refusal(400, "Malformed", f"The header {name.decode('latin-1')} stands there twice.")
        found[name] = value.decode("latin-1").strip()
    return found


def _address(scope: Scope) -> str:
    """Of the peer itself, whatever it says it forwards; IPv4 in IPv6 is that address, IPv6 its network."""
    try:
        found = ipaddress.ip_address(str((scope.get("client") or ("",))[0]).partition("%")[0])
    except ValueError:
        return "unknown"
    if isinstance(found, ipaddress.IPv6Address):
        if found.ipv4_mapped is None:
            return str(ipaddress.ip_network((int(found), 64), strict=False).network_address)
        found = found.ipv4_mapped
    # All of 127.0.0.0/8 is this machine: whoever may bind one of them may bind them all.
    return "127.0.0.1" if found.is_loopback else str(found)


async def _refuse(scope: Scope, send: Send, refusal: _Refusal) -> None:
    if scope["type"] == "websocket":
        await send({"type": "websocket.close", "code": 1008})  # before it is accepted: the handshake gets 403
        return
    problem = {"type": f"urn:kai:problem:{refusal.title.lower().replace(' ', '-')}", "status": refusal.status,
        "title": refusal.title, "detail": refusal.detail, "hint": "", "field": ""}  # fmt: skip
    body = json.dumps(problem).encode()
    head = ((b"content-type", b"application/problem+json"), (b"content-length", b"%d" % len(body)),
        (b"cache-control", b"no-store"), *refusal.headers)  # fmt: skip
    await send({"type": "http.response.start", "status": refusal.status, "headers": head})
    await send({"type": "http.response.body", "body": body})
