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


async def names(kai: Kai) -> dict[str, str]:
    return {one["name"]: one["problem"] for one in await kai.client.doctor()}


async def test_an_operator_whom_the_machine_does_not_know_is_a_finding(tmp_path: Path) -> None:
    async with House(tmp_path, yaml="operators: [root, nobody-of-this-name]").open() as kai:
        found = await names(kai)
        assert list(found) == ["operator-unknown"]
        assert "nobody-of-this-name" in found["operator-unknown"]


async def test_a_workspace_whose_folder_is_not_there_is_a_finding(tmp_path: Path) -> None:
    places = f"attic: {{path: {tmp_path}}}\ncellar: {{path: {tmp_path}/gone}}\n"
    async with House(tmp_path, workspaces=places).open() as kai:
        found = await names(kai)
        assert list(found) == ["workspace-missing"]
        assert "cellar" in found["workspace-missing"]


async def test_without_an_agent_that_is_installed_and_logged_in_there_is_no_engine(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PATH", "/usr/bin:/bin")
    monkeypatch.setenv("HOME", str(tmp_path))
    async with House(tmp_path, backend="auto").open() as kai:

        async def nothing(user: str = "") -> str:
            return "offline"

        monkeypatch.setattr(kai.daemon.parts.backends, "automatic", nothing)
        found = await kai.client.doctor()
        assert [one["name"] for one in found] == ["no-engine"]
        assert "kai backend login" in found[0]["mend"]


async def test_the_backend_that_is_set_must_be_usable(tmp_path: Path) -> None:
    house = House(tmp_path, backend="absent")
    folder = house.folders.config / "backends" / "absent"
    folder.mkdir()
    (folder / "backend.yaml").write_text(
        "title: Absent\nprotocol: acp\nlaunch: {program: no-program-of-this-name}\ninstall: 'get it'\n"
    )
    async with house.open() as kai:
        (found,) = await kai.client.doctor()
        assert (found["name"], found["mend"]) == ("backend-unusable", "get it")
        assert "no-program-of-this-name" in found["problem"]


async def test_a_backend_that_is_set_and_logged_out_is_a_finding(tmp_path: Path) -> None:
    house = House(tmp_path)
    file = house.folders.config / "backends" / "fake" / "backend.yaml"
    file.write_text(file.read_text() + "login: {command: fake login, files: [.nowhere/credentials]}\n")
    async with house.open() as kai:
        (found,) = await kai.client.doctor()
        assert (found["name"], found["mend"]) == ("backend-unusable", "'kai backend login fake'.")


async def test_a_file_that_changed_since_it_was_read_is_a_finding_until_it_is(kai: Kai, house: House) -> None:
    await anyio.to_thread.run_sync((house.folders.config / "people.yaml").write_text, "{}\n")
    found = await names(kai)
    assert list(found) == ["config-unread"]
    assert "people.yaml" in found["config-unread"]
    await kai.client.reload()
    assert await names(kai) == {}
    await anyio.to_thread.run_sync((house.folders.config / "kai.yaml").write_text, "agnet: x\n")
    await kai.client.reload()
    assert list(await names(kai)) == ["config"]


async def test_few_files_left_to_open_are_a_finding(kai: Kai, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("kai.turns.machine.FILES_LEFT", 10**9)
    monkeypatch.setattr("resource.getrlimit", lambda _: (1024, 1024))
    assert list(await names(kai)) == ["files-few"]


async def test_little_memory_is_a_finding(kai: Kai, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("kai.turns.machine.MEMORY_BYTES", 2**60)
    assert list(await names(kai)) == ["memory-low"]


@pytest.mark.parametrize(("kind", "found"), [("nfs4", ["state-on-network"]), ("ext4", [])])
async def test_a_state_folder_on_a_network_is_a_finding(
    kai: Kai, house: House, monkeypatch: pytest.MonkeyPatch, kind: str, found: list[str]
) -> None:
    state = str(house.folders.state).replace(" ", "\\040")
    mounts = ["1 1 0:1 / / rw - nfs4 x rw", f"2 1 0:2 / {state} rw - {kind} x rw", f"3 1 0:2 / {state}x rw - nfs4 x rw"]
    monkeypatch.setattr("kai.turns.machine._mounts", lambda: mounts)
    assert list(await names(kai)) == found


async def test_an_environment_without_the_command_is_a_finding(kai: Kai, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("shutil.which", lambda *_, **__: None)
    assert "tool-missing" in await names(kai)


HOLD = """
import sys
from kai.store.binding import connect
db = connect(sys.argv[1], isolation_level=None)
db.execute("BEGIN IMMEDIATE")
print("held", flush=True)
sys.stdin.read()
"""


async def test_a_database_that_somebody_else_has_open_for_writing_is_a_finding(
    kai: Kai, house: House, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with await anyio.open_process([sys.executable, "-c", HOLD, str(house.folders.state / "kai.db")]) as other:
        assert other.stdout is not None
        assert other.stdin is not None
        with anyio.fail_after(10):
            assert (await other.stdout.receive()).startswith(b"held")
            found = await names(kai)
        await other.stdin.aclose()
    assert list(found) == ["database-busy"]
    assert await names(kai) == {}


async def test_a_clock_that_stands_before_the_newest_message_is_a_finding(
    kai: Kai, monkeypatch: pytest.MonkeyPatch
) -> None:
    await kai.ask("hello")
    clock, now = kai.daemon.parts.clock, kai.daemon.parts.clock.now()
    monkeypatch.setattr(clock, "now", lambda: now - timedelta(days=1))
    assert list(await names(kai)) == ["clock-behind"]


async def test_deliveries_of_a_bridge_that_nobody_runs_are_a_finding(kai: Kai, monkeypatch: pytest.MonkeyPatch) -> None:
    await kai.ask("hello")
    clock, now = kai.daemon.parts.clock, kai.daemon.parts.clock.now()
    later = now + timedelta(hours=7)
    monkeypatch.setattr(clock, "now", lambda: later)
    assert await names(kai) == {}, "a terminal is there when its person is"
    monkeypatch.setattr("kai.turns.machine.SHELL", "another")
    assert list(await names(kai)) == ["undelivered"]
