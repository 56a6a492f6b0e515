"""Disk and database fail, under a daemon and before its start: said with the mend, and nothing is lost."""

import os
import subprocess
import sys
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import anyio
import pytest

from kai.model.errors import ApiError
from tests.e2e.house import House, Kai
from tests.small_disk import fill_up

pytestmark = [pytest.mark.anyio, pytest.mark.timeout(60)]
Seen = Callable[[str, object], None]


async def test_a_full_disk(tmp_path: Path, small_disk: Path, record_property: Seen) -> None:
    house = House(tmp_path)
    house.folders = replace(house.folders, state=small_disk)
    async with house.open() as kai:
        before = await kai.ask("before")
        await anyio.to_thread.run_sync(fill_up, small_disk / "filler")
        with pytest.raises(ApiError) as refused:
            await kai.say("x" * 50_000, external_id="full")
        assert refused.value.status == 503
        assert "disk is full" in refused.value.sentence
        assert refused.value.hint
        assert (await kai.client.turn(before["turn"]))["answer_text"] == "echo: before"
        assert "before" in [one["text"] for one in await kai.client.history("main")]
        assert "disk-full" in {one["name"] for one in await kai.client.doctor()}
        await anyio.to_thread.run_sync((small_disk / "filler").unlink)
        again = await kai.say("FAKE:say=fine", external_id="full")
        assert not again.duplicate, "nothing of it was kept"
        assert (await kai.end(again))["answer_text"] == "fine"
        assert [one["name"] for one in await kai.client.doctor()] == ["disk-low"], "and the database is sound"
    said = refused.value.sentence.rpartition(": ")[2]
    record_property("seen", f"503 '{said}', reads answered; with room it goes on by itself, database sound")


HOLD = """
import sys, time
from kai.store.binding import connect
db = connect(sys.argv[1], isolation_level=None, timeout=10)
db.execute("BEGIN EXCLUSIVE")
print("held", flush=True)
sys.stdin.read()
"""


async def test_a_database_that_another_program_locks(kai: Kai, house: House, record_property: Seen) -> None:
    await kai.ask("before")
    path = str(house.folders.state / "kai.db")
    other = subprocess.Popen(  # noqa: ASYNC220
        [sys.executable, "-c", HOLD, path], stdin=subprocess.PIPE, stdout=subprocess.PIPE
    )
    assert other.stdin
    assert other.stdout
    await anyio.to_thread.run_sync(other.stdout.readline)
    began = anyio.current_time()
    with pytest.raises(ApiError) as refused:
        await kai.say("while it is locked", external_id="locked")
    seconds = anyio.current_time() - began
    assert refused.value.status == 503
    assert "locked" in refused.value.sentence
    assert 3 < seconds < 15
    assert (await kai.client.turns())[0]["text"] == "before"
    other.stdin.close()
    await anyio.to_thread.run_sync(other.wait)
    other.stdout.close()
    turn = await kai.ask("while it is locked", external_id="locked")
    assert turn["state"] == "done"
    assert len(await kai.client.turns()) == 2
    record_property(
        "seen", f"503 '{refused.value.title}' after {seconds:.1f} s, reads answered, a repeat is taken once"
    )


def cut_in_half(state: Path) -> None:
    os.truncate(state / "kai.db", (state / "kai.db").stat().st_size // 2)


def flip_bytes(state: Path) -> None:
    with (state / "kai.db").open("r+b") as file:
        file.seek(4096 + 100)
        file.write(os.urandom(20_000))


def only_the_log_is_left(state: Path) -> None:
    (state / "kai.db").rename(state / "kai.db-wal")


def empty(state: Path) -> None:
    (state / "kai.db").write_bytes(b"")


@pytest.mark.parametrize("harm", [cut_in_half, flip_bytes, only_the_log_is_left, empty], ids=lambda harm: harm.__name__)
async def test_a_damaged_database_is_refused_with_path_and_mend(
    tmp_path: Path, harm: Callable[[Path], None], record_property: Seen
) -> None:
    house = House(tmp_path)
    async with house.open() as kai:
        await kai.ask("before")
        await kai.client.backup()
    await anyio.to_thread.run_sync(harm, house.folders.state)
    held = {path.name: path.read_bytes() for path in house.folders.state.glob("kai.db*")}
    refused = await anyio.run_process(house.kai("serve"), env=house.environment, check=False)
    said = refused.stderr.decode()
    assert refused.returncode == 1
    assert str(house.folders.state / "kai.db") in said
    assert "kai restore" in said
    assert "Traceback" not in said
    held.pop("kai.db.lock")
    assert {name: (house.folders.state / name).read_bytes() for name in held} == held
    mended = await anyio.run_process(house.kai("restore", "newest", "--replace"), env=house.environment, check=False)
    assert mended.returncode == 0, mended.stderr.decode()
    async with house.open() as kai:
        assert (await kai.client.turns())[0]["text"] == "before"
    record_property("seen", "not started, path and 'kai restore' named, file untouched; after that restore it serves")


async def test_a_configuration_that_cannot_be_read_is_refused_with_its_path(
    tmp_path: Path, record_property: Seen
) -> None:
    if os.geteuid():
        pytest.skip("root makes the user here who cannot read it")
    file = House(tmp_path).folders.config / "kai.yaml"
    file.chmod(0)
    found = await anyio.run_process([sys.executable, "-c", READ, str(file.parent)], check=False)
    said = found.stdout.decode()
    assert str(file) in said
    assert "ermission" in said or "read" in said
    record_property("seen", said.strip()[-110:])


READ = """
import os, sys
from kai.settings.load import inspect
from kai.settings.where import Folders
from pathlib import Path
folder = Path(sys.argv[1])
inspect(Folders(folder, folder, folder))  # so that all is imported
for path in (folder, *folder.parents[:3]):
    os.chmod(path, 0o755)
os.setresuid(65534, 65534, 65534)
print(*inspect(Folders(folder, folder, folder)).problems)
"""
