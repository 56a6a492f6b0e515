"""Reads a file that somebody else owns and may have arranged to do harm. What they did is a state, not an error."""

import errno
import os
import stat
from contextlib import ExitStack
from pathlib import Path
from typing import Protocol

from kai.model.context import FileState, PersonFile

MAX_BYTES = 128 * 1024
_FOLDER = os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC
# Non-blocking: opening a fifo, or a file under somebody's lease, would otherwise wait for as long as they like.
_FILE = os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_NOCTTY | os.O_CLOEXEC


class OwnerReader(Protocol):
    """A short-lived reader that runs as the owner, with the same rules and states as `read`."""

    async def read(self, path: Path, *, root: Path, owner_uid: int) -> PersonFile: ...


class _Refused(Exception):  # noqa: N818 - it carries a state, and never leaves this module
    def __init__(self, state: FileState, problem: str) -> None:
        super().__init__(problem)
        self.state = state


def read(path: Path, *, root: Path, owner_uid: int | None, max_bytes: int = MAX_BYTES) -> PersonFile:
    """The file at `path`, which lies below `root`. Blocks; call it in a thread.

    `root` itself is trusted. Below it no link is followed in any part of the path. The file must be regular, have one
    name, belong to `owner_uid` (None: anybody), and hold at most `max_bytes` of UTF-8 (a byte order mark is dropped).
    Nothing that the owner can do to it raises.
    """
    name = str(path)
    try:
        raw = _contents(path, root, owner_uid, max_bytes)
        text = raw.decode("utf-8-sig")
    except _Refused as refused:
        return PersonFile(name, refused.state, problem=str(refused))
    except UnicodeDecodeError as error:
        return PersonFile(name, FileState.MALFORMED, problem=f"it is not UTF-8 at byte {error.start}")
    except ValueError:  # a path that cannot be one: it holds NUL, or lies elsewhere
        return PersonFile(name, FileState.UNSAFE, problem=f"it does not lie below {root}")
    except OSError as error:
        return PersonFile(name, *_what(error))
    return PersonFile(name, FileState.PRESENT if text.strip() else FileState.EMPTY, text)


def deferred(path: Path) -> PersonFile:
    """A file that is not looked at here: the agent, which runs as its owner, reads it."""
    return PersonFile(str(path), FileState.DEFERRED)


def _contents(path: Path, root: Path, owner_uid: int | None, max_bytes: int) -> bytes:
    *folders, leaf = path.relative_to(root).parts or ("",)
    if leaf in ("", "..") or ".." in folders:
        raise ValueError(path)
    with ExitStack() as opened:
        at = os.open(root, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
        opened.callback(os.close, at)
        for folder in folders:
            at = os.open(folder, _FOLDER, dir_fd=at)
            opened.callback(os.close, at)
        file = os.open(leaf, _FILE, dir_fd=at)
        opened.callback(os.close, file)
        _check(os.fstat(file), owner_uid, max_bytes)
        return _read_all(file, max_bytes)


def _check(facts: os.stat_result, owner_uid: int | None, max_bytes: int) -> None:
    if not stat.S_ISREG(facts.st_mode):
        raise _Refused(FileState.UNSAFE, "it is not a regular file")
    if facts.st_nlink != 1:
        raise _Refused(FileState.UNSAFE, f"it has {facts.st_nlink} names (hard links)")
    if owner_uid is not None and facts.st_uid != owner_uid:
        raise _Refused(FileState.UNSAFE, f"it belongs to uid {facts.st_uid}, not to its person (uid {owner_uid})")
    if facts.st_size > max_bytes:
        raise _too_large(max_bytes)


def _read_all(file: int, max_bytes: int) -> bytes:
    """Everything, and no more than allowed: the size may have changed since it was looked at."""
    pieces, left = [], max_bytes + 1
    while left and (piece := os.read(file, left)):
        pieces.append(piece)
        left -= len(piece)
    if not left:
        raise _too_large(max_bytes)
    return b"".join(pieces)


def _too_large(max_bytes: int) -> _Refused:
    return _Refused(FileState.OVERSIZED, f"it is larger than {max_bytes // 1024} KiB")


def _what(error: OSError) -> tuple[FileState, str, str]:
    match error.errno:
        case errno.ENOENT:
            return FileState.MISSING, "", ""
        case errno.ELOOP | errno.ENOTDIR:
            return FileState.UNSAFE, "", "a part of its path is a link, or no folder"
        case errno.ENXIO | errno.ENODEV:
            return FileState.UNSAFE, "", "it is not a regular file"
        case _:
            return FileState.UNREADABLE, "", os.strerror(error.errno or 0).lower()
