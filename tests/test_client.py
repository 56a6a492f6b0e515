"""The client against the real door, with a fake house behind it."""

import re
from collections.abc import AsyncIterator, Iterable
from contextlib import aclosing
from dataclasses import replace
from datetime import UTC, datetime
from inspect import getmembers, isfunction
from pathlib import Path

import anyio
import pytest
from hypothesis import given
from hypothesis import strategies as st

from kai.client import Client, decode, events_in
from kai.model.errors import ApiError, BusyError, DeniedError, StoreError, UnreachableError
from kai.model.ids import AttachmentRef, DeliveryId, TurnId
from kai.model.messages import InboundMessage
from kai.model.people import Preference
from kai.model.turns import Delivery, Progress, Receipt, ReceiptOutcome
from kai.turns.door import Door
from tests.api.conftest import House, house, served  # noqa: F401 - fixtures
from tests.api.fake_door import delivery

pytestmark = pytest.mark.anyio
INBOUND = InboundMessage("terminal", "1", "", "", "a", "hello")


@pytest.fixture
async def client(served: House) -> AsyncIterator[Client]:  # noqa: F811
    async with Client(served.people) as found:
        yield found


async def pieces(parts: Iterable[bytes]) -> AsyncIterator[bytes]:
    for part in parts:
        yield part


def test_the_client_can_do_whatever_the_door_can() -> None:
    can = {name for name, _ in getmembers(Door, isfunction) if not name.startswith("_")}
    assert can <= {name for name, _ in getmembers(Client, isfunction)}


async def test_a_message_is_handed_in_and_its_receipt_comes_back(served: House, client: Client) -> None:  # noqa: F811
    sent = replace(
        INBOUND,
        thread="7",
        sender="@anna",
        text="a\ud800\0\u2028",
        attachments=(AttachmentRef("x-1"),),
        reply_to="r",
        edit_of="e",
        deleted=True,
        sent_at=datetime(2026, 11, 30, tzinfo=UTC),
    )
    first, again = await client.receive(sent), await client.receive(sent)
    assert (first.turn, first.duplicate) == ("t-0", False)
    assert again == replace(first, duplicate=True)
    assert served.door.calls[0][1] == (replace(sent, text="a\ufffd\u2400\u2028"),)


async def test_deliveries_come_as_they_were_made(served: House, client: Client) -> None:  # noqa: F811
    progress = Progress(TurnId("t-1"), "running", "so\u2028far\u0085", ({"name": "Read", "target": "x", "ok": None},))
    served.door.owed = [delivery(7, "a\n\n\u2028data: b"), progress]
    got: list[Delivery | Progress] = []
    async with aclosing(client.deliveries(after=3, idempotent=True)) as stream:
        async for item in stream:
            got.append(item)
            if len(got) == 2:
                break
    assert got == served.door.owed
    assert served.door.calls == [("deliveries", (3, True))]


async def test_a_stream_that_the_daemon_ends_is_told_from_one_that_has_nothing(house: House) -> None:  # noqa: F811
    async with Client(house.people) as client, anyio.create_task_group() as group:
        ends: list[str] = []

        async def listen() -> None:
            try:
                async for _ in client.deliveries():
                    pass
            except UnreachableError as error:
                ends.append(error.sentence)

        async with house.serving() as parts:
            group.start_soon(listen)
            with anyio.fail_after(5):
                while not parts.streams:  # noqa: ASYNC110 - what is waited for happens in the code under test
                    await anyio.sleep(0.005)
    assert len(ends) == 1
    assert "ended the stream" in ends[0]


async def test_a_problem_in_a_stream_is_the_same_error_as_one_before_it(served: House, client: Client) -> None:  # noqa: F811
    served.door.owed = [delivery(7)]
    served.door.fails["deliveries_end"] = StoreError("kai.db", "the disk is full", "Make room.")
    stream = client.deliveries()
    await anext(stream)
    with pytest.raises(ApiError) as caught:
        await anext(stream)
    assert (caught.value.status, caught.value.hint) == (503, "Make room.")


async def test_a_stream_left_early_frees_its_connection(served: House, client: Client) -> None:  # noqa: F811
    for number in range(1, 8):
        served.door.owed = [delivery(number)]
        async with aclosing(client.deliveries()) as stream:
            await anext(stream)
        with anyio.fail_after(5):
            while served.door.closed < number:  # noqa: ASYNC110
                await anyio.sleep(0.005)


