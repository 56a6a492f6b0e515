"""The database of a daemon: opened once, locked for life, one writer, a few readers."""

import asyncio
from collections.abc import AsyncIterator, Callable
from contextlib import ExitStack, asynccontextmanager
from pathlib import Path
from queue import SimpleQueue
from threading import Thread
from typing import Any, Concatenate, ParamSpec, TypeVar

import anyio
from anyio import to_thread
from anyio.lowlevel import checkpoint_if_cancelled

from kai.clock import Clock
from kai.model.errors import StoreError
from kai.store import opening
from kai.store.binding import Connection
from kai.store.workers import Job, Jobs, run_reader, run_writer

P = ParamSpec("P")
T = TypeVar("T")

READERS = 2


class Store:
    """Runs functions of this package in transactions. Made by `open_store`; after that is left, every call fails."""

    def __init__(self, path: Path, clock: Clock, busy_s: float) -> None:
        self.path = path
        self._clock = clock
        self._busy_s = busy_s
        self._writes: Jobs = SimpleQueue()
        self._reads: Jobs = SimpleQueue()
        self._threads: list[Thread] = []
        self._closing = ExitStack()
        self._is_open = False

    async def write(self, fn: Callable[Concatenate[Connection, P], T], /, *args: P.args, **kwargs: P.kwargs) -> T:
        """Run `fn` in one transaction that survives a power cut once this returns. What `fn` raises undoes it alone.

        Writes happen in the order in which they were asked for.
        A cancellation takes effect before it starts or after it is committed, never in the middle.
        """
        return await self._write(_bound(fn, args, kwargs), soft=False)

    async def write_soft(self, fn: Callable[Concatenate[Connection, P], T], /, *args: P.args, **kwargs: P.kwargs) -> T:
        """Like `write`, not waiting for the disk: survives a kill, not a power cut. For what nobody was promised."""
        return await self._write(_bound(fn, args, kwargs), soft=True)

    async def read(self, fn: Callable[Concatenate[Connection, P], T], /, *args: P.args, **kwargs: P.kwargs) -> T:
        """Run `fn` on a connection that cannot write, all of it at one moment of the database."""
        job = self._job(_bound(fn, args, kwargs), soft=False)
        self._reads.put(job)
        result: T = await job.answer
        return result

    async def _write(self, work: Callable[[Connection], T], *, soft: bool) -> T:
        await checkpoint_if_cancelled()
        job = self._job(work, soft=soft)
        self._writes.put(job)
        with anyio.CancelScope(shield=True):
            result: T = await job.answer
        return result

    def _job(self, work: Callable[[Connection], Any], *, soft: bool) -> Job:
        if not self._is_open:
            raise StoreError(str(self.path), "the database is closed", "Start the daemon again.")
        return Job(work, asyncio.get_running_loop().create_future(), soft)

    def _open(self) -> None:
        """Lock, check, migrate, open, start the threads. Blocks."""
        with ExitStack() as stack:
            writer, readers = opening.open_connections(stack, self.path, self._clock.now(), self._busy_s, READERS)
            self._start(run_writer, writer, self._writes, "kai-store-writer")
            for number, reader in enumerate(readers):
                self._start(run_reader, reader, self._reads, f"kai-store-reader-{number}")
            self._closing = stack.pop_all()
        self._is_open = True

    def _start(self, run: Callable[[Connection, Jobs, Path], None], db: Connection, jobs: Jobs, name: str) -> None:
        thread = Thread(target=run, args=(db, jobs, self.path), name=name, daemon=True)
        self._threads.append(thread)
        thread.start()

    def _close(self) -> None:
        """Finish what is queued, end the threads, close the connections, let the lock go. Blocks."""
        self._is_open = False
        self._writes.put(None)
        for _ in range(READERS):
            self._reads.put(None)
        for thread in self._threads:
            thread.join()
        self._closing.close()


@asynccontextmanager
async def open_store(path: Path, *, clock: Clock, busy_s: float = 5.0) -> AsyncIterator[Store]:
    """Open the database at `path`, making it when there is none; its folder must exist.

    `busy_s` is how long to wait for another program's lock. Raises a `StoreError` that says what to do when the file
    is in use, damaged, unreadable, newer than this kai, or not kai's; it never starts empty in place of a bad file.
    """
    store = Store(path, clock, busy_s)
    with anyio.CancelScope(shield=True):
        await to_thread.run_sync(store._open)  # noqa: SLF001
    try:
        yield store
    finally:
        with anyio.CancelScope(shield=True):
            await to_thread.run_sync(store._close)  # noqa: SLF001


def _bound(fn: Callable[..., T], args: tuple[Any, ...], kwargs: dict[str, Any]) -> Callable[[Connection], T]:
    return lambda db: fn(db, *args, **kwargs)
