"""Runs the one helper that touches a person's files (`kai.launcher.errand`) as the OS user who owns them."""

import json
import os
import pwd
import sys
from collections.abc import AsyncIterator, Awaitable, Callable, Iterable, Mapping, Sequence
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any, BinaryIO, TypeVar

import anyio
from anyio import to_thread

from kai.model.context import FileState, PersonFile
from kai.model.errors import ErrandError, LaunchError, SessionBrokenError
from kai.model.ids import RunId, fresh
from kai.people.files import MAX_BYTES, decoded
from kai.processes.launcher import Launcher, LaunchSpec, Run
from kai.processes.marks import MARK
from kai.resources import module_file

_T = TypeVar("_T")
ERRAND_S = 30.0  # one errand, a large file aside
BYTES_A_SECOND = 1024 * 1024  # slower than any disk that a home lies on
_PIECE_BYTES = 256 * 1024
_HEAD_BYTES = 1024 * 1024
_SAID_BYTES = 4096
_FOLDER = "/"  # every user may stand there, and nothing in an errand depends on it


class Errands:
    """Starts errands. Each is a run of its own, ended with everything below it when it took too long."""

    def __init__(self, launcher: Launcher, *, python: str = sys.executable, program: str = "") -> None:
        self._launcher = launcher
        self._python = python
        self._program = program  # empty: kai's own, found when it is needed, as the look blocks

    async def fetch(self, os_user: str, path: Path, *, root: Path, max_bytes: int) -> bytes:
        """The bytes of a file below `root`, by the rules of `errand.opened`. Raises `ErrandError`, `LaunchError`."""
        uid = await to_thread.run_sync(_uid, os_user)
        request = {"do": "get", "path": str(path), "root": str(root), "owner_uid": uid, "max_bytes": max_bytes}
        answer, body = await self._do(os_user, request, path, limit_s=ERRAND_S + max_bytes / BYTES_A_SECOND)
        if len(body) != answer["size"]:
            raise ErrandError(os_user, str(path), "it changed while it was read", "unreadable")
        return body

    async def read(self, path: Path, *, root: Path, owner_uid: int) -> PersonFile:
        """A person's file, as `people.files.OwnerReader` says. Never raises for what its owner did to it."""
        try:
            os_user = await to_thread.run_sync(_name, owner_uid)
            return decoded(path, await self.fetch(os_user, path, root=root, max_bytes=MAX_BYTES))
        except (ErrandError, LaunchError) as error:
            state = FileState(getattr(error, "state", "") or FileState.UNREADABLE)
            problem = error.problem if isinstance(error, ErrandError) else error.reason
            return PersonFile(str(path), state, problem="" if state is FileState.MISSING else problem)

    async def bring(self, os_user: str, path: Path, *, root: Path, source: Path) -> bool:
        """Write the daemon's own file `source` to a new file below `root`; False when something was there already."""
        size = (await anyio.Path(source).stat()).st_size
        limit_s = ERRAND_S + size / BYTES_A_SECOND
        request = {"do": "put", "path": str(path), "root": str(root), "size": size}
        answer, _ = await self._do(os_user, request, path, body=_pieces(source, size), limit_s=limit_s)
        return bool(answer["state"] == "made")

    async def seed(self, os_user: str, files: Iterable[tuple[Path, Path, str]]) -> list[bool]:
        """Write new files (path, root, text), as `bring` does: whether each was made. Raises as `fetch` does."""
        listed = [(str(path), str(root), text) for path, root, text in files]
        answer, _ = await self._do(os_user, {"do": "seed", "files": listed}, Path(listed[0][0] if listed else "/"))
        return [state == "made" for state in answer["states"]]

    async def tidy(self, os_user: str, path: Path, *, root: Path, days: int) -> None:
        """Remove what was brought below `path` more than `days` ago."""
        await self._do(os_user, {"do": "tidy", "path": str(path), "root": str(root), "days": days}, path)

    async def sizes(self, os_user: str, paths: Sequence[Path]) -> list[int | None]:
        """The size of each file, None where there is none that the owner can see."""
        answer, _ = await self._do(os_user, {"do": "look", "paths": list(map(str, paths))}, Path(_FOLDER))
        return list(answer["sizes"])

    async def probe(self, os_user: str, tries: Iterable[tuple[str, str]]) -> list[str]:
        """What came of each of `tries` (how, path): "done", "denied", "absent", "refused", or an error's name."""
        answer, _ = await self._do(os_user, {"do": "probe", "tries": [*tries]}, Path(_FOLDER))
        return list(answer["seen"])

    async def pack(self, os_user: str, roots: Mapping[str, str], out: BinaryIO, max_file_bytes: int) -> list[str]:
        """Write a tar of the owner's folders to `out` (`kai.launcher.archive`); gives what was left out.

        Raises `ErrandError`, `LaunchError`, or what `out` raises. Whoever it runs as may write what they like there.
        """
        own = await to_thread.run_sync(module_file, "launcher/archive.py")
        program, said = str(Path(self._program).with_name(own.name) if self._program else own), bytearray()
        request = {"roots": dict(roots), "max_file_bytes": max_file_bytes}
        problem = ""
        async with self._started(os_user, (self._python, "-I", "-S", program), {"LANG": "C.UTF-8"}) as run:

            async def drain() -> None:
                while piece := await run.read_err():
                    said.extend(piece[: _HEAD_BYTES - len(said)])

            async with anyio.create_task_group() as tasks:
                tasks.start_soon(drain)
                await _send(run, json.dumps(request).encode() + b"\n", None)
                try:
                    while piece := await _within(ERRAND_S, run.read):
                        await to_thread.run_sync(out.write, piece)
                    problem = "" if (await _within(ERRAND_S, run.wait)).code == 0 else "the errand broke off"
                except TimeoutError:
                    problem = f"nothing came for {ERRAND_S:.0f} seconds"
                    tasks.cancel_scope.cancel()
        try:
            left_out = [str(one) for one in json.loads(bytes(said))]
        except (ValueError, TypeError):
            problem = problem or "the errand broke off"
        if problem:
            raise ErrandError(os_user, next(iter(roots.values()), ""), problem, "unreadable")
        return left_out

    async def output(self, os_user: str, argv: Sequence[str], env: Mapping[str, str], limit_s: float) -> str:
        """What a program writes to stdout and stderr when it is run as `os_user` without input."""
        async with self._started(os_user, argv, env) as run:
            with anyio.fail_after(limit_s):
                await run.close_stdin()
                said, _ = await _everything(run, _SAID_BYTES * 4)
        return said.decode(errors="replace")

    async def _do(
        self,
        os_user: str,
        request: dict[str, Any],
        path: Path,
        *,
        body: AsyncIterator[bytes] | None = None,
        limit_s: float = ERRAND_S,
    ) -> tuple[dict[str, Any], bytes]:
        program = self._program or str(await to_thread.run_sync(module_file, "launcher/errand.py"))
        argv, said, answer = (self._python, "-I", "-S", program), b"", b""
        try:
            async with self._started(os_user, argv, {"LANG": "C.UTF-8"}) as run:
                with anyio.fail_after(limit_s):
                    async with anyio.create_task_group() as tasks:
                        tasks.start_soon(_send, run, json.dumps(request).encode() + b"\n", body)
                        answer, said = await _everything(run, request.get("max_bytes", 0) + _HEAD_BYTES)
        except TimeoutError as error:
            raise ErrandError(os_user, str(path), f"no answer within {limit_s:.0f} seconds", "unreadable") from error
        head, _, rest = answer.partition(b"\n")
        try:
            told: dict[str, Any] = json.loads(head)
        except ValueError:
            last = said.decode(errors="replace").strip().rpartition("\n")[2][:200]
            problem = f"the errand broke off ({last or 'without a word'})"
            raise ErrandError(os_user, str(path), problem, "unreadable") from None
        if told["state"] not in ("made", "kept"):
            raise ErrandError(os_user, str(path), told["problem"] or told["state"], told["state"])
        return told, rest

    @asynccontextmanager
    async def _started(self, os_user: str, argv: Sequence[str], env: Mapping[str, str]) -> AsyncIterator[Run]:
        run = RunId(fresh("r"))
        spec = LaunchSpec(run, tuple(argv), {**env, MARK: run}, _FOLDER, user=os_user, limits={"CORE": 0})
        started = await self._launcher.spawn(spec)
        try:
            yield started
        finally:
            await started.aclose()


