"""What was kept long enough goes, what is owed stays, and a backup is made while people talk."""

import os
import shutil
import sys
import time
from datetime import timedelta
from pathlib import Path

import anyio
import pytest

from kai.model.errors import ApiError, DeniedError
from kai.model.ids import AttachmentRef, PrincipalId
from kai.model.messages import InboundMessage
from kai.settings.where import Folders
from kai.store import restore
from kai.turns import retention
from kai.turns.door import Caller
from tests.e2e.house import House, Kai

pytestmark = pytest.mark.anyio


async def test_what_was_said_is_there_again_after_a_restore(tmp_path: Path) -> None:
    house = House(tmp_path)
    async with house.open() as kai:
        await kai.ask("the meter number is 4711")
        slow = await kai.say("FAKE:slow=400,0.02")
        await kai.until(slow, "text")
        made = await kai.client.backup()
        assert made["left_out"] == []
        assert [one["digest"] for one in await kai.client.backups()] == [made["digest"]]
        await kai.client.stop(slow.turn or "")
        await kai.ask("said after the backup")
    folders = house.folders
    house.folders = Folders(folders.config, tmp_path / "other", folders.runtime)
    house.folders.state.mkdir(mode=0o700)
    now = kai.daemon.parts.clock.now()
    await anyio.to_thread.run_sync(lambda: restore.restore(house.folders.state, Path(made["path"]), now, replace=False))
    async with house.open() as kai:
        said = [one["text"] for one in await kai.client.history("main")]
        assert "the meter number is 4711" in said
        assert "said after the backup" not in said
        assert (await kai.client.turn(slow.turn or ""))["state"] == "interrupted"
        assert (await kai.ask("and now?"))["state"] == "done"


async def test_a_backup_delays_nobody(kai: Kai) -> None:
    async with anyio.create_task_group() as tasks:
        tasks.start_soon(kai.client.backup)
        tasks.start_soon(kai.client.backup)
        for number in range(5):
            assert (await kai.ask(f"message {number}"))["state"] == "done"
    assert len(await kai.client.backups()) == 2


async def test_backups_are_the_operators_affair(kai: Kai) -> None:
    bob = Caller(PrincipalId("p-bob"), "terminal", operator=False, os_user="bob")
    for asked in (kai.daemon.door.backup, kai.daemon.door.backups):
        with pytest.raises(DeniedError):
            await asked(bob)


async def test_a_file_goes_when_it_was_kept_long_enough_and_no_turn_needs_it(
    kai: Kai, monkeypatch: pytest.MonkeyPatch
) -> None:
    refs = [(await kai.client.attach(f"file {n}".encode(), f"{n}.txt", "text/plain"))["ref"] for n in range(2)]
    running = await kai.say("FAKE:slow=1000,0.02")
    await kai.until(running, "text")
    waiting = await kai.client.receive(InboundMessage("", "shell", "", "", "f", "look", (AttachmentRef(refs[0]),)))
    clock = kai.daemon.parts.clock
    later = clock.now() + timedelta(days=31)
    monkeypatch.setattr(clock, "now", lambda: later)
    await kai.daemon.drop_old()
    assert await kai.client.attachment(refs[0]) == b"file 0"
    with pytest.raises(ApiError):
        await kai.client.attachment(refs[1])
    await kai.client.stop(running.turn or "")
    await kai.end(waiting)
    await kai.daemon.drop_old()
    with pytest.raises(ApiError):
        await kai.client.attachment(refs[0])


async def test_wire_files_of_no_run_go_and_those_of_a_live_one_stay(kai: Kai) -> None:
    await kai.ask("hello")
    runs = kai.daemon.parts.runs
    (live,) = kai.daemon.parts.pool.every()
    long_ago = time.time() - 10 * retention._OF_NO_RUN_S
    for name in ("r-old", "r-fresh"):
        (runs / name).mkdir()
        (runs / name / "wire").touch()
    for name in ("r-old", live.run):
        os.utime(runs / name, (long_ago, long_ago))
    await kai.daemon.drop_old()
    assert sorted(path.name for path in runs.iterdir()) == sorted(["r-fresh", live.run])
    await anyio.to_thread.run_sync(shutil.rmtree, runs / "r-fresh")


def test_the_log_of_a_daemon_in_the_background_begins_anew_and_one_older_stays(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "kai.log"
    for number in range(3):
        with path.open("a") as log, monkeypatch.context() as stderr:
            stderr.setattr(sys, "stderr", log)
            assert not retention.turn_over(path, 100)
            log.write(f"{number}" * 200)
            log.flush()
            assert retention.turn_over(path, 100)
            log.write("after")
    assert path.read_text() == "after"
    assert path.with_name("kai.log.1").read_text() == "after" + "2" * 200
    assert sorted(one.name for one in tmp_path.iterdir()) == ["kai.log", "kai.log.1"]


def test_a_log_that_is_somewhere_else_is_left_alone(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "kai.log").write_text("x" * 1000)
    with (tmp_path / "other").open("w") as other:
        monkeypatch.setattr(sys, "stderr", other)
        assert not retention.turn_over(tmp_path / "kai.log", 100)
        assert not retention.turn_over(tmp_path / "none", 100)
