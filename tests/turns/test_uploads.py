"""Files that agents made come back, on a single-user kai too; with real OS users `tests/e2e/test_people.py`."""

import pytest

from kai.client import Client
from kai.model.errors import ApiError
from tests.e2e.house import Kai

pytestmark = pytest.mark.anyio


async def test_a_file_of_the_home_comes_back_as_a_stored_one(kai: Kai) -> None:
    turn = await kai.ask("FAKE:write=report.html,<p>fine</p>")
    back = await kai.client.fetch(turn["channel"], "report.html")
    assert (back["name"], back["media_type"]) == ("report.html", "text/html")
    assert await kai.client.attachment(back["ref"]) == b"<p>fine</p>"


@pytest.mark.parametrize(("asked", "status"), [("/etc/passwd", 403), ("../../kai.db", 422), ("gone.txt", 422)])
async def test_what_is_elsewhere_or_not_there_does_not(kai: Kai, asked: str, status: int) -> None:
    turn = await kai.ask("hello")
    with pytest.raises(ApiError) as caught:
        await kai.client.fetch(turn["channel"], asked)
    assert caught.value.status == status


async def test_nobody_fetches_from_a_channel_that_they_are_not_in(kai: Kai) -> None:
    turn = await kai.ask("FAKE:write=mine.txt,secret")
    await kai.client.add_person("Bob")
    async with Client(kai.daemon.socket, as_person="Bob") as bob:
        with pytest.raises(ApiError) as caught:
            await bob.fetch(turn["channel"], "mine.txt")
    assert caught.value.status == 404
