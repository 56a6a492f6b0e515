"""Unix sockets that are never open wider than they shall be, not for a moment."""

import os
import socket
import stat
from dataclasses import dataclass
from pathlib import Path

from kai.settings.problems import FolderError

PATH_BYTES = 107  # sockaddr_un holds 108 with the closing NUL
_BACKLOG = 128


@dataclass(frozen=True, slots=True)
class BoundSocket:
    """A listening socket and the file that leads to it."""

    listener: socket.socket
    path: Path
    inode: int

    def remove(self) -> None:
        """Take the file away, unless somebody else's stands there by now. Blocking."""
        try:
            if self.path.lstat().st_ino == self.inode:
                self.path.unlink()
        except FileNotFoundError:
            pass


def bind(path: Path, *, group: int | None = None) -> BoundSocket:
    """Listen on `path`: 0600, or with a `group` id 0660 for it. Blocking. Raises `FolderError`.

    The caller holds the daemon's lock: a socket that is there is a dead daemon's, and is replaced in one step.
    """
    size = len(os.fsencode(path))
    if size > PATH_BYTES:
        raise FolderError(
            str(path),
            f"{size} bytes are too long for a socket ({PATH_BYTES} at most)",
            "Choose a shorter folder with --runtime or $KAI_RUNTIME.",
        )
    _check_folder(path.parent)
    _check_place(path)
    # A name that nobody knows until mode and group are right; never longer than the one it gets.
    early = path.with_suffix(".new")
    listener = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
    try:
        early.unlink(missing_ok=True)
        os.fchmod(listener.fileno(), 0o600)  # what bind gives the file, whatever the umask
        listener.bind(str(early))
        if group is not None:
            os.chown(early, -1, group)
            early.chmod(0o660)
        listener.listen(_BACKLOG)
        listener.setblocking(False)
        early.rename(path)
        return BoundSocket(listener, path, path.lstat().st_ino)
    except OSError as error:
        listener.close()
        raise FolderError(str(path), f"the socket cannot be made: {error.strerror}", _remedy(path)) from error


def _check_folder(folder: Path) -> None:
    try:
        found = folder.stat(follow_symlinks=False)
    except OSError as error:
        raise FolderError(
            str(folder), f"the runtime folder cannot be used: {error.strerror}", _remedy(folder)
        ) from error
    if not stat.S_ISDIR(found.st_mode):
        raise FolderError(str(folder), "is no folder", _remedy(folder))
    if found.st_uid not in (0, os.geteuid()):
        raise FolderError(
            str(folder), f"belongs to uid {found.st_uid}, who could put another socket there", _remedy(folder)
        )
    if found.st_mode & 0o022:
        raise FolderError(
            str(folder), "others may write to it, and could put another socket there", f"chmod go-w {folder}"
        )


def _check_place(path: Path) -> None:
    try:
        found = path.lstat()
    except FileNotFoundError:
        return
    if not stat.S_ISSOCK(found.st_mode):
        raise FolderError(str(path), "something that is no socket stands there", "Move it away.")


def _remedy(path: Path) -> str:
    return f"See who owns {path}, or choose another folder with --runtime or $KAI_RUNTIME."