async def _send(run: Run, head: bytes, body: AsyncIterator[bytes] | None) -> None:
    """The request, then the bytes of a file. An errand that refuses does not read them: its answer tells why."""
    try:
        await run.write(head)
        if body is not None:
            async for piece in body:
                await run.write(piece)
    except SessionBrokenError:
        pass
    await run.close_stdin()


async def _within(limit_s: float, what: Callable[[], Awaitable[_T]]) -> _T:
    with anyio.fail_after(limit_s):
        return await what()


async def _everything(run: Run, most: int) -> tuple[bytes, bytes]:
    """What it wrote to stdout, at most `most` bytes of it, and the end of what it wrote to stderr."""
    wrote, said = bytearray(), bytearray()

    async def drain() -> None:
        while piece := await run.read_err():
            said.extend(piece)
            del said[:-_SAID_BYTES]

    async with anyio.create_task_group() as tasks:
        tasks.start_soon(drain)
        while (piece := await run.read()) and len(wrote) < most:
            wrote += piece
        await run.wait()
        tasks.cancel_scope.cancel()
    return bytes(wrote), bytes(said)


async def _pieces(source: Path, left: int) -> AsyncIterator[bytes]:
    async with await anyio.open_file(source, "rb") as file:
        while left and (piece := await file.read(min(left, _PIECE_BYTES))):
            left -= len(piece)
            yield piece


def _uid(os_user: str) -> int:
    try:
        return pwd.getpwnam(os_user).pw_uid if os_user else os.geteuid()
    except KeyError:
        raise LaunchError("an errand", f"this machine has no user {os_user!r}") from None


def _name(uid: int) -> str:
    try:
        return pwd.getpwuid(uid).pw_name
    except KeyError:
        raise LaunchError("an errand", f"this machine has no user with the uid {uid}") from None