async def test_every_other_question_reaches_the_door_as_it_was_asked(served: House, client: Client) -> None:  # noqa: F811
    served.door.rows = [{"type": "state"}, {"type": "end"}]
    served.door.views["turn"] = {"questions": [{"ask": "k-1", "state": "open"}]}
    await client.receipt("d-1", Receipt(ReceiptOutcome.SENT, ("1",), "none"))
    await client.turns(channel="c-1", limit=3)
    await client.turns()
    await client.turn("t-1 ?ä%2F")
    assert [row async for row in client.events("t-1")] == served.door.rows
    await client.stop("t-1")
    await client.retry("t-1")
    await client.answer("k-1", "y")
    await client.answer_turn("t-1", "", "blue")
    await client.context("t-1", why=True)
    await client.context("t-1")
    await client.verify("t-1")
    await client.preview("hi", "c-1")
    await client.diff("t-1", "t-2")
    assert await client.channels() == [{"view": "channels"}]
    await client.channel("c-1")
    await client.history("c-1", before=9)
    await client.history("c-1", limit=2)
    await client.search("meter", channel="c-1", limit=2)
    await client.people()
    assert await client.person("p-1") == {"view": "person"}
    await client.add_person("Carla", "carla")
    await client.change_person("p-1", {"zone": "UTC"})
    await client.remove_person("p-1")
    await client.link("p-1", "tg", "12")
    await client.use(Preference(backend="gemini"), channel="c-1", wait=True)
    await client.backends()
    await client.check_backend("claude")
    await client.status()
    await client.doctor()
    await client.reload()
    asked = [call for call in served.door.calls if call != ("turn", ("t-1",))]
    assert asked == [
        ("receipt", (DeliveryId("d-1"), Receipt(ReceiptOutcome.SENT, ("1",), "none"))),
        ("turns", ("c-1", 3)),
        ("turns", (None, 50)),
        ("turn", ("t-1 ?ä%2F",)),
        ("events", ("t-1",)),
        ("stop", ("t-1",)),
        ("retry", ("t-1",)),
        ("answer", ("k-1", "y", "")),
        ("answer", ("k-1", "", "blue")),
        ("context", ("t-1", True)),
        ("context", ("t-1", False)),
        ("verify", ("t-1",)),
        ("preview", ("hi", "c-1")),
        ("diff", ("t-1", "t-2")),
        ("channels", ()),
        ("channel", ("c-1",)),
        ("history", ("c-1", 9, 50)),
        ("history", ("c-1", None, 2)),
        ("search", ("c-1", "meter", 2)),
        ("people", ()),
        ("person", ("p-1",)),
        ("add_person", ("Carla", "carla")),
        ("change_person", ("p-1", {"zone": "UTC"})),
        ("remove_person", ("p-1",)),
        ("link", ("p-1", "tg", "12")),
        ("use", ("c-1", Preference(backend="gemini"), True, False, "")),
        ("backends", ()),
        ("check_backend", ("claude",)),
        ("status", ()),
        ("doctor", ()),
        ("reload", ()),
    ]


async def test_a_file_goes_in_and_comes_back(client: Client) -> None:
    stored = await client.attach(b"\x00\xff", "Müll.bin", "application/x-y")
    assert (stored["name"], stored["size_bytes"]) == ("Müll.bin", 2)
    assert await client.attachment(stored["ref"]) == b"\x00\xff"


async def test_a_refusal_carries_what_the_problem_document_says(served: House, client: Client) -> None:  # noqa: F811
    served.door.fails["use"] = BusyError("c-1", "t-1")
    with pytest.raises(ApiError) as caught:
        await client.use(Preference())
    assert (caught.value.status, caught.value.title) == (409, "Busy")
    assert caught.value.sentence == BusyError("c-1", "t-1").sentence
    assert caught.value.hint == BusyError("c-1", "t-1").hint
    with pytest.raises(ApiError) as caught:
        await client.search("x", limit=0)
    assert caught.value.field == "limit"


async def test_a_refused_stream_is_an_error_at_once(served: House, client: Client) -> None:  # noqa: F811
    served.door.fails["turn"] = DeniedError("this turn answers another person")
    with pytest.raises(ApiError) as caught:
        await anext(client.events("t-1"))
    assert caught.value.status == 403


async def test_an_operator_speaks_for_a_person_of_any_name(served: House) -> None:  # noqa: F811
    async with Client(served.people, as_person="Ben Ö") as client:
        await client.status()
    assert served.door.callers[0].principal == "p-ben"


