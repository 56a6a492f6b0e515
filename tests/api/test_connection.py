"""A peer that is slow, endless, stuck, or one too many is cut off, and nobody else feels it."""

import re
import socket
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, asynccontextmanager, suppress
from pathlib import Path

import anyio
import httpx
import pytest
from anyio.abc import SocketStream

from kai.api.connection import Gate
from kai.api.limits import ApiLimits
from tests.api.conftest import House, until
from tests.api.fake_door import delivery

pytestmark = pytest.mark.anyio
FDS = Path("/proc/self/fd")
GET = b"GET /v1/status HTTP/1.1\r\nhost: k\r\n\r\n"
POST = b"POST /v1/messages HTTP/1.1\r\nhost: k\r\ncontent-type: application/json\r\n"


@asynccontextmanager
async def connected(house: House) -> AsyncIterator[SocketStream]:
    async with await anyio.connect_unix(house.people) as stream:
        yield stream


async def rest(stream: SocketStream) -> bytes:
    """Everything until the daemon closes."""
    got = b""
    with anyio.fail_after(10):
        try:
            while True:
                got += await stream.receive()
        except (anyio.EndOfStream, anyio.BrokenResourceError):
            return got


async def works(house: House) -> bool:
    async with house.http() as http:
        return (await http.get("/v1/status")).status_code == 200


@pytest.mark.parametrize("sent", [b"GET /v1/sta", GET[:-2], GET + b"GET /"])
async def test_a_head_that_does_not_come_is_given_up(house: House, sent: bytes) -> None:
    house.limits = ApiLimits(head_s=0.15)
    async with house.serving(), connected(house) as stream:
        await stream.send(sent)
        assert b" 408 " in await rest(stream)
        assert await works(house)


@pytest.mark.parametrize("sent", [b"", b"\r\n"])
async def test_a_peer_that_asks_for_nothing_is_let_go_without_a_word(house: House, sent: bytes) -> None:
    house.limits = ApiLimits(head_s=0.15)
    async with house.serving(), connected(house) as stream:
        if sent:
            await stream.send(sent)
        assert await rest(stream) == b""


async def test_a_head_that_drips_is_given_up_all_the_same(house: House) -> None:
    house.limits = ApiLimits(head_s=0.3)
    async with house.serving(), connected(house) as stream, anyio.create_task_group() as group:

        async def drip() -> None:
            with anyio.CancelScope(), anyio.move_on_after(5):
                await stream.send(GET[:-2])
                while True:
                    await anyio.sleep(0.02)
                    try:
                        await stream.send(b"x: y\r\n")
                    except (anyio.BrokenResourceError, anyio.ClosedResourceError):
                        return

        group.start_soon(drip)
        assert b" 408 " in await rest(stream)


@pytest.mark.parametrize("path", [b"/v1/messages", b"/v1/attachments", b"/nowhere"])
async def test_a_body_that_drips_is_given_up(house: House, path: bytes) -> None:
    house.limits = ApiLimits(body_s=0.3)
    async with house.serving(), connected(house) as stream, anyio.create_task_group() as group:
        head = POST.replace(b"/v1/messages", path) + b"content-length: 1000\r\n\r\n"

        async def drip() -> None:
            with suppress(anyio.BrokenResourceError, anyio.ClosedResourceError):
                await stream.send(head)
                while True:
                    await stream.send(b"{")
                    await anyio.sleep(0.02)

        group.start_soon(drip)
        assert (b" 404 " if path == b"/nowhere" else b" 408 ") in await rest(stream)
        group.cancel_scope.cancel()
    assert house.door.calls == []


async def test_a_long_wait_for_an_answer_is_no_slow_request(house: House) -> None:
    house.limits = ApiLimits(head_s=0.1, body_s=0.1, idle_s=1)
    house.door.hold = anyio.Event()
    body = b'{"chat":"1","external_id":"a"}'
    async with house.serving(), connected(house) as stream:
        await stream.send(POST + b"content-length: %d\r\n\r\n" % len(body))
        await stream.send(body)
        with anyio.move_on_after(0.4):
            await stream.receive()
        house.door.hold.set()
        assert b" 202 " in await stream.receive()
        await stream.send(GET)
        assert b" 200 " in await stream.receive()


