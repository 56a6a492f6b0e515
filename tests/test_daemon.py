"""A daemon that is killed: nothing accepted is lost, nothing is sent twice, nothing of it is left behind."""

import shutil
import signal
import subprocess
from pathlib import Path

import anyio
import pytest

from kai.client import Client
from kai.clock import SystemClock
from kai.daemon import daemon
from kai.store import deliveries
from kai.store.database import open_store
from tests.crash.storm import Storm
from tests.e2e.house import House
from tests.e2e.served import end_of, gone, say, served

pytestmark = [pytest.mark.anyio, pytest.mark.timeout(60)]  # whole processes start and drain
LIMIT_S = 15.0


async def test_a_turn_cut_by_a_kill_is_owned_up_to_and_the_queue_goes_on(tmp_path: Path) -> None:
    house = House(tmp_path)
    async with served(house) as (process, client):
        cut = await say(client, "FAKE:slow=2000,0.02", "one")
        waiting = await say(client, "two", "two")
        with anyio.fail_after(LIMIT_S):
            async for event in client.events(cut.turn or ""):
                if event["type"] == "text":
                    break
            await anyio.sleep(1.5)  # what was said so far is kept once a second
        process.kill()
        process.wait()
    async with served(house) as (_, client):
        turn = await client.turn(cut.turn or "")
        assert turn["state"] == "interrupted"
        assert turn["answer_text"].startswith("chunk0")
        assert turn["incomplete"]
        assert (await end_of(client, waiting))["state"] == "done"
        again = await say(client, "FAKE:slow=2000,0.02", "one")
        assert (again.duplicate, again.turn) == (True, cut.turn)
        retried = await client.retry(cut.turn or "")
        await client.stop(retried["turn"])


async def test_no_process_of_a_killed_daemon_is_left(tmp_path: Path) -> None:
    house = House(tmp_path)
    async with served(house) as (process, client):
        accepted = await say(client, "FAKE:escape FAKE:child FAKE:slow=2000,0.02", "one")
        with anyio.fail_after(LIMIT_S):
            async for event in client.events(accepted.turn or ""):
                if event["type"] == "text":
                    break
        process.kill()
        process.wait()
        await gone(house, 2)


async def test_a_second_daemon_on_the_same_state_is_refused(tmp_path: Path) -> None:
    house = House(tmp_path)
    async with served(house) as (process, _):
        second = await anyio.run_process(house.kai("serve"), env=house.environment, check=False)
        assert second.returncode == 1
        assert str(process.pid) in second.stderr.decode()
        assert process.poll() is None


async def test_a_stop_lets_the_running_turn_end(tmp_path: Path) -> None:
    house = House(tmp_path)
    async with served(house) as (process, client):
        accepted = await say(client, "FAKE:slow=40,0.05", "one")
        with anyio.fail_after(LIMIT_S):
            async for event in client.events(accepted.turn or ""):
                if event["type"] == "text":
                    break
        process.send_signal(signal.SIGTERM)
        assert await anyio.to_thread.run_sync(process.wait) == 0
    async with served(house) as (_, client):
        assert (await client.turn(accepted.turn or ""))["state"] == "done"


async def test_a_second_signal_stops_at_once_and_owns_up(tmp_path: Path) -> None:
    house = House(tmp_path)
    async with served(house) as (process, client):
        accepted = await say(client, "FAKE:slow=4000,0.05", "one")
        with anyio.fail_after(LIMIT_S):
            async for event in client.events(accepted.turn or ""):
                if event["type"] == "text":
                    break
        process.send_signal(signal.SIGTERM)
        await anyio.sleep(0.3)
        process.send_signal(signal.SIGTERM)
        with anyio.fail_after(8):
            await anyio.to_thread.run_sync(process.wait)
    async with served(house) as (_, client):
        turn = await client.turn(accepted.turn or "")
        assert turn["state"] == "interrupted"
        assert "kai was stopped" in turn["reason"]