async def test_without_a_daemon_the_error_says_where_and_what_to_do(tmp_path: Path) -> None:
    async with Client(tmp_path / "people.sock") as client:
        with pytest.raises(UnreachableError, match="No such file") as caught:
            await client.status()
    assert str(tmp_path) in caught.value.sentence
    assert "kai serve" in caught.value.hint


async def test_a_socket_that_nobody_serves_is_told_from_one_that_is_not_there(house: House) -> None:  # noqa: F811
    async with house.serving():
        pass
    async with await anyio.create_unix_listener(house.people):
        pass
    async with Client(house.people) as client:
        with pytest.raises(UnreachableError, match=r"refused|No such file"):
            await client.status()


@pytest.mark.parametrize("answer", [b"", b"HTTP/1.1 200 OK\r\ncontent-length: 9\r\n\r\nhalf"])
async def test_an_answer_that_breaks_off_is_no_answer(house: House, answer: bytes) -> None:  # noqa: F811
    async def break_off(stream: anyio.abc.SocketStream) -> None:
        async with stream:
            await stream.receive()
            if answer:
                await stream.send(answer)

    async with await anyio.create_unix_listener(house.folder / "s") as listener, anyio.create_task_group() as group:
        group.start_soon(listener.serve, break_off)
        async with Client(house.folder / "s") as client:
            with pytest.raises(UnreachableError):
                await client.status()
            with pytest.raises(UnreachableError):
                await anext(client.deliveries())
        group.cancel_scope.cancel()


async def test_a_daemon_that_is_silent_for_too_long_is_not_waited_for(served: House) -> None:  # noqa: F811
    served.door.hold = anyio.Event()
    async with Client(served.people, answer_s=0.1) as client:
        with pytest.raises(UnreachableError, match="in time"):
            await client.receive(INBOUND)
    served.door.hold.set()


async def test_waiting_for_a_running_turn_has_no_limit_of_its_own(served: House) -> None:  # noqa: F811
    hold = anyio.Event()
    use = served.door.use

    async def later(*args: object, **more: object) -> dict[str, object]:
        await hold.wait()
        return await use(*args, **more)  # type: ignore[arg-type]

    served.door.use = later  # type: ignore[method-assign]
    async with Client(served.people, answer_s=0.1) as hasty, anyio.create_task_group() as group:

        async def wait() -> None:
            assert await hasty.use(Preference(backend="gemini"), wait=True) == {"view": "use"}

        group.start_soon(wait)
        with pytest.raises(UnreachableError, match="in time"):
            await hasty.use(Preference(backend="gemini"))
        hold.set()


async def test_a_refusal_that_is_no_problem_document_still_has_a_sentence(house: House) -> None:  # noqa: F811
    async def gateway(stream: anyio.abc.SocketStream) -> None:
        async with stream:
            await stream.receive()
            await stream.send(b"HTTP/1.1 502 Bad\r\ncontent-length: 5\r\nconnection: close\r\n\r\n<html")

    async with await anyio.create_unix_listener(house.folder / "s") as listener, anyio.create_task_group() as group:
        group.start_soon(listener.serve, gateway)
        async with Client(house.folder / "s") as client:
            with pytest.raises(ApiError, match="answered 502"):
                await client.status()
        group.cancel_scope.cancel()


def test_the_client_serves_commands_that_know_no_loop(tmp_path: Path) -> None:
    async def ask() -> None:
        async with Client(tmp_path / "gone") as client:
            await client.status()

    with pytest.raises(UnreachableError):
        anyio.run(ask)


def test_a_newer_daemons_fields_are_left_out() -> None:
    found = decode(Progress, {"turn": "t-1", "state": "running", "text": "", "tools": [], "mood": "good"})
    assert found == Progress(TurnId("t-1"), "running", "")


@given(st.text(), st.lists(st.integers(min_value=1, max_value=40), max_size=30))
def test_events_are_the_same_however_the_bytes_are_cut(text: str, cuts: list[int]) -> None:
    whole = b": alive\n\n" + b"".join(
        b"id: 1\nevent: delivery\ndata: " + re.sub(rb"\s+$", b"", repr_json(text)) + b"\n\n" for _ in range(2)
    )
    parts, place = [], 0
    for cut in cuts:
        parts.append(whole[place : place + cut])
        place += cut
    parts.append(whole[place:])

    async def read() -> list[tuple[str, object]]:
        return [event async for event in events_in(pieces(parts))]

    assert anyio.run(read) == [("delivery", text), ("delivery", text)]


def repr_json(text: str) -> bytes:
    from pydantic_core import to_json

    return to_json(text)