@pytest.mark.parametrize(
    "endless",
    [
        (b"GET / HTTP/1.1\r\n", b"x-many: " + b"y" * 100 + b"\r\n"),
        (b"GET / HTTP/1.1\r\nx-long: ", b"y" * 1000),
        (b"GET /", b"y" * 1000),
        (POST + b"transfer-encoding: chunked\r\n\r\n0\r\n", b"x-trailer: " + b"y" * 100 + b"\r\n"),
        (POST + b"transfer-encoding: chunked\r\n\r\n5", b";extension" * 100),
    ],
    ids=["headers", "one header", "path", "trailers", "chunk extension"],
)
async def test_a_head_without_end_is_cut_at_its_limit(house: House, endless: tuple[bytes, bytes]) -> None:
    house.limits = ApiLimits(head_bytes=16 * 1024)
    start, more = endless
    sent = 0
    async with house.serving(), connected(house) as stream:
        with suppress(anyio.BrokenResourceError), anyio.fail_after(10):
            await stream.send(start)
            while True:
                await stream.send(more)
                sent += len(more)
        assert await works(house)
    assert sent < 1024 * 1024


async def test_a_body_of_a_hundred_megabytes_is_refused_before_it_is_sent(served: House) -> None:
    async with connected(served) as stream:
        await stream.send(POST + b"expect: 100-continue\r\ncontent-length: 104857600\r\n\r\n")
        got = await rest(stream)
    assert got.startswith(b"HTTP/1.1 413 ")


async def test_requests_sent_far_ahead_of_their_answers_are_bounded(house: House) -> None:
    house.limits = ApiLimits(pipelined=4, stuck_s=0.3)
    house.door.hold = anyio.Event()
    body = b'{"chat":"1","external_id":"a","text":"x"}'
    async with house.serving(), connected(house) as stream:
        await stream.send((POST + b"content-length: %d\r\n\r\n" % len(body) + body) * 20)
        await rest(stream)
        house.door.hold.set()
        assert await works(house)
    assert len(house.door.taken) <= 1


async def test_what_is_one_request_too_many_is_said_behind_the_answers_that_are_owed(house: House) -> None:
    house.limits = ApiLimits(pipelined=4)
    async with house.serving(), connected(house) as stream:
        await stream.send(GET * 100)
        got = await rest(stream)
        assert re.findall(rb"HTTP/1.1 (\d+)", got) == [b"200"] * 5 + [b"400"]
        assert b"ahead of their answers" in got
        assert await works(house)


async def test_no_http_behind_requests_is_said_behind_their_answers(served: House) -> None:
    async with connected(served) as stream:
        await stream.send(GET * 2 + b"\x00\xff\r\n\r\n")
        got = await rest(stream)
    assert re.findall(rb"HTTP/1.1 (\d+)", got) == [b"200", b"200", b"400"]


@pytest.mark.parametrize("long", ["header", "path"])
async def test_a_head_over_the_limit_is_refused_though_it_comes_at_once(served: House, long: str) -> None:
    many = b"y" * 200_000
    sent = GET[:-2] + b"x: " + many + b"\r\n\r\n" if long == "header" else GET.replace(b"status", b"status?" + many)
    got = await served.raw(sent)
    assert got.startswith(b"HTTP/1.1 400 ")
    assert b"headers are longer" in got


async def test_requests_a_little_ahead_of_their_answers_are_answered_in_order(served: House) -> None:
    async with connected(served) as stream:
        await stream.send(GET * 2 + b"GET /nowhere HTTP/1.1\r\nhost: k\r\nconnection: close\r\n\r\n")
        got = await rest(stream)
    assert re.findall(rb"HTTP/1.1 (\d+)", got) == [b"200", b"200", b"404"]


