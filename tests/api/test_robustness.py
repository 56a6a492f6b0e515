"""Whatever comes over the socket, what comes back is an answer that names the field, and the daemon goes on."""

import json
import socket
from pathlib import Path
from typing import Any

import pytest
from anyio import to_thread
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from kai.api.bodies import IDENTITY, Body
from kai.api.limits import ApiLimits
from kai.api.routes import ROUTES
from tests.api.conftest import House

pytestmark = pytest.mark.anyio
FAST = settings(max_examples=60, deadline=None, suppress_health_check=list(HealthCheck))
JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=8), inner, max_size=4),
    max_leaves=8,
)
SENDING = [route for route in ROUTES if issubclass(route.fields, Body)]
FIELDS = st.sampled_from(sorted(IDENTITY | {name for route in SENDING for name in route.fields.model_fields}))


def exchange(path: Path, data: bytes) -> bytes:
    """Send, close the sending side, and read to the end."""
    with socket.socket(socket.AF_UNIX) as peer:
        peer.settimeout(10)
        peer.connect(str(path))
        got = b""
        try:
            peer.sendall(data)
            peer.shutdown(socket.SHUT_WR)
            while piece := peer.recv(65536):
                got += piece
        except (BrokenPipeError, ConnectionResetError):
            pass
        return got


def ask(path: Path, method: str, route: str, body: bytes) -> tuple[int, Any]:
    """Status and JSON of one request."""
    head = f"{method} {route} HTTP/1.1\r\nhost: k\r\nconnection: close\r\ncontent-type: application/json\r\n"
    with socket.socket(socket.AF_UNIX) as peer:
        peer.settimeout(10)
        peer.connect(str(path))
        peer.sendall(f"{head}content-length: {len(body)}\r\n\r\n".encode() + body)
        got = b""
        while piece := peer.recv(65536):
            got += piece
    status, _, content = got.partition(b"\r\n\r\n")
    return int(status.split()[1]), json.loads(content) if content else None


def open_files() -> int:
    return len(list(Path("/proc/self/fd").iterdir()))


async def alive(house: House) -> bool:
    async with house.http() as http:
        return (await http.get("/healthz")).status_code == 200


async def test_no_bytes_at_all_disturb_the_daemon(house: House) -> None:
    house.limits = ApiLimits(head_s=0.5, body_s=0.5)

    @FAST
    @given(
        st.binary(max_size=300)
        | st.builds(lambda tail: b"POST /v1/messages HTTP/1.1\r\n" + tail, st.binary(max_size=300))
        | st.builds(lambda path: b"GET /" + path + b" HTTP/1.1\r\n\r\n", st.binary(max_size=100))
        | st.builds(lambda value: b"GET / HTTP/1.1\r\nkai-as: " + value + b"\r\n\r\n", st.binary(max_size=100))
    )
    def hammer(data: bytes) -> None:
        got = exchange(house.people, data)
        assert not got or got.startswith(b"HTTP/1.1 ")
        assert not got.startswith(b"HTTP/1.1 5")

    async with house.serving():
        await to_thread.run_sync(hammer)
        assert await alive(house)


async def test_no_json_body_is_more_than_refused(served: House) -> None:
    served.door.views["turn"] = {"questions": []}

    @FAST
    @given(st.sampled_from(SENDING), st.dictionaries(FIELDS, JSON, max_size=6) | JSON)
    def hammer(route: Any, data: Any) -> None:
        body = json.dumps(data).encode()
        status, answer = ask(served.people, route.method, route.path.replace("{id}", "x-1"), body)
        assert status < 500
        if status == 422:
            assert answer["field"]
        if status >= 400:
            assert set(answer) == {"type", "title", "status", "detail", "hint", "field"}

    await to_thread.run_sync(hammer)
    assert await alive(served)


@pytest.mark.parametrize("route", SENDING, ids=lambda route: f"{route.method} {route.path}")
async def test_every_route_refuses_the_same_bad_bodies(served: House, route: Any) -> None:
    path = route.path.replace("{id}", "x-1")
    async with served.http(headers={"content-type": "application/json"}) as http:
        for body, status, field in (
            (b"{", 400, ""),
            (b"[]", 422, "body"),
            (b"null", 422, "body"),
            (b'{"uid": 0}', 422, "uid"),
            (b'{"no_such_field": 1}', 422, "no_such_field"),
            (b'{"a": 1, "a": 2}', 400, "a"),
            (b"[" * 5000, 400, ""),
            (b'{"x": "' + b"y" * 70_000 + b'"}', 413, ""),
        ):
            answer = await http.request(route.method, path, content=body)
            assert (answer.status_code, answer.json()["field"]) == (status, field), body[:40]
    assert served.door.calls == []


async def test_every_route_refuses_another_type_of_body(served: House) -> None:
    async with served.http() as http:
        for route in SENDING:
            answer = await http.request(route.method, route.path, content=b"{}", headers={"content-type": "text/plain"})
            assert answer.status_code == 415, route
    assert served.door.calls == []


async def test_peers_that_come_and_go_at_any_moment_leave_nothing_behind(served: House) -> None:
    head = b"POST /v1/messages HTTP/1.1\r\ncontent-type: application/json\r\ncontent-length: 30\r\n\r\n"
    request = head + b'{"chat":"1","external_id":"a"}'

    def come_and_go() -> None:
        for cut in range(len(request) + 1):
            with socket.socket(socket.AF_UNIX) as peer:
                peer.connect(str(served.people))
                peer.sendall(request[:cut])

    async with served.http() as http:
        await http.get("/healthz")
        before = open_files()
        await to_thread.run_sync(come_and_go)
        for _ in range(200):
            await http.get("/healthz")
            if open_files() <= before:
                break
        assert open_files() <= before
