"""What the doctor finds, each with its mend."""

import sys
from dataclasses import replace
from datetime import timedelta
from pathlib import Path

import anyio
import pytest

from kai.store import backup
from tests.e2e.house import House, Kai
from tests.small_disk import fill_up

pytestmark = pytest.mark.anyio


async def test_a_sound_installation_has_no_findings(kai: Kai) -> None:
    assert await kai.client.doctor() == []


async def test_two_people_with_one_os_user_are_a_finding_with_its_mend(kai: Kai) -> None:
    await kai.client.add_person("Bob")
    names = {one["name"] for one in await kai.client.doctor()}
    assert names == {"one-trust-domain"}
    assert all(one["mend"] for one in await kai.client.doctor())


async def test_an_unwise_agent_definition_is_a_finding_with_its_place(tmp_path: Path) -> None:
    house = House(tmp_path)
    (house.folders.config / "agents").mkdir()
    (house.folders.config / "agents" / "clock.yaml").write_text("purpose: It is ${current_time}.\n")
    async with house.open() as kai:
        (found,) = await kai.client.doctor()
        assert found["name"] == "agent-definition"
        assert "clock.yaml:1:10: purpose" in found["problem"]


async def test_a_disk_that_fills_up_is_a_finding_before_and_when_it_is_full(tmp_path: Path, small_disk: Path) -> None:
    house = House(tmp_path)
    house.folders = replace(house.folders, state=small_disk)
    async with house.open() as kai:
        assert [one["name"] for one in await kai.client.doctor()] == ["disk-low"]
        await anyio.to_thread.run_sync(fill_up, small_disk / "filler")
        assert [one["name"] for one in await kai.client.doctor()] == ["disk-full"]
        await anyio.to_thread.run_sync((small_disk / "filler").unlink)


async def test_a_disk_that_became_read_only_is_a_finding(tmp_path: Path, small_disk: Path) -> None:
    house = House(tmp_path)
    house.folders = replace(house.folders, state=small_disk)
    async with house.open() as kai:
        # As a disk with a fault does it to those who write on it already: the mount alone, not its open files.
        await anyio.run_process(["mount", "--bind", str(small_disk), str(small_disk)])
        await anyio.run_process(["mount", "-o", "remount,bind,ro", str(small_disk)])
        found = await kai.client.doctor()
        await anyio.run_process(["umount", "-l", str(small_disk)])
        assert [one["name"] for one in found] == ["disk-read-only"]


DAMAGE = """
import sys
from kai.store.binding import connect
path = sys.argv[1]
db = connect(path, isolation_level=None)
(page,) = db.execute("SELECT rootpage FROM sqlite_schema WHERE type = 'index' AND tbl_name = 'account'").fetchone()
size = db.execute("PRAGMA page_size").fetchone()[0]
db.close()
with open(path, "r+b") as file:
    file.seek((page - 1) * size)
    file.write(b"\\xff" * size)
"""


async def test_a_page_that_was_damaged_since_the_start_is_a_finding(tmp_path: Path) -> None:
    house = House(tmp_path)
    async with house.open() as kai:  # closed again, all of it stands in the file
        assert await kai.client.doctor() == []
    async with house.open() as kai:
        # By another process: one that opens and closes the file here would take SQLite's locks along.
        await anyio.run_process([sys.executable, "-c", DAMAGE, str(house.folders.state / "kai.db")])
        (found,) = await kai.client.doctor()
        assert found["name"] == "database-damaged"
        assert "kai restore" in found["mend"]


async def test_a_backup_that_is_too_old_or_has_no_room_is_a_finding(kai: Kai, monkeypatch: pytest.MonkeyPatch) -> None:
    clock = kai.daemon.parts.clock
    later = clock.now() + timedelta(days=8)
    monkeypatch.setattr(clock, "now", lambda: later)
    (found,) = await kai.client.doctor()
    assert (found["name"], "no backup" in found["problem"]) == ("backup-old", True)
    await kai.client.backup()
    assert await kai.client.doctor() == []
    evermore = later + timedelta(days=8)
    monkeypatch.setattr(clock, "now", lambda: evermore)
    assert "last backup is of" in (await kai.client.doctor())[0]["problem"]
    await kai.client.backup()
    monkeypatch.setattr(backup, "room", lambda _: 1000)
    assert [one["name"] for one in await kai.client.doctor()] == ["backup-no-room"]
