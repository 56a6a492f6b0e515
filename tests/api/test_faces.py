"""Two faces that share neither a route nor a credential."""

import os

import httpx
import pytest

from kai.api.agent_routes import AGENT_ROUTES
from kai.api.routes import ROUTES
from kai.model.ids import RunId
from tests.api.conftest import House

pytestmark = pytest.mark.anyio


def in_run(pid: int) -> RunId | None:
    return RunId("r-1") if pid == os.getpid() else None


async def test_the_peer_is_told_from_the_process_that_connected(house: House) -> None:
    seen: list[int] = []

    def run_of(pid: int) -> None:
        seen.append(pid)

    house.run_of = run_of
    async with house.serving(), house.http() as http:
        await http.get("/v1/status")
        await http.get("/v1/status")
    assert seen == [os.getpid()]


async def test_a_process_of_a_run_is_refused_on_every_path_of_the_peoples_face(house: House) -> None:
    house.run_of = in_run
    async with house.serving(), house.http() as http:
        for path in [*(route.path.replace("{id}", "x") for route in ROUTES), "/nowhere"]:
            answer = await http.get(path)
            assert answer.status_code == 403, path
            assert "r-1" in answer.json()["detail"]
    assert house.door.calls == []


async def test_a_process_of_a_run_learns_its_run_on_the_agents_face(house: House) -> None:
    house.surely_of = in_run
    async with house.serving(), house.http(house.agents) as http:
        assert (await http.get("/v1/agent/whoami")).json() == {"run": "r-1"}


async def test_a_mark_that_anybody_could_copy_lets_nobody_in_on_the_agents_face(house: House) -> None:
    house.run_of = in_run
    async with house.serving(), house.http(house.agents) as http:
        assert (await http.get("/v1/agent/whoami")).status_code == 403
    assert house.agents_door.calls == [(os.geteuid(), None, "")]


@pytest.mark.parametrize(
    ("header", "token"), [("Bearer abc", "abc"), ("bearer   abc", "abc"), ("Basic abc", ""), ("abc", ""), ("", "")]
)
async def test_a_token_is_taken_from_the_bearer_header_alone(house: House, header: str, token: str) -> None:
    async with house.serving(), house.http(house.agents) as http:
        cookie, where = {"token": "zzz"}, "/v1/tools/turn_show?token=zzz&access_token=zzz"
        http.cookies.update(cookie)
        answer = await http.post(where, json={"token": "zzz"}, headers={"authorization": header})
    assert answer.status_code == (422 if token else 403)  # a query is none of its arguments
    assert [call[2] for call in house.agents_door.calls] == [token]


async def test_the_arguments_of_a_tool_are_an_object(house: House) -> None:
    house.surely_of = in_run
    async with house.serving(), house.http(house.agents) as http:
        assert (await http.post("/v1/tools/x", json=[1])).status_code == 422
        assert (await http.post("/v1/tools/x", content=b"a=b")).status_code == 415
        assert (await http.post("/v1/tools/x", json={"a": 1})).json() == {"tool": "x", "arguments": {"a": 1}}
        assert (await http.get("/v1/tools")).json() == []


async def test_whoever_is_no_run_is_refused_on_the_agents_face_an_operator_too(served: House) -> None:
    async with served.http(served.agents) as http:
        assert (await http.get("/v1/agent/whoami")).status_code == 403
        assert (await http.get("/v1/status")).status_code == 403


async def test_nothing_of_the_peoples_face_is_on_the_agents_face(house: House) -> None:
    house.surely_of = in_run
    async with house.serving(), house.http(house.agents) as http:
        for route in ROUTES:
            answer = await http.request(route.method, route.path.replace("{id}", "x"))
            assert answer.status_code == 404, route
    assert not {route.path for route in ROUTES} & {route.path for route in AGENT_ROUTES}


async def test_when_the_run_cannot_be_told_nobody_is_let_in(house: House) -> None:
    def broken(_: int) -> RunId | None:
        raise PermissionError("/proc is hidden")

    house.run_of = house.surely_of = broken
    async with house.serving():
        for socket in (house.people, house.agents):
            async with house.http(socket) as http:
                for path in ("/v1/status", "/healthz", "/v1/agent/whoami"):
                    answer = await http.get(path)
                    assert answer.status_code == 500
                    assert "hidden" not in answer.text
    assert house.door.calls == []


async def test_the_document_of_the_routes_is_served(http: httpx.AsyncClient) -> None:
    answer = await http.get("/v1/openapi.json")
    assert answer.json()["openapi"] == "3.1.0"
