"""Reads a file that somebody else owns and may have arranged to do harm. What they did is a state, not an error."""

from pathlib import Path
from typing import Protocol

from kai.launcher.errand import RefusedError, contents
from kai.model.context import FileState, PersonFile

MAX_BYTES = 128 * 1024


class OwnerReader(Protocol):
    """A short-lived reader that runs as the owner, with the same rules and states as `read`."""

    async def read(self, path: Path, *, root: Path, owner_uid: int) -> PersonFile: ...


def read(path: Path, *, root: Path, owner_uid: int | None, max_bytes: int = MAX_BYTES) -> PersonFile:
    """The file at `path`, which lies below `root`. Blocks; call it in a thread.

    `root` itself is trusted. Below it no link is followed in any part of the path. The file must be regular, have one
    name, belong to `owner_uid` (None: anybody), and hold at most `max_bytes` of UTF-8 (a byte order mark is dropped).
    Nothing that the owner can do to it raises.
    """
    try:
        raw = contents(str(path), str(root), owner_uid, max_bytes)
    except RefusedError as refused:
        return PersonFile(str(path), FileState(refused.state), problem=str(refused))
    return decoded(path, raw)


def decoded(path: Path, raw: bytes) -> PersonFile:
    """The file with these bytes."""
    try:
        text = raw.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        return PersonFile(str(path), FileState.MALFORMED, problem=f"it is not UTF-8 at byte {error.start}")
    return PersonFile(str(path), FileState.PRESENT if text.strip() else FileState.EMPTY, text)


def deferred(path: Path) -> PersonFile:
    """A file that is not looked at here: the agent, which runs as its owner, reads it."""
    return PersonFile(str(path), FileState.DEFERRED)