@pytest.mark.parametrize(
    "sent", [b"\x00\xff\x00\xff\r\n\r\n", b"GET / HTTP/9.9\r\n\r\n", b"GET /\xff\xff HTTP/1.1\r\n\r\n"]
)
async def test_what_is_no_http_is_a_problem(served: House, sent: bytes) -> None:
    got = await served.raw(sent)
    assert got.startswith(b"HTTP/1.1 400 ")
    assert b"application/problem+json" in got


async def test_a_reader_that_stands_still_costs_one_event_and_is_cut_off(house: House) -> None:
    house.limits = ApiLimits(stuck_s=0.3)
    house.door.owed = [delivery(number, "x" * 1_000_000) for number in range(1, 200)]
    async with house.serving(), connected(house) as stream:
        await stream.send(b"GET /v1/deliveries HTTP/1.1\r\nhost: k\r\n\r\n")
        await until(lambda: house.door.closed == 1)
        assert house.door.released <= 4
        assert await works(house)


def kernel_room() -> int:
    """How many bytes of one write fit between two processes unread."""
    ours, theirs = socket.socketpair(socket.AF_UNIX)
    with ours, theirs:
        ours.setblocking(False)
        return ours.send(b"x" * 50_000_000)


def open_sockets() -> int:
    return sum(link.is_socket() for link in FDS.iterdir())


@pytest.mark.parametrize("beyond", [20_000, 3_000_000], ids=["a little", "much"])
@pytest.mark.parametrize("head", [GET, GET[:-2] + b"connection: close\r\n\r\n"], ids=["stays", "closes"])
async def test_a_reader_that_stands_still_before_a_whole_answer_is_cut_off(
    house: House, beyond: int, head: bytes
) -> None:
    house.limits = ApiLimits(stuck_s=0.2)
    house.door.views["status"] = {"large": "x" * (kernel_room() + beyond)}
    async with house.serving(), connected(house) as stream:
        await stream.send(head)
        await until(lambda: bool(house.door.calls))
        before = open_sockets()
        await until(lambda: open_sockets() < before)


async def test_a_reader_that_goes_frees_its_stream_at_once(served: House) -> None:
    for number in range(1, 20):
        async with connected(served) as stream:
            await stream.send(b"GET /v1/deliveries HTTP/1.1\r\nhost: k\r\n\r\n")
            assert b"200" in await stream.receive()
        await until(lambda number=number: served.door.closed == number)  # type: ignore[misc]


async def test_two_hundred_connections_leave_room_and_the_daemon_goes_on(house: House) -> None:
    house.limits = ApiLimits(connections=40)
    async with house.serving():
        async with AsyncExitStack() as stack:
            streams = [await stack.enter_async_context(connected(house)) for _ in range(200)]
            refused = [await rest(stream) for stream in streams[30:]]
            assert all(answer.startswith(b"HTTP/1.1 503 ") for answer in refused)
            await streams[0].send(GET)
            assert b" 200 " in await streams[0].receive()
            async with house.http(house.agents) as http:
                assert (await http.get("/v1/agent/whoami")).status_code == 403
        await until_works(house)


async def until_works(house: House) -> None:
    with anyio.fail_after(5):
        while True:
            try:
                if await works(house):
                    return
            except httpx.HTTPError:
                await anyio.sleep(0.01)


def test_one_uid_cannot_take_every_place() -> None:
    gate = Gate(ApiLimits(connections=4))
    assert [gate.enter(1001) for _ in range(4)] == [True, True, True, False]
    assert gate.enter(1002)
    assert not gate.enter(1003)
    gate.leave(1001)
    assert gate.enter(1003)
    for uid in (1001, 1001, 1002, 1003):
        gate.leave(uid)
    assert not gate._of_uid


async def test_a_connection_that_idles_is_closed_and_one_in_use_is_not(house: House) -> None:
    house.limits = ApiLimits(idle_s=1, head_s=0.1)
    async with house.serving(), connected(house) as stream:
        await stream.send(GET)
        assert b" 200 " in await stream.receive()
        with anyio.fail_after(5):
            assert await rest(stream) == b""
