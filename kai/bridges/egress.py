"""Calls out for the daemon, which has no network of its own: to what is listed, with keys that only this process holds.

An ASGI application on a Unix socket. A request names its upstream by host and path, as it would to the upstream itself;
what is not listed is refused, no redirect is followed, and nothing of a request but its body and type goes on.
"""

import json
from collections.abc import Iterable
from dataclasses import dataclass
from urllib.parse import urlsplit

import httpx
from starlette.types import Receive, Scope, Send

MOST_BYTES = 4 * 1024 * 1024  # of a request, and of an answer
LIMIT_S = 30.0  # whoever waits has a shorter limit of their own


@dataclass(frozen=True, slots=True)
class Upstream:
    """What may be called: a whole URL, and the key that is sent with it as a bearer token ("" for none)."""

    url: str
    key: str = ""


class RefusedError(Exception):
    """An answer of ours in place of the upstream's: status and sentence."""

    def __init__(self, status: int, sentence: str) -> None:
        super().__init__(sentence)
        self.status = status


class Egress:
    """Passes POSTs on. `client` follows no redirect and takes nothing from the environment."""

    def __init__(self, upstreams: Iterable[Upstream], client: httpx.AsyncClient) -> None:
        self._upstreams = {_place(one.url): one for one in upstreams}
        self._client = client

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            return
        try:
            status, kind, body = await self._pass_on(scope, receive)
        except RefusedError as error:
            status, kind = error.status, b"application/problem+json"
            body = json.dumps({"title": "Not passed on", "status": status, "detail": str(error)}).encode()
        headers = [(b"content-type", kind), (b"content-length", str(len(body)).encode())]
        await send({"type": "http.response.start", "status": status, "headers": headers})
        await send({"type": "http.response.body", "body": body})

    async def _pass_on(self, scope: Scope, receive: Receive) -> tuple[int, bytes, bytes]:
        headers = dict(scope["headers"])
        host, path = headers.get(b"host", b"").decode("latin-1"), scope["raw_path"].decode("latin-1")
        upstream = self._upstreams.get((host.lower(), path)) if not scope["query_string"] else None
        if upstream is None:
            raise RefusedError(403, f"{host}{path} is not in egress.yaml: list its whole URL there.")
        if scope["method"] != "POST":
            raise RefusedError(405, "only POST is passed on")
        passed = {"content-type": headers.get(b"content-type", b"application/json").decode("latin-1")}
        if upstream.key:
            passed["authorization"] = f"Bearer {upstream.key}"
        request = self._client.build_request("POST", upstream.url, content=await _body(receive), headers=passed)
        try:
            answer = await self._client.send(request, stream=True)
            try:
                return answer.status_code, _kind(answer), await _read(answer)
            finally:
                await answer.aclose()
        except httpx.HTTPError as error:
            raise RefusedError(502, f"{upstream.url} gives no answer ({type(error).__name__})") from error


def _place(url: str) -> tuple[str, str]:
    """Host with port, and path: what a request to it says."""
    parts = urlsplit(url)
    return parts.netloc.lower(), parts.path or "/"


def _kind(answer: httpx.Response) -> bytes:
    if answer.is_redirect:
        raise RefusedError(502, "the upstream points elsewhere, and no redirect is followed: list where it points")
    return str(answer.headers.get("content-type", "application/octet-stream")).encode()


async def _read(answer: httpx.Response) -> bytes:
    got = bytearray()
    async for piece in answer.aiter_bytes():
        got += piece
        if len(got) > MOST_BYTES:
            raise RefusedError(502, f"the upstream's answer is larger than {MOST_BYTES:,} bytes")
    return bytes(got)


async def _body(receive: Receive) -> bytes:
    got, more = bytearray(), True
    while more:
        message = await receive()
        if message["type"] == "http.disconnect":
            raise RefusedError(400, "the request was cut")
        got += message.get("body", b"")
        more = message.get("more_body", False)
        if len(got) > MOST_BYTES:
            raise RefusedError(413, f"a request has {MOST_BYTES:,} bytes at most")
    return bytes(got)
