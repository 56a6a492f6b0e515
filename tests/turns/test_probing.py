"""A probe on a single-user kai tells that it is one trust domain. With OS users: `tests/e2e/test_people.py`."""

import pytest

from tests.e2e.house import Kai

pytestmark = pytest.mark.anyio


async def test_with_the_daemons_own_user_the_probe_finds_the_database_open(kai: Kai) -> None:
    (me,) = await kai.client.people()
    found = await kai.client.probe_person(me["principal"])
    assert (found["problem"], found["lacks"], found["launcher"]) == ("", 0, "direct")
    open_ = {row["what"] for row in found["rows"] if not row["ok"]}
    assert {"the database", "the daemon's process"} <= open_
    assert found["leaks"] == sum(not row["ok"] for row in found["rows"])


async def test_the_peoples_socket_refuses_a_process_of_a_run(kai: Kai) -> None:
    (me,) = await kai.client.people()
    rows = {row["what"]: row for row in (await kai.client.probe_person(me["principal"]))["rows"]}
    assert rows["the people's socket"]["seen"] == "refused"
