"""Unix sockets that are never open wider than they shall be, not for a moment."""

import os
import socket
import stat
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from kai.settings.problems import FolderError

_BACKLOG = 128


@dataclass(frozen=True, slots=True)
class BoundSocket:
    """A listening socket and the file that leads to it."""

    listener: socket.socket
    path: Path
    inode: int

    def remove(self) -> None:
        """Take the file away, unless another stands there by now. Blocking."""
        with suppress(FileNotFoundError):
            if self.path.lstat().st_ino == self.inode:
                self.path.unlink()


def bind(path: Path, group: int | None = None, *, for_all: bool = False) -> BoundSocket:
    """Listen on `path`: 0600, with the id of a `group` 0660 for it, or 0666. Blocking. Raises `FolderError`.

    The folder belongs to us and nobody else may write to it. The caller holds the daemon's lock: a socket that stands
    there is a dead daemon's, and is replaced in one step.
    """
    if os.path.lexists(path) and not stat.S_ISSOCK(path.lstat().st_mode):
        raise FolderError(str(path), "something that is no socket stands there", "Move it away.")
    listener = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
    try:
        # A name that nobody knows until mode and group are right, and no longer than the one it gets.
        early = path.with_suffix(".new")
        early.unlink(missing_ok=True)
        os.fchmod(listener.fileno(), 0o600)  # what bind gives the file, whatever the umask
        listener.bind(str(early))
        if group is not None:
            os.chown(early, -1, group)
            early.chmod(0o660)
        elif for_all:
            early.chmod(0o666)
        listener.listen(_BACKLOG)
        early.rename(path)
        return BoundSocket(listener, path, path.lstat().st_ino)
    except OSError as error:
        listener.close()
        remedy = "See who may write there, or choose another folder with --runtime or $KAI_RUNTIME."
        raise FolderError(str(path), f"no socket can be made here: {error.strerror}", remedy) from error
