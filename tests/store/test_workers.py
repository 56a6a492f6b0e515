"""Group commit: what waits together is committed together, and fails alone."""

import asyncio
import threading
from collections.abc import Callable, Iterator
from contextlib import closing
from pathlib import Path
from queue import SimpleQueue
from typing import Any, cast

import anyio
import pytest

from kai.clock import SystemClock
from kai.model.errors import StoreError
from kai.store import workers
from kai.store.binding import Connection, OperationalError, connect
from kai.store.database import open_store
from kai.store.errors import DiskFullError
from kai.store.workers import Job, Jobs

pytestmark = pytest.mark.anyio
PATH = Path("/var/lib/kai/kai.db")


@pytest.fixture
def db() -> Iterator[Connection]:
    with closing(connect(":memory:", isolation_level=None, check_same_thread=False)) as db:
        db.execute("CREATE TABLE kept (x UNIQUE)")
        yield db


def keep(x: object) -> Callable[[Connection], object]:
    def work(db: Connection) -> object:
        db.execute("INSERT INTO kept VALUES (?)", (x,))
        return x

    return work


def kept(db: Connection) -> list[object]:
    return [row[0] for row in db.execute("SELECT x FROM kept ORDER BY rowid")]


async def run(
    db: Connection, *works: Callable[[Connection], Any], soft: tuple[bool, ...] = ()
) -> tuple[list[Any], list[str]]:
    """Queue all works before the writer starts, so that they are one group. Gives answers and the statements run."""
    jobs: Jobs = SimpleQueue()
    loop = asyncio.get_running_loop()
    answers: list[asyncio.Future[Any]] = []
    for at, work in enumerate(works):
        answers.append(loop.create_future())
        jobs.put(Job(work, answers[-1], soft[at] if soft else False))
    jobs.put(None)
    statements: list[str] = []
    db.set_trace_callback(statements.append)
    thread = threading.Thread(target=workers.run_writer, args=(db, jobs, PATH))
    thread.start()
    for answer in answers:
        await asyncio.wait([answer])
    db.set_trace_callback(None)
    return [answer.exception() or answer.result() for answer in answers], statements


async def test_what_waits_together_is_one_commit(db: Connection) -> None:
    answers, statements = await run(db, *(keep(x) for x in range(5)))
    assert answers == kept(db) == [0, 1, 2, 3, 4]
    assert statements.count("COMMIT") == 1


async def test_a_work_that_fails_is_undone_alone(db: Connection) -> None:
    def half(db: Connection) -> None:
        db.execute("INSERT INTO kept VALUES ('half')")
        raise LookupError("no")

    answers, _ = await run(db, keep(1), half, keep(1), keep(2))
    assert kept(db) == [1, 2]
    assert isinstance(answers[1], LookupError)
    assert isinstance(answers[2], StoreError)
    assert "UNIQUE" in answers[2].sentence


async def test_works_whose_commit_is_lost_run_again_one_by_one(db: Connection) -> None:
    """A reference that is checked at the end spoils the whole commit: only whose it is may feel it."""
    db.execute("PRAGMA foreign_keys = ON")
    db.execute("CREATE TABLE up (x PRIMARY KEY)")
    db.execute("CREATE TABLE down (x REFERENCES up (x) DEFERRABLE INITIALLY DEFERRED)")

    def dangle(db: Connection) -> None:
        db.execute("INSERT INTO down VALUES ('nothing')")

    answers, _ = await run(db, keep(1), dangle, keep(2))
    assert kept(db) == [1, 2]
    assert (answers[0], answers[2]) == (1, 2)
    assert isinstance(answers[1], StoreError)
    assert not db.in_transaction


async def test_a_full_disk_undoes_nothing_that_fits(db: Connection) -> None:
    db.execute("PRAGMA max_page_count = 40")
    answers, _ = await run(db, keep("small"), keep("x" * 400_000), keep("small too"))
    assert kept(db) == ["small", "small too"]
    assert isinstance(answers[1], DiskFullError)


