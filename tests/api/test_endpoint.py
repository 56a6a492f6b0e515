"""The boundary of a request: whatever happens inside, what comes out is an answer or a closed connection."""

from typing import Any

import anyio
import httpx
import pytest

from kai.api.endpoint import asks
from kai.api.routes import ROUTES
from kai.log import log
from kai.model.messages import AttachmentInfo
from kai.turns.door import Door
from tests.api.conftest import House

pytestmark = pytest.mark.anyio


async def test_a_handler_that_asks_the_door_is_named_and_typed_like_its_method() -> None:
    handler = asks(Door.search)
    assert handler.__name__ == "search"
    assert handler.__annotations__["return"] == list[dict[str, Any]]


async def test_an_unforeseen_error_is_a_problem_without_a_traceback_and_the_daemon_goes_on(
    served: House, http: httpx.AsyncClient, monkeypatch: pytest.MonkeyPatch
) -> None:
    served.door.fails["status"] = ZeroDivisionError("inner detail")
    logs: list[dict[str, Any]] = []
    monkeypatch.setattr(log, "write", lambda level, event, fields: logs.append(fields))
    answer = await http.get("/v1/status")
    assert (answer.status_code, answer.headers["content-type"]) == (500, "application/problem+json")
    assert "inner detail" not in answer.text
    assert "Traceback" not in answer.text
    assert logs[0]["exc_info"] is served.door.fails["status"]
    assert logs[0]["fault"] in answer.json()["detail"]
    assert (await http.get("/v1/channels")).status_code == 200


async def test_nothing_runs_after_a_refused_caller(house: House) -> None:
    house.trusted_uids = ()
    house.directory.people.clear()
    async with house.serving(), house.http() as http:
        for route in ROUTES:
            if not route.is_open:
                path = route.path.replace("{id}", "x-1")
                answer = await http.request(route.method, path, content=b"not json")
                assert answer.status_code == 403, route
    assert house.door.calls == []


async def test_a_caller_who_is_no_operator_cannot_be_somebody_else(house: House) -> None:
    house.trusted_uids = ()
    async with house.serving(), house.http(headers={"kai-as": "Anna"}) as http:
        answer = await http.get("/v1/status")
    assert answer.status_code == 403
    assert house.door.calls == []


async def test_an_operator_speaks_for_a_person_whose_name_is_not_ascii(house: House) -> None:
    async with house.serving(), house.http(headers={b"kai-as": "Ben Ö".encode()}) as http:
        assert (await http.get("/v1/status")).status_code == 200
    assert house.door.callers[0].principal == "p-ben"


async def test_a_path_with_another_method_names_the_right_ones(http: httpx.AsyncClient) -> None:
    answer = await http.put("/v1/people/p-1")
    assert answer.status_code == 405
    assert answer.headers["allow"] == "DELETE, GET, PATCH"
    assert "Use DELETE, GET, PATCH." in answer.json()["hint"]
    assert (await http.head("/v1/deliveries")).status_code == 405


async def test_a_path_that_leads_nowhere_is_a_problem(http: httpx.AsyncClient) -> None:
    for path in ("/", "/v1", "/v1/turns/", "/v1/agent/whoami", "/v1/turns/a%2Fb/stop/x", "/v1/" + "x" * 5000):
        answer = await http.get(path)
        assert answer.status_code == 404, path
        assert answer.headers["content-type"] == "application/problem+json"


async def test_strange_ids_reach_the_door_as_they_are(served: House, http: httpx.AsyncClient) -> None:
    for raw, seen in (("%00", "\0"), ("%ff", "\ufffd"), ("..%2e", "..."), ("%F0%9F%98%80", "\U0001f600")):
        assert (await http.get(f"/v1/turns/{raw}")).status_code == 200
        assert served.door.calls[-1] == ("turn", (seen,))


async def test_an_unknown_query_field_is_named(http: httpx.AsyncClient) -> None:
    answer = await http.get("/v1/turns?chanel=c-1")
    assert (answer.status_code, answer.json()["field"]) == (422, "chanel")
    assert "'channel'" in answer.json()["hint"]
    answer = await http.get("/v1/status?principal=p-ben")
    assert (answer.status_code, answer.json()["field"]) == (422, "principal")


async def test_an_answer_that_breaks_off_is_never_taken_for_the_whole(served: House, http: httpx.AsyncClient) -> None:
    info = (await http.post("/v1/attachments", content=b"x" * 10)).json()
    known = served.door.files[info["ref"]]
    served.door.files[info["ref"]] = AttachmentInfo(
        known.ref, known.name, known.media_type, 1000, known.sha256, known.path
    )
    with pytest.raises(httpx.RemoteProtocolError):
        await http.get(f"/v1/attachments/{info['ref']}")
    assert (await http.get("/v1/status")).status_code == 200


async def test_a_request_whose_peer_leaves_is_still_carried_out(served: House) -> None:
    served.door.hold = anyio.Event()
    body = b'{"chat":"1","external_id":"a","text":"x"}'
    head = b"POST /v1/messages HTTP/1.1\r\nhost: k\r\ncontent-type: application/json\r\ncontent-length: %d\r\n\r\n"
    async with await anyio.connect_unix(served.people) as stream:
        await stream.send(head % len(body) + body)
        with anyio.fail_after(5):
            while not served.door.calls:  # noqa: ASYNC110 - what is waited for happens in the code under test
                await anyio.sleep(0.005)
    served.door.hold.set()
    with anyio.fail_after(5):
        while not served.door.taken:  # noqa: ASYNC110
            await anyio.sleep(0.005)
