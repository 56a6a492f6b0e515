"""What is said, over real sockets: messages, deliveries, attachments, channels."""

from typing import Any

import anyio
import httpx
import pytest

from kai.client import events_in
from kai.model.errors import QueueFullError, WrongMoveError
from kai.model.ids import AttachmentRef, TurnId
from kai.model.messages import InboundMessage
from kai.model.turns import Progress, Receipt, ReceiptOutcome
from tests.api.conftest import MAX_BODY, MAX_FILE, House
from tests.api.fake_door import NOW, delivery

pytestmark = pytest.mark.anyio
MESSAGE = {"chat": "1", "external_id": "a", "text": "hello"}


async def test_a_message_is_taken_once_and_a_repeat_gives_the_same_ids(http: httpx.AsyncClient) -> None:
    first = await http.post("/v1/messages", json=MESSAGE)
    again = await http.post("/v1/messages", json=MESSAGE)
    assert (first.status_code, again.status_code) == (202, 202)
    assert first.json()["duplicate"] is False
    assert again.json() == first.json() | {"duplicate": True}


async def test_a_message_goes_in_whole_and_its_bridge_is_that_of_the_caller(
    served: House, http: httpx.AsyncClient
) -> None:
    body: dict[str, Any] = {
        "chat": "room",
        "thread": "7",
        "sender": "@anna",
        "external_id": "e1",
        "text": "a\0\u2028é",
        "attachments": ["x-1"],
        "reply_to": "e0",
        "edit_of": "e-1",
        "deleted": True,
        "sent_at": "2026-11-30T18:41:00+01:00",
    }
    await http.post("/v1/messages", json=body)
    assert served.door.calls[-1] == (
        "receive",
        (
            InboundMessage(
                "terminal",
                "room",
                "7",
                "@anna",
                "e1",
                "a\u2400\u2028é",
                (AttachmentRef("x-1"),),
                reply_to="e0",
                edit_of="e-1",
                deleted=True,
                sent_at=NOW,
            ),
        ),
    )


async def test_a_lone_surrogate_costs_a_sign_and_not_the_message(served: House, http: httpx.AsyncClient) -> None:
    answer = await http.post(
        "/v1/messages",
        content=b'{"chat":"1","external_id":"a","text":"x\\ud800y"}',
        headers={"content-type": "application/json"},
    )
    assert answer.status_code == 202
    assert served.door.calls[-1][1][0].text == "x\ufffdy"


async def test_a_full_queue_is_refused_with_a_notice(served: House, http: httpx.AsyncClient) -> None:
    served.door.fails["receive"] = QueueFullError("c-1", 5)
    answer = await http.post("/v1/messages", json=MESSAGE)
    assert answer.status_code == 429
    assert answer.headers["content-type"] == "application/problem+json"
    assert answer.json()["hint"]


async def test_a_body_over_the_limit_is_refused_with_the_limit(served: House, http: httpx.AsyncClient) -> None:
    answer = await http.post("/v1/messages", json=MESSAGE | {"text": "x" * MAX_BODY})
    assert answer.status_code == 413
    assert f"{MAX_BODY:,}" in answer.json()["detail"]
    assert answer.headers["connection"] == "close"
    assert served.door.calls == []


async def test_deliveries_have_numbers_and_progress_has_none(served: House) -> None:
    served.door.owed = [delivery(7, "a\u2028b"), Progress(TurnId("t-1"), "running", "so far"), delivery(9)]
    async with served.http() as http, http.stream("GET", "/v1/deliveries") as answer:
        assert answer.headers["content-type"] == "text/event-stream"
        raw = answer.aiter_raw()
        got = b""
        while got.count(b"\n\n") < 3:
            got += await anext(raw)
    blocks = got.decode().split("\n\n")
    assert [block.split("\n")[0] for block in blocks[:3]] == ["id: 7", "event: progress", "id: 9"]
    assert blocks[0].split("\n")[1] == "event: delivery"


async def test_a_delivery_carries_all_its_fields_by_their_names(served: House) -> None:
    served.door.owed = [delivery(7)]
    async with served.http() as http, http.stream("GET", "/v1/deliveries") as answer:
        _, data = await anext(events_in(answer.aiter_raw()))
    assert data["created_at"] == "2026-11-30T17:41:00Z"
    assert data["choices"] == [{"key": "y", "label": "Yes", "kind": "allow_once"}]
    assert (data["delivery"], data["state"], data["turn_state"]) == ("d-7", "claimed", "done")


