"""What is kept for how long: whatever was kept long enough is erased in a quiet moment."""

import os
import shutil
import stat
import sys
import time
from collections.abc import Callable, Collection
from contextlib import suppress
from datetime import timedelta
from pathlib import Path

from anyio import to_thread

from kai.clock import Clock
from kai.log import log
from kai.model.ids import TurnId
from kai.settings.values import MemorySettings
from kai.store import attachments, results, sessions, snapshots, temporary, upkeep
from kai.store.database import Store
from kai.turns.ground import Ground

LOG = "kai.log"
_OF_NO_RUN_S = 3600.0  # a run that starts, or is only tried, has its folder before it has a row


async def drop_old(ground: Ground, live: Collection[str], forget: Callable[[TurnId], None]) -> None:
    """Erase what was kept for as long as the settings say: snapshots, files, wire files of no run, the log.

    Nothing that is still owed is erased, nor anything of the `live` runs. `forget`: as in `forget_erased`.
    """
    settings, store, now = ground.config.settings, ground.store, ground.clock.now()
    before = now - timedelta(days=settings.snapshots.days)
    await collect(store, settings.memory, ground.clock)
    await forget_erased(await store.write(temporary.erase, now), forget)
    while await store.write_soft(snapshots.purge, before):
        pass  # in small transactions: nobody waits long behind one
    await store.write_soft(results.drop_old, before)
    paths = await store.read(attachments.older, now - timedelta(days=settings.attachments.days))
    at_work = {*await store.read(sessions.open_runs), *live}
    await to_thread.run_sync(_erase, paths, ground.runs, at_work)
    await to_thread.run_sync(turn_over, ground.folders.state / LOG, settings.log.max_bytes)


async def collect(store: Store, settings: MemorySettings, clock: Clock) -> upkeep.Collected:
    """Take out what is over, erase what was kept long enough, in small transactions."""
    total = upkeep.Collected(0, 0, 0)
    while True:
        now = clock.now()
        one = await store.write(upkeep.collect, now, settings.forgotten_days, settings.audit_days)
        total = upkeep.Collected(total.expired + one.expired, total.erased + one.erased, total.audit + one.audit)
        if not (one.expired or one.erased):
            return total


async def forget_erased(erased: temporary.Erased, forget: Callable[[TurnId], None]) -> None:
    """What is left of erased turns outside of the database: the log of their events (`forget`), and their files."""
    for turn in erased.turns:
        forget(turn)
    if erased.turns:
        log.info("turn.erased", turns=len(erased.turns), files=len(erased.paths))
    if erased.paths:
        await to_thread.run_sync(_unlink, erased.paths)


def _unlink(paths: tuple[str, ...]) -> None:
    for path in paths:
        Path(path).unlink(missing_ok=True)


def _erase(paths: tuple[str, ...], runs: Path, live: set[str]) -> None:
    _unlink(paths)
    for folder in runs.iterdir() if runs.is_dir() else ():
        with suppress(OSError):
            if folder.name not in live and folder.stat().st_mtime < time.time() - _OF_NO_RUN_S:
                shutil.rmtree(folder)


def turn_over(path: Path, max_bytes: int) -> bool:
    """Begin a new log when stderr is this file and it is longer than `max_bytes`; one older one stays. Blocks."""
    with suppress(OSError, ValueError):
        now, there = os.fstat(sys.stderr.fileno()), path.lstat()
        is_ours = stat.S_ISREG(there.st_mode) and (now.st_dev, now.st_ino) == (there.st_dev, there.st_ino)
        if is_ours and there.st_size > max_bytes:
            path.rename(path.with_name(f"{path.name}.1"))
            fresh = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_APPEND | os.O_NOFOLLOW | os.O_CLOEXEC, 0o600)
            os.dup2(fresh, sys.stderr.fileno())
            if sys.stdout.fileno() == 1 and os.path.samestat(os.fstat(1), now):
                os.dup2(fresh, 1)
            os.close(fresh)
            return True
    return False
