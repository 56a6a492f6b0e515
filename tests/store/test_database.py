"""The store as the daemon uses it: one hop, whole transactions, a real disk, real kills."""

import os
import random
import subprocess
import sys
import threading
from collections.abc import AsyncIterator
from contextlib import ExitStack, closing
from pathlib import Path

import anyio
import pytest

from kai.model.errors import StoreError, UnknownThingError
from kai.model.ids import PrincipalId
from kai.model.people import Person
from kai.store import messages, opening, people
from kai.store.binding import Connection, connect
from kai.store.database import Store, open_store
from kai.store.errors import DaemonRunningError, DatabaseLockedError, DiskFullError
from tests.manual_clock import ManualClock
from tests.small_disk import fill_up
from tests.store.house import ANN, START, furnish

pytestmark = pytest.mark.anyio
ROOT = Path(opening.__file__).parents[2]


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "kai.db"


@pytest.fixture
async def store(path: Path, clock: ManualClock) -> AsyncIterator[Store]:
    async with open_store(path, clock=clock, busy_s=0.2) as opened:
        await opened.write(furnish)
        yield opened


def set_title(db: Connection, title: str) -> None:
    db.execute("UPDATE channel SET title = ?", (title,))


def title(db: Connection) -> str:
    found: str = db.execute("SELECT title FROM channel").fetchone()[0]
    return found


async def test_what_was_written_is_read_by_every_reader_and_after_reopening(path: Path, clock: ManualClock) -> None:
    async with open_store(path, clock=clock) as store:
        await store.write(furnish)
        await store.write(set_title, "hard")
        assert await store.read(title) == "hard"
        await store.write_soft(set_title, title="soft")
        assert [await store.read(title) for _ in range(4)] == ["soft"] * 4
    async with open_store(path, clock=clock) as store:
        assert await store.read(title) == "soft"
        assert await store.read(people.get, ANN) == Person(ANN, "Ann", "ann")


async def test_an_error_comes_to_its_caller_and_undoes_its_work_alone(store: Store) -> None:
    def half(db: Connection) -> None:
        set_title(db, "half")
        people.get(db, PrincipalId("p-nobody"))

    with pytest.raises(UnknownThingError):
        await store.write(half)
    assert await store.read(title) == "main"
    with pytest.raises(UnknownThingError):
        await store.read(people.get, PrincipalId("p-nobody"))
    assert await store.read(title) == "main"


async def test_readers_cannot_write(store: Store) -> None:
    with pytest.raises(StoreError):
        await store.read(set_title, "by a reader")
    assert await store.read(title) == "main"


async def test_a_reading_sees_one_moment_however_long_it_takes(store: Store) -> None:
    begun, written = threading.Event(), threading.Event()

    def slow(db: Connection) -> tuple[str, str]:
        first = title(db)
        begun.set()
        assert written.wait(5)
        return first, title(db)

    seen: list[tuple[str, str]] = []

    async def read() -> None:
        seen.append(await store.read(slow))

    async with anyio.create_task_group() as group:
        group.start_soon(read)
        await anyio.to_thread.run_sync(begun.wait, 5)
        await store.write(set_title, "changed")
        written.set()
    assert seen == [("main", "main")]
    assert await store.read(title) == "changed"


async def test_writes_run_in_the_order_they_were_asked_for(store: Store) -> None:
    order: list[int] = []

    async def write(number: int) -> None:
        await store.write(lambda _: order.append(number))

    async with anyio.create_task_group() as group:
        for number in range(300):
            group.start_soon(write, number)
    assert order == list(range(300))


async def test_a_cancelled_caller_leaves_all_or_nothing(store: Store) -> None:
    begun, go_on = threading.Event(), threading.Event()

    def slow(db: Connection) -> None:
        set_title(db, "one half")
        begun.set()
        assert go_on.wait(5)
        set_title(db, "whole")

    async with anyio.create_task_group() as group:
        group.start_soon(store.write, slow)
        await anyio.to_thread.run_sync(begun.wait, 5)
        group.cancel_scope.cancel()
        go_on.set()
    assert await store.read(title) == "whole"
    with anyio.CancelScope() as scope:
        scope.cancel()
        await store.write(set_title, "never begun")
    assert await store.read(title) == "whole"


async def test_a_cancelled_reading_ends_at_once_and_the_reader_serves_on(store: Store) -> None:
    go_on = threading.Event()
    with anyio.move_on_after(0.05) as scope:
        await store.read(lambda _: go_on.wait(5))
    assert scope.cancelled_caught
    go_on.set()
    assert [await store.read(title) for _ in range(4)] == ["main"] * 4


