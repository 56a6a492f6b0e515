"""What the daemon may call, and that nothing else is called: a real upstream on loopback behind it."""

import json
from collections.abc import AsyncIterator, Iterator
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Thread
from typing import Any

import httpx
import pytest

from kai.bridges import egress
from kai.bridges.egress import Egress, Upstream

pytestmark = pytest.mark.anyio


@dataclass
class Service:
    """What it was asked, and what it answers."""

    url: str = ""
    asked: list[tuple[str, dict[str, str], bytes]] = field(default_factory=list)
    status: int = 200
    headers: dict[str, str] = field(default_factory=lambda: {"content-type": "application/json"})
    body: bytes = b'{"data": []}'


@pytest.fixture
def service() -> Iterator[Service]:
    told = Service()

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            body = self.rfile.read(int(self.headers["content-length"]))
            told.asked.append((self.path, {name.lower(): value for name, value in self.headers.items()}, body))
            self.send_response(told.status)
            for name, value in told.headers.items():
                self.send_header(name, value)
            self.send_header("content-length", str(len(told.body)))
            self.end_headers()
            self.wfile.write(told.body)

        def log_message(self, *args: Any) -> None: ...

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    told.url = f"http://127.0.0.1:{server.server_port}/v1/embeddings"
    thread = Thread(target=server.serve_forever, args=(0.01,))
    thread.start()
    yield told
    server.shutdown()
    thread.join()
    server.server_close()


@pytest.fixture
async def door(service: Service) -> AsyncIterator[httpx.AsyncClient]:
    """A client of an egress that lists the service, with a key, and one that nobody serves."""
    async with httpx.AsyncClient(trust_env=False) as out:
        app = Egress([Upstream(service.url, "k-123"), Upstream("http://127.0.0.1:1/none")], out)
        async with httpx.AsyncClient(transport=httpx.ASGITransport(app)) as client:
            yield client


async def test_what_is_listed_is_called_with_its_key_and_with_nothing_of_the_caller_but_body_and_type(
    service: Service, door: httpx.AsyncClient
) -> None:
    mine = {"authorization": "Bearer mine", "cookie": "c=1", "x-more": "1", "content-type": "application/json"}
    answer = await door.post(service.url, content=b'{"input": "\xc3\xbc"}', headers=mine)
    assert (answer.status_code, answer.content) == (200, service.body)
    ((path, headers, body),) = service.asked
    assert (path, body) == ("/v1/embeddings", b'{"input": "\xc3\xbc"}')
    assert headers["authorization"] == "Bearer k-123"
    assert not headers.keys() & {"cookie", "x-more"}


@pytest.mark.parametrize("change", ["path", "port", "host", "query", "case of the path", "dots"])
async def test_what_is_not_listed_whole_is_refused_and_never_called(
    service: Service, door: httpx.AsyncClient, change: str
) -> None:
    changed = {
        "path": service.url.replace("embeddings", "chat"),
        "port": "http://127.0.0.1:2/v1/embeddings",
        "host": service.url.replace("127.0.0.1", "169.254.169.254"),
        "query": f"{service.url}?a=b",
        "case of the path": service.url.replace("embeddings", "Embeddings"),
        "dots": service.url.replace("/v1/embeddings", "/v1/x/%2e%2e/embeddings"),
    }[change]
    answer = await door.post(changed, content=b"{}")
    assert (answer.status_code, service.asked) == (403, [])
    assert "egress.yaml" in answer.json()["detail"]


async def test_only_a_post_goes_on(service: Service, door: httpx.AsyncClient) -> None:
    assert (await door.get(service.url)).status_code == 405
    assert service.asked == []


async def test_a_redirect_is_not_followed(service: Service, door: httpx.AsyncClient) -> None:
    service.status, service.headers = 307, {"location": service.url.replace("embeddings", "elsewhere")}
    answer = await door.post(service.url, content=b"{}")
    assert answer.status_code == 502
    assert "no redirect" in answer.json()["detail"]
    assert len(service.asked) == 1


async def test_an_error_of_the_upstream_is_passed_back_as_it_is(service: Service, door: httpx.AsyncClient) -> None:
    service.status, service.body = 429, b'{"error": "slow down"}'
    answer = await door.post(service.url, content=b"{}")
    assert (answer.status_code, answer.json()) == (429, {"error": "slow down"})


async def test_one_who_is_not_there_is_a_sentence_without_the_key(door: httpx.AsyncClient) -> None:
    answer = await door.post("http://127.0.0.1:1/none", content=b"{}")
    assert answer.status_code == 502
    assert answer.json()["detail"] == "http://127.0.0.1:1/none gives no answer (ConnectError)"


async def test_what_is_too_large_is_refused_either_way(
    service: Service, door: httpx.AsyncClient, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(egress, "MOST_BYTES", 1000)
    assert (await door.post(service.url, content=bytes(1001))).status_code == 413
    assert service.asked == []
    service.body = bytes(1001)
    assert (await door.post(service.url, content=json.dumps({}).encode())).status_code == 502