@pytest.mark.parametrize(
    ("path", "headers", "asked"),
    [
        ("/v1/deliveries", {}, (None, False)),
        ("/v1/deliveries?after=4&idempotent=1", {}, (4, True)),
        ("/v1/deliveries?after=4", {"last-event-id": "6"}, (6, False)),
    ],
)
async def test_a_bridge_goes_on_where_it_was(
    served: House, path: str, headers: dict[str, str], asked: tuple[int | None, bool]
) -> None:
    served.door.owed = [delivery(7)]
    async with served.http() as http, http.stream("GET", path, headers=headers) as answer:
        await anext(answer.aiter_raw())
    assert served.door.calls == [("deliveries", asked)]


@pytest.mark.parametrize("last", ["x", "-1", "1.5", "9" * 30, "\u0664"])
async def test_a_last_event_id_that_is_no_number_is_refused(http: httpx.AsyncClient, last: str) -> None:
    answer = await http.get("/v1/deliveries", headers={b"last-event-id": last.encode()})
    assert (answer.status_code, answer.json()["field"]) == (422, "after")


async def test_a_receipt_is_handed_on(served: House, http: httpx.AsyncClient) -> None:
    answer = await http.post("/v1/deliveries/d-7/receipt", json={"outcome": "sent", "external_ids": ["1", "2"]})
    assert (answer.status_code, answer.content) == (204, b"")
    assert served.door.calls == [("receipt", ("d-7", Receipt(ReceiptOutcome.SENT, ("1", "2"))))]


async def test_a_receipt_that_comes_too_late_is_said_to_be(served: House, http: httpx.AsyncClient) -> None:
    served.door.fails["receipt"] = WrongMoveError("delivery", "d-7", "sent", "unknown")
    answer = await http.post("/v1/deliveries/d-7/receipt", json={"outcome": "unknown"})
    assert answer.status_code == 409


async def test_a_file_comes_back_as_it_went_in(served: House, http: httpx.AsyncClient) -> None:
    data = bytes(range(256)) * 4096
    stored = await http.post(
        "/v1/attachments", params={"name": "../Müll.png"}, content=data, headers={"content-type": "image/png"}
    )
    assert stored.status_code == 201
    info = stored.json()
    assert (info["name"], info["size_bytes"], info["media_type"]) == ("Müll.png", len(data), "image/png")
    back = await http.get(f"/v1/attachments/{info['ref']}")
    assert back.content == data
    assert back.headers["content-type"] == "image/png"
    assert back.headers["content-disposition"] == "attachment; filename*=UTF-8''M%C3%BCll.png"
    assert back.headers["x-content-type-options"] == "nosniff"


async def test_a_file_over_the_limit_is_refused_and_leaves_nothing(served: House, http: httpx.AsyncClient) -> None:
    async def endless() -> Any:
        for _ in range(1000):
            yield b"x" * 65536

    answer = await http.post("/v1/attachments", content=endless())
    assert answer.status_code == 413
    assert f"{MAX_FILE:,}" in answer.json()["detail"]
    folder = anyio.Path(served.folder / "state" / "attachments")
    assert [entry async for entry in folder.iterdir()] == []
    assert served.door.files == {}


async def test_a_file_that_was_removed_is_not_found(served: House, http: httpx.AsyncClient) -> None:
    info = (await http.post("/v1/attachments", content=b"x")).json()
    assert "path" not in info
    await anyio.Path(served.door.files[info["ref"]].path).unlink()
    assert (await http.get(f"/v1/attachments/{info['ref']}")).status_code == 404
    assert (await http.get("/v1/attachments/x-nothing")).status_code == 404


async def test_channels_and_their_messages_are_asked_for_as_said(served: House, http: httpx.AsyncClient) -> None:
    for path in ("/v1/channels", "/v1/channels/c-1", "/v1/channels/c-1/messages?before=9&limit=3"):
        assert (await http.get(path)).status_code == 200
    found = await http.post("/v1/history/search", json={"query": "meter", "channel": "c-1", "limit": 3})
    assert found.json() == [{"view": "search"}]
    await http.post("/v1/history/search", json={"query": "meter"})
    assert served.door.calls == [
        ("channels", ()),
        ("channel", ("c-1",)),
        ("history", ("c-1", 9, 3)),
        ("search", ("c-1", "meter", 3)),
        ("search", (None, "meter", 20)),
    ]