async def test_closing_leaves_no_thread_and_no_log_and_refuses_calls(path: Path, clock: ManualClock) -> None:
    async with open_store(path, clock=clock) as store:
        await store.write(furnish)
        assert len([thread for thread in threading.enumerate() if thread.name.startswith("kai-store")]) == 3
    assert not [thread for thread in threading.enumerate() if thread.name.startswith("kai-store")]
    assert not path.with_name("kai.db-wal").exists()
    for call in (store.write, store.write_soft, store.read):
        with pytest.raises(StoreError, match="closed"):
            await call(title)


async def test_a_failure_in_the_daemon_closes_the_store_too(path: Path, clock: ManualClock) -> None:
    with pytest.raises(LookupError):
        async with open_store(path, clock=clock):
            raise LookupError
    async with open_store(path, clock=clock):
        pass


async def test_a_second_daemon_is_refused(store: Store, clock: ManualClock) -> None:
    with pytest.raises(DaemonRunningError) as refused:
        async with open_store(store.path, clock=clock):
            pass
    assert refused.value.pid == os.getpid()


async def test_another_program_holding_the_database_delays_a_write_and_then_fails_it(store: Store) -> None:
    with closing(connect(store.path, isolation_level=None)) as other:
        other.execute("BEGIN IMMEDIATE")
        with pytest.raises(DatabaseLockedError):
            await store.write(set_title, "changed")
        assert await store.read(title) == "main"
        other.execute("ROLLBACK")
    await store.write(set_title, "changed")
    assert await store.read(title) == "changed"


async def test_the_log_stays_bounded(store: Store) -> None:
    for number in range(40):
        await store.write_soft(set_title, f"{number} " + "x" * 400_000)
    assert store.path.with_name("kai.db-wal").stat().st_size < 16 * 1024 * 1024


# A disk that is full


async def test_a_full_disk_loses_nothing_says_so_and_heals_by_itself(small_disk: Path, clock: ManualClock) -> None:
    path = small_disk / "kai.db"
    filler = small_disk / "filler"

    async with open_store(path, clock=clock) as store:
        await store.write(furnish)
        await store.write(set_title, "kept")
        await anyio.to_thread.run_sync(fill_up, filler)
        with pytest.raises(DiskFullError) as full:
            await write_much(store)
        assert full.value.hint
        assert (await store.read(title))[:4] in ("kept", "much")  # the last that was acknowledged
        await anyio.to_thread.run_sync(filler.unlink)
        await store.write(set_title, "healed")
        assert await store.read(title) == "healed"
    async with open_store(path, clock=clock) as store:
        assert await store.read(title) == "healed"
        assert await store.read(opening.damage) == ""


async def write_much(store: Store) -> None:
    for number in range(100):
        await store.write(set_title, f"much {number} " + "x" * 100_000)


async def test_a_disk_without_room_for_a_database_is_said(small_disk: Path, clock: ManualClock) -> None:
    await anyio.to_thread.run_sync(fill_up, small_disk / "filler")
    with pytest.raises(StoreError) as full:
        async with open_store(small_disk / "kai.db", clock=clock):
            pass
    assert full.value.hint
    await anyio.to_thread.run_sync((small_disk / "filler").unlink)
    async with open_store(small_disk / "kai.db", clock=clock) as store:
        await store.write(furnish)


# Kills


def test_no_acknowledged_message_is_lost_to_a_kill(path: Path) -> None:
    """A child accepts and says which; it is killed at random moments. What it said is there, once, and in order."""
    with ExitStack() as stack:
        writer, _ = opening.open_connections(stack, path, START, 1, 0)
        furnish(writer)
    dice = random.Random(9)
    acknowledged: dict[str, str] = {}
    for _ in range(4):
        acknowledged |= accept_until_killed(path, len(acknowledged) + 100_000 * (len(acknowledged) > 0), dice)
    assert len(acknowledged) > 100
    with ExitStack() as stack:
        writer, _ = opening.open_connections(stack, path, START, 1, 0)
        assert opening.damage(writer) == ""
        for external_id, message in acknowledged.items():
            found = messages.by_external(writer, "telegram", "chat-1", external_id)
            assert found
            assert found.message == message
        numbers = [row[0] for row in writer.execute("SELECT number FROM message ORDER BY seq")]
        assert numbers == list(range(1, len(numbers) + 1))
        turns = writer.execute("SELECT count(*), count(DISTINCT message) FROM turn").fetchone()
        assert tuple(turns) == (len(numbers), len(numbers))


def accept_until_killed(path: Path, first: int, dice: random.Random) -> dict[str, str]:
    """External id → message id of what the child had acknowledged."""
    lines: list[str] = []
    deadline = dice.randrange(1, 120)
    with subprocess.Popen(
        [sys.executable, "-m", "tests.store.victim", str(path), str(first)], cwd=ROOT, stdout=subprocess.PIPE, text=True
    ) as child:
        assert child.stdout
        for line in child.stdout:
            lines.append(line)
            if len(lines) == deadline:
                child.kill()  # what it had said by now is still in the pipe
    assert child.returncode == -9
    return dict(line.split() for line in lines if line.endswith("\n"))
