"""Two faces that share neither a route nor a credential."""

import os

import httpx
import pytest

from kai.api.faces import AGENT_ROUTES
from kai.api.routes import ROUTES
from tests.api.conftest import House

pytestmark = pytest.mark.anyio


def in_run(pid: int) -> str | None:
    return "r-1" if pid == os.getpid() else None


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
    house.run_of = in_run
    async with house.serving(), house.http(house.agents) as http:
        assert (await http.get("/v1/agent/whoami")).json() == {"run": "r-1"}


async def test_whoever_is_no_run_is_refused_on_the_agents_face_an_operator_too(served: House) -> None:
    async with served.http(served.agents) as http:
        assert (await http.get("/v1/agent/whoami")).status_code == 403
        assert (await http.get("/v1/status")).status_code == 403


async def test_nothing_of_the_peoples_face_is_on_the_agents_face(house: House) -> None:
    house.run_of = in_run
    async with house.serving(), house.http(house.agents) as http:
        for route in ROUTES:
            answer = await http.request(route.method, route.path.replace("{id}", "x"))
            assert answer.status_code == 404, route
    assert not {route.path for route in ROUTES} & {route.path for route in AGENT_ROUTES}


async def test_when_the_run_cannot_be_told_nobody_is_let_in(house: House) -> None:
    def broken(_: int) -> str | None:
        raise PermissionError("/proc is hidden")

    house.run_of = broken
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
