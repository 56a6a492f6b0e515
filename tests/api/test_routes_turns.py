"""Turns, questions and contexts, over real sockets."""

import httpx
import pytest

from kai.client import events_in
from kai.model.errors import BusyError, UnknownThingError, WrongMoveError
from tests.api.conftest import House

pytestmark = pytest.mark.anyio


async def test_turns_are_asked_for_as_said(served: House, http: httpx.AsyncClient) -> None:
    for path in (
        "/v1/turns",
        "/v1/turns?channel=c-1&limit=2",
        "/v1/turns/t-1",
        "/v1/turns/t-1/context",
        "/v1/turns/t-1/context?why=1",
        "/v1/turns/t-1/context/verify",
        "/v1/context/diff?a=t-1&b=t-2",
    ):
        assert (await http.get(path)).status_code == 200, path
    assert (await http.post("/v1/turns/t-1/stop")).status_code == 200
    assert (await http.post("/v1/turns/t-1/retry", json={})).status_code == 202
    assert (await http.post("/v1/context/preview", json={"text": "hi"})).status_code == 200
    assert (await http.post("/v1/context/preview", json={"text": "hi", "channel": "c-1"})).status_code == 200
    assert served.door.calls == [
        ("turns", (None, 50)),
        ("turns", ("c-1", 2)),
        ("turn", ("t-1",)),
        ("context", ("t-1", False)),
        ("context", ("t-1", True)),
        ("verify", ("t-1",)),
        ("diff", ("t-1", "t-2")),
        ("stop", ("t-1",)),
        ("retry", ("t-1",)),
        ("preview", ("hi", None)),
        ("preview", ("hi", "c-1")),
    ]


async def test_the_events_of_a_turn_end_with_its_end(served: House, http: httpx.AsyncClient) -> None:
    served.door.rows = [{"type": "state", "state": "running"}, {"type": "text", "text": "a\u0085b"}, {"type": "end"}]
    async with http.stream("GET", "/v1/turns/t-1/events") as answer:
        found = [event async for event in events_in(answer.aiter_raw())]
    assert found == [(row["type"], row) for row in served.door.rows]


async def test_the_events_of_a_turn_that_had_none_are_an_empty_stream(http: httpx.AsyncClient) -> None:
    answer = await http.get("/v1/turns/t-1/events")
    assert (answer.status_code, answer.content) == (200, b"")


async def test_the_events_of_an_unknown_turn_are_not_found(served: House, http: httpx.AsyncClient) -> None:
    served.door.fails["turn"] = UnknownThingError("turn", "t-9")
    answer = await http.get("/v1/turns/t-9/events")
    assert answer.status_code == 404
    assert "t-9" in answer.json()["detail"]


async def test_stopping_names_its_turn_in_the_path_and_takes_no_foreign_field(
    served: House, http: httpx.AsyncClient
) -> None:
    answer = await http.post("/v1/turns/t-1/stop", json={"principal": "p-ben"})
    assert (answer.status_code, answer.json()["field"]) == (422, "principal")
    assert served.door.calls == []


async def test_a_question_is_answered_by_its_own_id(served: House, http: httpx.AsyncClient) -> None:
    assert (await http.post("/v1/questions/k-1/answer", json={"choice": "y"})).status_code == 200
    assert served.door.calls == [("answer", ("k-1", "y", ""))]


async def test_the_one_open_question_of_a_turn_is_answered_by_the_turn(served: House, http: httpx.AsyncClient) -> None:
    served.door.views["turn"] = {"questions": [{"ask": "k-1", "state": "answered"}, {"ask": "k-2", "state": "open"}]}
    answer = await http.post("/v1/turns/t-1/answer", json={"text": "blue"})
    assert answer.status_code == 200
    assert served.door.calls[-1] == ("answer", ("k-2", "", "blue"))


async def test_with_several_open_questions_none_is_guessed(served: House, http: httpx.AsyncClient) -> None:
    served.door.views["turn"] = {"questions": [{"ask": "k-1", "state": "open"}, {"ask": "k-2", "state": "open"}]}
    answer = await http.post("/v1/turns/t-1/answer", json={"choice": "y"})
    assert answer.status_code == 422
    assert "k-1, k-2" in answer.json()["hint"]
    assert [name for name, _ in served.door.calls] == ["turn"]


async def test_a_stale_button_is_no_longer_open_and_nothing_else(served: House, http: httpx.AsyncClient) -> None:
    served.door.views["turn"] = {"questions": []}
    answer = await http.post("/v1/turns/t-1/answer", json={"choice": "y"})
    assert answer.status_code == 404
    assert "open question" in answer.json()["detail"]
    served.door.fails["answer"] = WrongMoveError("question", "k-1", "expired", "answered")
    answer = await http.post("/v1/questions/k-1/answer", json={"choice": "y"})
    assert answer.status_code == 409


async def test_what_cannot_be_done_while_a_turn_runs_names_the_turn(served: House, http: httpx.AsyncClient) -> None:
    served.door.fails["retry"] = BusyError("c-1", "t-1")
    answer = await http.post("/v1/turns/t-1/retry")
    assert answer.status_code == 409
    assert "t-1" in answer.json()["detail"]
