"""The bytes of attachments: one folder, files named by their content, never by their sender, and never overwritten."""

import os
import re
import unicodedata
from collections.abc import AsyncIterator
from hashlib import sha256
from pathlib import Path
from tempfile import mkstemp

from anyio import CancelScope, to_thread

from kai.model.errors import StoreError
from kai.model.ids import AttachmentRef, fresh
from kai.model.messages import AttachmentInfo

_PART = ".part-"
_HOP_BYTES = 1024 * 1024  # gathered before a worker thread writes them
_NAME_BYTES = 120
_MEDIA_TYPE = re.compile(r"[a-z0-9!#$&^_.+-]{1,64}/[a-z0-9!#$&^_.+-]{1,64}")
_SUFFIX = re.compile(r"\.[a-z0-9]{1,8}")


def harmless_name(name: str) -> str:
    """What is shown as a file's name: one path component, no sign that is not seen, no leading dot or dash."""
    whole = unicodedata.normalize("NFKC", name.encode("utf-8", "replace").decode())  # full-width dots and slashes, too
    last = re.split(r"[/\\]", whole)[-1]
    seen = "".join(sign for sign in last if unicodedata.category(sign)[0] != "C" and sign not in "\u2028\u2029")
    kept = " ".join(seen.split()).lstrip(".-~ ").rstrip(". ")
    stem, dot, suffix = kept.rpartition(".")
    tail = dot + suffix if stem and len(suffix) <= 16 else ""
    room = _NAME_BYTES - len(tail.encode())
    head = kept.removesuffix(tail).encode()[:room].decode("utf-8", "ignore")
    return head + tail or "file"


def harmless_type(media_type: str) -> str:
    """A media type that may go into a header; anything else is plain bytes."""
    return media_type if _MEDIA_TYPE.fullmatch(media_type) else "application/octet-stream"


class AttachmentFolder:
    """Owns `folder` (0700). A file is `<sha256><suffix>`, 0600, whole from the moment that it is there."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder

    def prepare(self) -> None:
        """Make the folder and drop what a killed daemon left half written. Blocking."""
        self._folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        for left in self._folder.glob(f"{_PART}*"):
            left.unlink(missing_ok=True)

    async def keep(self, pieces: AsyncIterator[bytes], name: str, media_type: str) -> AttachmentInfo:
        """Store what `pieces` yield, under a fresh reference; on the disk before this returns.

        Raises `StoreError` when it cannot be written, and whatever `pieces` raises; either way nothing is left.
        """
        shown = harmless_name(name)
        try:
            file, part = await to_thread.run_sync(mkstemp, None, _PART, self._folder)
            try:
                digest, size = await _write(file, pieces)
                suffix = Path(shown).suffix.lower()
                path = self._folder / (digest + (suffix if _SUFFIX.fullmatch(suffix) else ""))
                await to_thread.run_sync(_settle, file, Path(part), path, size)
            finally:
                with CancelScope(shield=True):
                    await to_thread.run_sync(_drop, file, Path(part))
        except OSError as error:
            raise StoreError(
                str(self._folder), f"the file could not be kept: {error.strerror}", "Make room, then send it again."
            ) from error
        return AttachmentInfo(AttachmentRef(fresh("x")), shown, harmless_type(media_type), size, digest, str(path))


async def _write(file: int, pieces: AsyncIterator[bytes]) -> tuple[str, int]:
    digest = sha256()
    size = 0
    waiting = bytearray()
    async for piece in pieces:
        digest.update(piece)
        size += len(piece)
        waiting += piece
        if len(waiting) >= _HOP_BYTES:
            await to_thread.run_sync(_write_all, file, bytes(waiting))
            waiting.clear()
    await to_thread.run_sync(_write_all, file, bytes(waiting))
    return digest.hexdigest(), size


def _write_all(file: int, data: bytes) -> None:
    view = memoryview(data)
    while view:
        view = view[os.write(file, view) :]


def _settle(file: int, part: Path, path: Path, size: int) -> None:
    os.fsync(file)
    # The same content under the same name: what is there already stays as it is.
    if not (path.is_file() and not path.is_symlink() and path.stat().st_size == size):
        part.replace(path)
    folder = os.open(path.parent, os.O_RDONLY | os.O_DIRECTORY)
    try:
        os.fsync(folder)
    finally:
        os.close(folder)


def _drop(file: int, part: Path) -> None:
    os.close(file)
    part.unlink(missing_ok=True)
