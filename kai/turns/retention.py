"""What is kept for how long: backups are made, and whatever was kept long enough is erased in a quiet moment."""

import os
import shutil
import stat
import sys
import time
from collections.abc import Mapping
from contextlib import suppress
from datetime import timedelta
from pathlib import Path
from typing import BinaryIO

import anyio
from anyio import from_thread, to_thread

from kai.log import log
from kai.store import attachments, backup, results, sessions, snapshots, temporary
from kai.turns.memory_door import collect
from kai.turns.parts import Parts
from kai.turns.views import View

LOG = "kai.log"
_OF_NO_RUN_S = 3600.0  # a run that starts, or is only tried, has its folder before it has a row


class Retention:
    """One backup at a time; nothing that is still owed is erased."""

    def __init__(self, parts: Parts) -> None:
        self._parts = parts
        self._state = parts.store.path.parent
        self._one = anyio.Lock()

    async def back_up(self) -> View:
        """Make a backup while the daemon works. Raises what `kai.store.backup.make` raises."""
        settings = self._parts.config.settings.backups
        async with self._one:
            made = await to_thread.run_sync(
                lambda: backup.make(
                    self._state,
                    self._parts.clock.now(),
                    keep=settings.keep,
                    max_file_bytes=settings.max_file_bytes,
                    as_owner=self._pack,
                    check=from_thread.check_cancelled,
                )
            )
        view = backup_view(made)
        log.info("backup.made", path=view["path"], size_bytes=view["size_bytes"], left_out=len(view["left_out"]))
        return view

    def _pack(self, os_user: str, roots: Mapping[str, str], out: BinaryIO, max_file_bytes: int) -> list[str]:
        """From the thread that makes the backup: as the owner."""
        return from_thread.run(self._parts.errands.pack, os_user, roots, out, max_file_bytes)

    async def backups(self) -> list[View]:
        """Those that there are, the newest first."""
        found = await to_thread.run_sync(backup.listing, self._state)
        return [backup_view(one) for one in found]

    async def drop_old(self) -> None:
        """Erase what was kept for as long as the settings say: snapshots, files, wire files of no run, the log."""
        settings, now = self._parts.config.settings, self._parts.clock.now()
        before = now - timedelta(days=settings.snapshots.days)
        await collect(self._parts)
        await forget_erased(self._parts, await self._parts.store.write(temporary.erase, now))
        while await self._parts.store.write_soft(snapshots.purge, before):
            pass  # in small transactions: nobody waits long behind one
        await self._parts.store.write_soft(results.drop_old, before)
        paths = await self._parts.store.read(attachments.older, now - timedelta(days=settings.attachments.days))
        live: set[str] = set(await self._parts.store.read(sessions.open_runs))
        live |= {live.run for live in self._parts.pool.every()}
        await to_thread.run_sync(_erase, paths, self._parts.runs, live)
        await to_thread.run_sync(turn_over, self._state / LOG, settings.log.max_bytes)


async def forget_erased(parts: Parts, erased: temporary.Erased) -> None:
    """What is left of erased turns outside of the database: the log of their events, and their files."""
    for turn in erased.turns:
        parts.live.forget(turn)
    if erased.turns:
        log.info("turn.erased", turns=len(erased.turns), files=len(erased.paths))
    if erased.paths:
        await to_thread.run_sync(_unlink, erased.paths)


def backup_view(made: backup.Backup) -> View:
    """What is shown of a backup. `digest` is that of its manifest: the same wherever it was copied to."""
    said = made.manifest
    return {
        "path": str(made.path),
        "name": made.path.name,
        "made_at": said.made_at,
        "kai": said.kai,
        "size_bytes": said.size_bytes,
        "files": len(said.files),
        "left_out": list(said.left_out),
        "digest": said.seal,
    }


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
