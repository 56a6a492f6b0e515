"""The threads that run transactions: one writer that commits what is waiting as a group, and readers.

A caller crosses to a thread once for a whole transaction; the answer wakes the caller's event loop.
"""

import asyncio
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from queue import Empty, SimpleQueue
from typing import Any

from kai.model.errors import KaiError
from kai.store.binding import Connection, Error
from kai.store.errors import translate

_GROUP = 128  # transactions that share one commit at most
_QUIET_S = 0.2  # nothing is asked for: the log is brought into the file now, and not within somebody's commit …
_COMMITS = 32  # … when there were so many since


@dataclass(slots=True)
class Job:
    """One transaction and who waits for it. `soft`: it may be lost in a power cut."""

    work: Callable[[Connection], Any]
    answer: "asyncio.Future[Any]"
    soft: bool = False


Jobs = SimpleQueue[Job | None]
_Answer = tuple["asyncio.Future[Any]", Any, BaseException | None]


class _GroupLostError(Exception):
    """The whole transaction is gone, with what other jobs had done in it."""


def run_writer(db: Connection, jobs: Jobs, path: Path) -> None:
    """Take jobs until None comes. The only thread that writes or checkpoints."""
    waits: bool | None = None  # whether a commit waits for the disk
    commits, open_ = 0, True
    while open_:
        try:
            job = jobs.get(timeout=_QUIET_S if commits >= _COMMITS else None)
        except Empty:
            with suppress(Error):  # the next commit that meets the fault tells it
                db.execute("PRAGMA wal_checkpoint(PASSIVE)")
            commits = 0
            continue
        if job is None:
            return
        group = [job]
        while len(group) < _GROUP and not jobs.empty():
            more = jobs.get_nowait()
            if more is None:
                open_ = False
                break
            group.append(more)
        must_wait = not all(job.soft for job in group)
        try:
            if waits is not must_wait:
                db.execute(f"PRAGMA synchronous = {'FULL' if must_wait else 'NORMAL'}")
                waits = must_wait
            answers = _commit(db, group, path)
        except Exception as error:  # noqa: BLE001 whatever happens, nobody waits for ever and the thread lives on
            answers = [(job.answer, None, _translated(error, path)) for job in group]
        _answer(answers)
        commits += 1


def run_reader(db: Connection, jobs: Jobs, path: Path) -> None:
    """Take jobs until None comes, each in a transaction of its own: one moment of the database, never longer."""
    while (job := jobs.get()) is not None:
        if job.answer.cancelled():
            continue
        try:
            db.execute("BEGIN")
            answer: _Answer = (job.answer, job.work(db), None)
        except Exception as error:  # noqa: BLE001 it is raised again where the answer is awaited
            answer = (job.answer, None, _translated(error, path))
        _roll_back(db)
        _answer([answer])


def _commit(db: Connection, group: Sequence[Job], path: Path) -> list[_Answer]:
    """Run a group in one transaction. When it is lost as a whole, each runs again alone: no answer has gone out yet."""
    if len(group) > 1:
        with suppress(_GroupLostError):
            return _run(db, group, path)
    return [_alone(db, job, path) for job in group]


def _run(db: Connection, group: Sequence[Job], path: Path) -> list[_Answer]:
    answers: list[_Answer] = []
    try:
        db.execute("BEGIN IMMEDIATE")
        for job in group:
            db.execute("SAVEPOINT job")
            try:
                answers.append((job.answer, job.work(db), None))
            except Exception as error:
                if not db.in_transaction:  # a full disk or a damaged page ends the whole transaction
                    raise
                db.execute("ROLLBACK TO job")
                answers.append((job.answer, None, _translated(error, path)))
            db.execute("RELEASE job")
        db.execute("COMMIT")
    except Exception as error:  # noqa: BLE001 it is raised again where the answers are awaited
        _roll_back(db)
        raise _GroupLostError from _translated(error, path)
    return answers


def _alone(db: Connection, job: Job, path: Path) -> _Answer:
    """The usual case, without savepoints: what undoes the job undoes the transaction."""
    try:
        db.execute("BEGIN IMMEDIATE")
        result = job.work(db)
        db.execute("COMMIT")
    except Exception as error:  # noqa: BLE001 it is raised again where the answer is awaited
        _roll_back(db)
        return job.answer, None, _translated(error, path)
    return job.answer, result, None


def _roll_back(db: Connection) -> None:
    if db.in_transaction:
        with suppress(Error):
            db.execute("ROLLBACK")


def _translated(error: Exception, path: Path) -> Exception:
    if isinstance(error, Error) and not isinstance(error, KaiError):
        story = translate(error, path)
        story.__cause__ = error
        return story
    return error


def _answer(answers: Sequence[_Answer]) -> None:
    loop = answers[0][0].get_loop()
    with suppress(RuntimeError):  # the loop is closed: nobody waits any more
        loop.call_soon_threadsafe(_settle, answers)


def _settle(answers: Sequence[_Answer]) -> None:
    for future, result, error in answers:
        if future.done():  # its caller was cancelled
            continue
        if error is None:
            future.set_result(result)
        else:
            future.set_exception(error)