async def test_a_bad_configuration_is_refused_at_start_and_kept_out_while_running(tmp_path: Path) -> None:
    house = House(tmp_path)
    file = house.folders.config / "kai.yaml"
    good = file.read_text()
    async with served(house) as (process, client):
        file.write_text(good + "conext: {}\n")
        reply = await client.reload()
        assert not reply["loaded"]
        assert "kai.yaml:2:1" in reply["problems"][0]
        assert "context" in reply["problems"][0]
        assert (await end_of(client, await say(client, "hello", "one")))["state"] == "done"
        process.send_signal(signal.SIGHUP)
        assert (await client.doctor())[0]["name"] == "config"
    refused = await anyio.run_process(house.kai("serve"), env=house.environment, check=False)
    assert refused.returncode == 1
    assert "kai.yaml:2:1" in refused.stderr.decode()
    assert "Traceback" not in refused.stderr.decode()


@pytest.mark.timeout(280)
async def test_every_kill_point_once(tmp_path: Path) -> None:
    import random

    from tests.crash.victim import POINTS

    with anyio.fail_after(260):  # twenty daemons are started: seconds each where the machine is busy
        tally = await Storm(tmp_path, random.Random(7)).run(len(POINTS))
    assert tally.is_clean, (tally.last_line(), tally.notes)
    assert dict(tally.kills) == dict.fromkeys(POINTS, 1)


async def test_one_persons_broken_folder_keeps_nobody_else_out(tmp_path: Path) -> None:
    house = House(tmp_path)
    async with house.open() as kai:
        bob = await kai.client.add_person("Bob")
    home = house.folders.state / "homes" / bob["principal"]
    shutil.rmtree(home)
    home.touch()
    async with house.open() as kai:
        assert (await kai.ask("hello"))["state"] == "done"
        assert "home-missing" in {one["name"] for one in await kai.client.doctor()}


async def test_nothing_of_a_removed_person_goes_on(tmp_path: Path) -> None:
    house = House(tmp_path)
    async with house.open() as kai:
        (me,) = await kai.client.people()
        bob = await kai.client.add_person("Bob")
        async with Client(house.folders.runtime / "people.sock", as_person="Bob") as his:
            await end_of(his, await say(his, "hello", "one"))
            running = await say(his, "FAKE:slow=2000,0.02", "two")
            waiting = await say(his, "three", "three")
        assert kai.daemon.parts.pool.every()
        await kai.client.remove_person("Bob")
        assert not kai.daemon.parts.pool.every()
        for turn in (running.turn, waiting.turn):
            assert (await kai.client.turn(turn or ""))["state"] == "stopped"
        owed = await kai.daemon.parts.store.read(deliveries.owed, f"terminal:{bob['principal']}")
        assert set(owed.values()) == {0}
        assert [one["is_you"] for one in await kai.client.people()] == [True]
        await kai.client.remove_person(me["name"])
    async with house.open() as kai:
        assert await kai.client.people() == []  # a new one would be taken for the removed


async def test_the_first_two_requests_at_once_meet_the_same_parts(tmp_path: Path) -> None:
    made = []
    async with daemon(House(tmp_path).folders) as serving, anyio.create_task_group() as tasks:

        async def ask() -> None:
            made.append(await serving.behind())

        tasks.start_soon(ask)
        tasks.start_soon(ask)
    assert made[0] is made[1]


async def test_no_variable_of_the_environment_says_who_we_are(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("LOGNAME", "somebody-else")
    async with House(tmp_path).open() as kai:
        (person,) = await kai.client.people()
        assert person["os_user"] != "somebody-else"
        assert (await kai.ask("hello"))["state"] == "done"


async def test_what_a_killed_keeper_left_is_swept_at_the_next_start(tmp_path: Path) -> None:
    house = House(tmp_path)
    async with house.open() as kai:
        await kai.ask("hello")
        run = (await kai.client.turns())[0]["turn"]
        found = await kai.client.turn(run)
        (attempt,) = found["dispatches"]
        left = subprocess.Popen(["sleep", "1000"], env={"KAI_RUN": attempt["run"]})  # noqa: ASYNC220
    assert left.poll() is None
    async with open_store(house.folders.state / "kai.db", clock=SystemClock()) as store:
        await store.write(
            lambda db: db.execute("UPDATE run SET ended_at = NULL WHERE run = ?", (attempt["run"],)) and None
        )
    async with house.open() as kai:
        await kai.daemon.parts.store.write(lambda db: None)
        assert await anyio.to_thread.run_sync(left.wait) == -signal.SIGKILL
