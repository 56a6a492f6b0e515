"""People, choices and the daemon itself, over real sockets."""

import httpx
import pytest

from kai.model.errors import DeniedError
from kai.model.people import Preference
from kai.settings.problems import ConfigError, Problem
from tests.api.conftest import House
from tests.api.fake_door import ANNA

pytestmark = pytest.mark.anyio


async def test_people_are_managed_as_said(served: House, http: httpx.AsyncClient) -> None:
    assert (await http.get("/v1/people")).status_code == 200
    assert (await http.get("/v1/people/p-anna")).status_code == 200
    assert (await http.post("/v1/people", json={"name": "Carla", "os_user": "carla"})).status_code == 201
    assert (await http.patch("/v1/people/p-anna", json={"zone": "Europe/Berlin", "email": ""})).status_code == 200
    assert (await http.post("/v1/people/p-anna/accounts", json={"bridge": "tg", "account": "12"})).status_code == 201
    assert (await http.delete("/v1/people/p-anna")).status_code == 200
    assert served.door.calls == [
        ("people", ()),
        ("person", ("p-anna",)),
        ("add_person", ("Carla", "carla")),
        ("change_person", ("p-anna", {"zone": "Europe/Berlin", "email": ""})),
        ("link", ("p-anna", "tg", "12")),
        ("remove_person", ("p-anna",)),
    ]


@pytest.mark.parametrize(
    ("change", "field"), [({}, "body"), ({"zone": None}, "body"), ({"zones": "x"}, "zones"), ({"zone": 1}, "zone")]
)
async def test_a_change_of_nothing_or_of_what_is_not_there_is_refused(
    served: House, http: httpx.AsyncClient, change: dict[str, object], field: str
) -> None:
    answer = await http.patch("/v1/people/p-anna", json=change)
    assert (answer.status_code, answer.json()["field"]) == (422, field)
    assert served.door.calls == []


async def test_a_removed_person_is_refused_from_the_next_request_on(house: House) -> None:
    house.trusted_uids = ()
    house.operators = ("anna",)
    async with house.serving(), house.http() as http:
        assert (await http.get("/v1/status")).status_code == 200
        house.operators = ()
        house.directory.people.remove(ANNA)
        assert (await http.delete("/v1/people/p-anna")).status_code == 200
        refused = await http.get("/v1/status")
    assert refused.status_code == 403
    assert house.door.calls[-1][0] == "remove_person"


async def test_a_reload_drops_what_was_revoked_and_a_bad_file_is_refused_with_its_position(house: House) -> None:
    house.trusted_uids = ()
    house.operators = ("anna",)
    house.directory.people.clear()
    async with house.serving(), house.http() as http:
        house.door.fails["reload"] = ConfigError((Problem("kai.yaml", 3, 7, "api", "is wrong"),))
        answer = await http.post("/v1/reload")
        assert answer.status_code == 422
        assert "kai.yaml:3:7" in answer.json()["detail"]
        del house.door.fails["reload"]
        house.operators = ()
        assert (await http.post("/v1/reload")).status_code == 403


async def test_a_choice_is_handed_on(served: House, http: httpx.AsyncClient) -> None:
    await http.post("/v1/use", json={"backend": "gemini", "model": "-", "channel": "c-1", "wait": True})
    await http.post("/v1/use", json={"agent": "house", "channel": "garden", "begin": True})
    assert served.door.calls == [
        ("use", ("c-1", Preference(backend="gemini", model="-"), True, False, "")),
        ("use", ("garden", Preference(agent="house"), False, True, "")),
    ]


async def test_backends_and_findings_are_asked_for_as_said(served: House, http: httpx.AsyncClient) -> None:
    assert (await http.get("/v1/backends")).json() == [{"view": "backends"}]
    assert (await http.post("/v1/backends/claude/check")).json() == {"view": "check_backend"}
    assert (await http.get("/v1/doctor")).json() == [{"view": "doctor"}]
    assert (await http.post("/v1/reload")).json() == {"view": "reload"}
    assert (await http.get("/v1/status")).json() == {"view": "status"}
    assert served.door.calls[1] == ("check_backend", ("claude",))


async def test_whoever_may_connect_may_ask_whether_the_daemon_lives(house: House) -> None:
    house.trusted_uids = ()
    house.directory.people.clear()
    async with house.serving(), house.http() as http:
        assert (await http.get("/healthz")).text == "ok\n"
        assert (await http.get("/metrics")).status_code == 403
    assert house.door.calls == []


async def test_metrics_are_the_figures_of_the_status_and_nothing_else(served: House, http: httpx.AsyncClient) -> None:
    served.door.views["status"] = {
        "version": "1",
        "ready": True,
        "counts": {"turns_queued": 3, "bad name": 1},
        "seconds": 1.5,
        "problems": ["x"],
    }
    answer = await http.get("/metrics")
    assert answer.headers["content-type"] == "text/plain; charset=utf-8"
    figures = [line for line in answer.text.splitlines() if not line.startswith("#")]
    assert figures == ["kai_ready 1", "kai_counts_turns_queued 3", "kai_seconds 1.5"]


async def test_a_refusal_of_the_door_is_said_and_nothing_follows(served: House, http: httpx.AsyncClient) -> None:
    served.door.fails["add_person"] = DeniedError("only operators add people")
    answer = await http.post("/v1/people", json={"name": "Carla"})
    assert answer.status_code == 403
    assert answer.json()["detail"] == "Not allowed: only operators add people."
