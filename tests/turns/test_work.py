"""What works on turns is begun by the first question, or by what was left to do; an idle daemon has none of it."""

from pathlib import Path

import anyio
import httpx
import pytest

from kai.clock import SystemClock
from kai.daemon import Daemon, daemon
from kai.store.database import open_store
from tests.e2e.house import House

pytestmark = pytest.mark.anyio


async def ask(serving: Daemon, path: str) -> int:
    transport = httpx.AsyncHTTPTransport(uds=str(serving.socket))
    async with httpx.AsyncClient(transport=transport, base_url="http://kai") as http:
        return (await http.get(path)).status_code


def begun(serving: Daemon) -> bool:
    return serving.at_work is not None


async def used(tmp_path: Path) -> House:
    """A house that was lived in, and left in order."""
    house = House(tmp_path)
    async with house.open() as kai:
        assert (await kai.ask("hello"))["state"] == "done"
    return house


async def test_a_daemon_is_alive_without_any_work_until_it_is_asked_something(tmp_path: Path) -> None:
    house = await used(tmp_path)
    async with daemon(house.folders) as serving:
        assert await ask(serving, "/healthz") == 200
        assert not begun(serving)
        assert serving.is_idle
        assert await ask(serving, "/v1/status") == 200
        assert begun(serving)
        assert await ask(serving, "/healthz") == 200


async def test_many_who_ask_at_once_get_one_and_the_same(tmp_path: Path) -> None:
    house = await used(tmp_path)
    async with daemon(house.folders) as serving:
        async with anyio.create_task_group() as tasks:
            for _ in range(5):
                tasks.start_soon(ask, serving, "/v1/status")
        assert await serving.work() is serving.at_work


async def test_whoever_asked_first_and_went_away_leaves_it_to_the_others(tmp_path: Path) -> None:
    house = await used(tmp_path)
    async with daemon(house.folders) as serving:
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(serving.work)
            await anyio.lowlevel.checkpoint()
            tasks.cancel_scope.cancel()
        assert (await serving.work()).parts.store is serving.ground.store


@pytest.mark.parametrize(
    "left",
    [
        "UPDATE run SET ended_at = NULL",
        "UPDATE session SET state = 'live'",
    ],
)
async def test_what_a_killed_daemon_left_begins_it_at_the_start(tmp_path: Path, left: str) -> None:
    house = await used(tmp_path)
    async with open_store(house.folders.state / "kai.db", clock=SystemClock()) as store:
        await store.write(lambda db: db.execute(left) and None)
    async with daemon(house.folders) as serving:
        assert serving.at_work is not None


async def test_a_folder_of_a_run_that_was_left_begins_it_and_is_cleared(tmp_path: Path) -> None:
    house = await used(tmp_path)
    (house.folders.runtime / "runs" / "r-left").mkdir(parents=True)
    async with daemon(house.folders) as serving:
        assert serving.at_work is not None
        assert list(serving.ground.runs.iterdir()) == []


async def test_what_was_kept_long_enough_is_erased_without_any_work(tmp_path: Path) -> None:
    house = await used(tmp_path)
    async with daemon(house.folders) as serving:
        await serving.drop_old()
        assert serving.at_work is None


async def test_it_can_be_begun_and_ended_again_and_again_with_nothing_left(tmp_path: Path) -> None:
    house = await used(tmp_path)
    for _ in range(2):
        async with daemon(house.folders) as serving:
            await serving.behind()
        assert not list(house.folders.runtime.glob("*.sock"))
