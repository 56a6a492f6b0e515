"""Backups are made while the daemon works, and listed."""

from collections.abc import Mapping
from typing import BinaryIO

import anyio
from anyio import from_thread, to_thread

from kai.log import log
from kai.store import backup
from kai.turns.parts import Parts
from kai.turns.views import View


class Backups:
    """Makes one at a time."""

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