async def test_the_disk_is_waited_for_unless_all_that_waits_is_soft(db: Connection) -> None:
    for soft, expected in (((True, True), "NORMAL"), ((True, False), "FULL")):
        _, statements = await run(db, keep(object_name(soft, 1)), keep(object_name(soft, 2)), soft=soft)
        set_to = [line.rsplit(" ", 1)[1] for line in statements if line.startswith("PRAGMA synchronous")]
        assert set_to == [expected]


def object_name(soft: tuple[bool, ...], number: int) -> str:
    return f"{soft} {number}"


class Sick:
    """A connection on which one kind of statement fails."""

    def __init__(self, db: Connection, statement: str) -> None:
        self._db = db
        self._statement = statement

    def execute(self, sql: str, *arguments: Any) -> Any:
        if sql.startswith(self._statement):
            raise OperationalError("the disk is ill")
        return self._db.execute(sql, *arguments)

    def __getattr__(self, name: str) -> Any:
        return getattr(self._db, name)


@pytest.mark.parametrize("statement", ["PRAGMA synchronous", "BEGIN", "COMMIT", "SAVEPOINT", "ROLLBACK"])
async def test_whatever_fails_nobody_waits_for_ever(db: Connection, statement: str) -> None:
    def refuse(_: Connection) -> None:
        raise LookupError

    sick = cast("Connection", Sick(db, statement))
    for works in ((keep(1),), (keep(2), refuse, keep(3))):
        answers, _ = await run(sick, *works)
        assert len(answers) == len(works)
        assert [answer for answer in answers if isinstance(answer, Exception)] or statement in ("SAVEPOINT", "ROLLBACK")
        if db.in_transaction:
            db.execute("ROLLBACK")
    answers, _ = await run(db, keep(4))
    assert answers == [4]


@pytest.mark.parametrize("statement", ["BEGIN", "ROLLBACK"])
async def test_a_reader_answers_whatever_fails(db: Connection, statement: str) -> None:
    jobs: Jobs = SimpleQueue()
    answers = [asyncio.get_running_loop().create_future() for _ in range(2)]
    for answer in answers:
        jobs.put(Job(kept, answer))
    jobs.put(None)
    sick = cast("Connection", Sick(db, statement))
    threading.Thread(target=workers.run_reader, args=(sick, jobs, PATH)).start()
    with anyio.fail_after(5):
        await asyncio.wait(answers)
    assert all(answer.exception() or answer.result() == [] for answer in answers)


async def test_an_answer_that_nobody_awaits_any_more_is_let_go(db: Connection) -> None:
    loop = asyncio.get_running_loop()
    given_up = loop.create_future()
    given_up.cancel()
    jobs: Jobs = SimpleQueue()
    follows = loop.create_future()
    jobs.put(Job(keep(1), given_up))
    jobs.put(Job(keep(2), follows))
    jobs.put(None)
    threading.Thread(target=workers.run_writer, args=(db, jobs, PATH)).start()
    assert await follows == 2
    assert kept(db) == [1, 2]  # it was asked for before it was given up


async def test_a_reading_that_nobody_awaits_any_more_is_not_done(db: Connection) -> None:
    loop = asyncio.get_running_loop()
    given_up, follows = loop.create_future(), loop.create_future()
    given_up.cancel()
    seen: list[str] = []
    jobs: Jobs = SimpleQueue()
    jobs.put(Job(lambda _: seen.append("given up"), given_up))
    jobs.put(Job(lambda _: seen.append("follows"), follows))
    jobs.put(None)
    threading.Thread(target=workers.run_reader, args=(db, jobs, PATH)).start()
    await follows
    assert seen == ["follows"]


async def test_the_log_is_brought_into_the_file_in_a_quiet_moment_and_within_no_commit(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(workers, "_COMMITS", 2)
    monkeypatch.setattr(workers, "_QUIET_S", 0.001)
    path = tmp_path / "log.db"
    async with open_store(path, clock=SystemClock()) as store:
        empty = path.stat().st_size
        await store.write(lambda db: db.execute("CREATE TABLE kept (x)"))
        for _ in range(3):
            await store.write(lambda db: db.execute("INSERT INTO kept VALUES (zeroblob(100000))"))
        with anyio.fail_after(10):
            while path.stat().st_size < empty + 250_000:  # noqa: ASYNC110 - no event; some of it was free
                await anyio.sleep(0.01)
