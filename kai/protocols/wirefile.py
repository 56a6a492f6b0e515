"""The wire file of a run on disk: what a new daemon would replay through a fresh driver."""

import base64
import contextlib
import json
import os
from pathlib import Path
from typing import Any

from anyio.to_thread import run_sync

from kai.log import log
from kai.model.context import Prompt
from kai.wire import record
from kai.wire.record import Kind

WROTE = "wrote"  # as a call: the frame before it is whole in the pipe
MAX_BYTES = 256 * 1024 * 1024  # it lives in memory: a run that says more is not recorded to its end


class WireFile:
    """Append-only. A write that fails ends the recording, never the run."""

    def __init__(self, path: Path, descriptor: int | None) -> None:
        self._path = path
        self._descriptor = descriptor
        self._size = 0

    @classmethod
    async def create(cls, path: Path) -> "WireFile":
        """Make the file (0600) and its folder (0700)."""
        try:
            return cls(path, await run_sync(_create, path))
        except OSError as error:
            log.warning("wire.not_recorded", path=str(path), reason=str(error))
            return cls(path, None)

    @classmethod
    async def reopen(cls, path: Path) -> tuple["WireFile", list[tuple[Kind, bytes]]]:
        """The file of a former daemon, to go on with, and its records; one that was torn is cut off."""
        try:
            descriptor, size, entries = await run_sync(_reopen, path)
        except OSError as error:
            log.warning("wire.not_recorded", path=str(path), reason=str(error))
            return cls(path, None), []
        wire = cls(path, descriptor)
        wire._size = size
        return wire, entries

    def add(self, kind: Kind, payload: bytes) -> None:
        """Append one record. It goes to a file in memory, without a sync: cheap enough for the event loop."""
        if self._descriptor is None:
            return
        data = memoryview(record.encode(kind, payload))
        self._size += len(data)
        try:
            while data and self._size <= MAX_BYTES:
                data = data[os.write(self._descriptor, data) :]
        except OSError as error:
            self._stop(str(error))
        if self._size > MAX_BYTES:
            self._stop(f"more than {MAX_BYTES} bytes")

    def call(self, name: str, **arguments: Any) -> None:
        """Append a call of the driver."""
        self.add(Kind.CALL, json.dumps({"call": name, **arguments}).encode())

    async def end(self, *, keep: bool) -> None:
        """The run is over: nobody will take it over again, and the file goes, unless somebody wants to read it."""
        self._close()
        if not keep:
            await run_sync(_remove, self._path)

    def _stop(self, reason: str) -> None:
        log.warning("wire.not_recorded", path=str(self._path), reason=reason)
        self._close()

    def _close(self) -> None:
        if self._descriptor is not None:
            os.close(self._descriptor)
            self._descriptor = None


def _create(path: Path) -> int:
    path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
    # O_NONBLOCK means nothing for a file; it tells the guard against blocking calls that this one is meant.
    flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_APPEND | os.O_NONBLOCK | os.O_CLOEXEC
    return os.open(path, flags, 0o600)


def _reopen(path: Path) -> tuple[int, int, list[tuple[Kind, bytes]]]:
    with path.open("rb") as file:
        entries = list(record.decode(file))
    size = sum(record.HEADER_BYTES + len(payload) for _, payload in entries)
    os.truncate(path, size)
    return os.open(path, os.O_WRONLY | os.O_APPEND | os.O_NONBLOCK | os.O_CLOEXEC), size, entries


def _remove(path: Path) -> None:
    path.unlink(missing_ok=True)
    with contextlib.suppress(OSError):  # somebody else's files are in it, or it was never made
        path.parent.rmdir()


def prompt_fields(prompt: Prompt) -> dict[str, Any]:
    """A prompt as JSON, media included: a replay must send the same bytes."""
    media = [[one.ref, one.media_type, base64.b64encode(one.data).decode()] for one in prompt.media]
    return {"dispatch": prompt.dispatch, "text": prompt.text, "bare": prompt.bare, "media": media}
