"""How answers go out: streams that end, stay small, and say what went wrong."""

from collections.abc import AsyncIterator
from datetime import UTC, datetime
from typing import Any

import anyio
import pytest

from kai.api.answers import Event, Stream, as_json, encoded_problem, fault, send_stream
from kai.client import events_in
from kai.log import log
from kai.model.errors import ApiError, StoreError
from kai.model.ids import TurnId
from kai.model.turns import Progress, Receipt, ReceiptOutcome

pytestmark = pytest.mark.anyio


class Wire:
    """The ASGI side of one connection."""

    def __init__(self) -> None:
        self.sent: list[dict[str, Any]] = []
        self.gone = anyio.Event()

    async def receive(self) -> dict[str, Any]:
        await self.gone.wait()
        return {"type": "http.disconnect"}

    async def send(self, message: Any) -> None:
        self.sent.append(message)

    @property
    def body(self) -> bytes:
        return b"".join(message.get("body", b"") for message in self.sent)


def shape(item: Any) -> Event:
    return Event("item", item)


async def test_a_stream_that_ends_is_complete() -> None:
    async def source() -> AsyncIterator[int]:
        yield 1
        yield 2

    wire, streams = Wire(), set[anyio.CancelScope]()
    await send_stream(wire.receive, wire.send, Stream(source(), shape), 5, streams)
    assert wire.body == b"event: item\ndata: 1\n\nevent: item\ndata: 2\n\n"
    assert wire.sent[-1] == {"type": "http.response.body", "body": b""}
    assert streams == set()


async def test_a_stream_says_that_it_lives_while_nothing_happens() -> None:
    async def source() -> AsyncIterator[int]:
        await anyio.sleep_forever()
        yield 1

    wire = Wire()
    async with anyio.create_task_group() as group:
        group.start_soon(lambda: send_stream(wire.receive, wire.send, Stream(source(), shape), 0.01, set()))
        with anyio.fail_after(5):
            while wire.body.count(b": alive\n\n") < 3:  # noqa: ASYNC110 - heartbeats have no bell
                await anyio.sleep(0.005)
        wire.gone.set()


@pytest.mark.parametrize("end", ["reader", "server"])
async def test_the_source_is_closed_when_the_reader_goes_or_the_server_stops(end: str) -> None:
    closed = anyio.Event()

    async def source() -> AsyncIterator[int]:
        try:
            yield 1
            await anyio.sleep_forever()
        finally:
            closed.set()

    wire, streams = Wire(), set[anyio.CancelScope]()
    with anyio.fail_after(5):
        async with anyio.create_task_group() as group:
            group.start_soon(lambda: send_stream(wire.receive, wire.send, Stream(source(), shape), 5, streams))
            while b"data: 1" not in wire.body:  # noqa: ASYNC110 - what is sent has no bell
                await anyio.sleep(0.005)
            if end == "reader":
                wire.gone.set()
            else:
                next(iter(streams)).cancel()
    assert closed.is_set()
    assert streams == set()
    assert wire.sent[-1] == {"type": "http.response.body", "body": b""}


@pytest.mark.parametrize(
    ("error", "status", "said"),
    [
        (StoreError("kai.db", "the disk is full"), 503, "disk is full"),
        (ValueError("secret"), 500, "mistake of its own"),
    ],
)
async def test_an_error_in_a_stream_is_its_last_event_and_tells_no_secret(
    error: Exception, status: int, said: str
) -> None:
    async def source() -> AsyncIterator[int]:
        yield 1
        raise error

    wire = Wire()
    await send_stream(wire.receive, wire.send, Stream(source(), shape), 5, set())

    async def body() -> AsyncIterator[bytes]:
        yield wire.body

    name, data = [event async for event in events_in(body())][-1]
    assert (name, data["status"]) == ("problem", status)
    assert said in data["detail"]
    assert b"secret" not in wire.body


async def test_a_source_is_asked_for_no_more_than_the_reader_takes() -> None:
    asked = 0

    async def source() -> AsyncIterator[int]:
        nonlocal asked
        while True:
            asked += 1
            yield asked

    wire = Wire()
    stuck = anyio.Event()

    async def send(message: Any) -> None:
        await wire.send(message)
        if b"data: 3" in wire.body:
            stuck.set()
            await anyio.sleep_forever()

    async with anyio.create_task_group() as group:
        group.start_soon(lambda: send_stream(wire.receive, send, Stream(source(), shape), 5, set()))
        with anyio.fail_after(5):
            await stuck.wait()
        await anyio.wait_all_tasks_blocked()
        assert asked == 3
        group.cancel_scope.cancel()


def test_json_has_fields_by_name_enums_by_value_and_times_with_their_offset() -> None:
    assert as_json(Receipt(ReceiptOutcome.SENT, ("1",))) == b'{"outcome":"sent","external_ids":["1"],"problem":""}'
    assert as_json(datetime(2026, 11, 30, tzinfo=UTC)) == b'"2026-11-30T00:00:00Z"'


def test_half_a_surrogate_pair_from_an_agent_costs_a_sign_and_not_the_answer() -> None:
    progress = Progress(TurnId("t-1"), "running", "a\ud800b", ({"name": "\udfff"},))
    assert as_json(progress) == b'{"turn": "t-1", "state": "running", "text": "a?b", "tools": [{"name": "?"}]}'


def test_a_fault_is_known_outside_by_its_id_only(monkeypatch: pytest.MonkeyPatch) -> None:
    error, logs = ValueError("inner detail"), []
    monkeypatch.setattr(log, "write", lambda level, event, fields: logs.append((level, event, fields)))
    found = fault(error, route="GET /x")
    assert "inner detail" not in found.sentence
    ((level, event, fields),) = logs
    assert (level, event) == ("error", "api.fault")
    assert fields == {"fault": fields["fault"], "route": "GET /x", "exc_info": error}
    assert fields["fault"] in found.sentence


def test_an_answer_without_a_request_is_whole_http() -> None:
    head, _, body = encoded_problem(ApiError(503, "Crowded")).partition(b"\r\n\r\n")
    assert head.startswith(b"HTTP/1.1 503 ")
    assert b"content-length: %d" % len(body) in head
    assert b"connection: close" in head
