"""Packs folders that somebody else fills into a tar, and unpacks such a tar: for backups.

The standard library alone, so that a short run as the owner can do it (``python -I -S archive.py``: a line of JSON on
stdin, the tar on stdout, what was left out as JSON on stderr). Nothing here follows a link: what is packed is
reached by descriptors of folders, and what is unpacked gets its links last.
"""

import json
import os
import stat
import sys
import tarfile
from collections.abc import Callable, Collection, Iterator, Mapping
from contextlib import contextmanager
from pathlib import PurePosixPath
from typing import BinaryIO

MAX_DEPTH = 100
_NAMED = 50  # of what was left out; the rest is counted
_FOLDER = os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC
_FILE = os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_NOCTTY | os.O_CLOEXEC


class BadArchiveError(ValueError):
    """A tar that `pack` did not write."""


def pack(roots: Mapping[str, str], out: BinaryIO, max_file_bytes: int) -> list[str]:
    """Write a tar of folders to `out`; `roots` maps their name in it to their path. Gives what was left out, and why.

    Folders, regular files and links (as links) go in; files over `max_file_bytes`, other file systems, sockets and
    what cannot be read are left out. A file that shrinks meanwhile is filled up with zeros. Raises what `out` raises.
    """
    packing = _Packing(out, max_file_bytes)
    try:
        for name, path in sorted(roots.items()):
            packing.root(name, path)
        packing.tar.close()
    except BaseException:
        packing.tar.fileobj.closed = True  # type: ignore[attr-defined]  # else it writes an end when it is collected
        raise
    return packing.left_out()


class _Packing:
    def __init__(self, out: BinaryIO, max_file_bytes: int) -> None:
        self.tar = tarfile.TarFile.open(fileobj=out, mode="w|", format=tarfile.PAX_FORMAT)
        self._max = max_file_bytes
        self._named: list[str] = []
        self._more = 0

    def left_out(self) -> list[str]:
        return [*self._named, f"… and {self._more} more"] if self._more else self._named

    def root(self, name: str, path: str) -> None:
        try:
            at = os.open(path, _FOLDER)
        except OSError as error:
            self._leave(name, str(error.strerror))
            return
        try:
            self._folder(at, name, MAX_DEPTH)
        finally:
            os.close(at)

    def _folder(self, at: int, name: str, depth: int) -> None:
        facts = os.fstat(at)
        self.tar.addfile(_info(name, facts, tarfile.DIRTYPE))
        try:
            entries = sorted(os.listdir(at))
        except OSError as error:
            self._leave(name, str(error.strerror))
            return
        for entry in entries:
            self._entry(at, entry, f"{name}/{entry}", facts.st_dev, depth)

    def _entry(self, at: int, entry: str, name: str, device: int, depth: int) -> None:
        try:
            facts = os.stat(entry, dir_fd=at, follow_symlinks=False)
            if stat.S_ISLNK(facts.st_mode):
                info = _info(name, facts, tarfile.SYMTYPE)
                info.linkname = os.readlink(entry, dir_fd=at)
                opened = -1
            elif stat.S_ISDIR(facts.st_mode) or stat.S_ISREG(facts.st_mode):
                opened = os.open(entry, _FOLDER if stat.S_ISDIR(facts.st_mode) else _FILE, dir_fd=at)
            else:
                self._leave(name, "it is neither file, folder nor link")
                return
        except OSError as error:  # gone meanwhile, changed meanwhile, or not for us
            self._leave(name, str(error.strerror))
            return
        if opened < 0:
            self.tar.addfile(info)
            return
        try:
            self._opened(opened, name, device, depth)
        finally:
            os.close(opened)

    def _opened(self, file: int, name: str, device: int, depth: int) -> None:
        facts = os.fstat(file)
        # Of a folder alone: on an overlay a file has the number of the layer it lies in.
        if stat.S_ISDIR(facts.st_mode) and facts.st_dev != device:
            self._leave(name, "it is on another file system")
        elif stat.S_ISDIR(facts.st_mode):
            if depth:
                self._folder(file, name, depth - 1)
            else:
                self._leave(name, f"it lies more than {MAX_DEPTH} folders deep")
        elif not stat.S_ISREG(facts.st_mode):
            self._leave(name, "it is no regular file")
        elif facts.st_size > self._max:
            self._leave(name, f"it is larger than {self._max} bytes")
        else:
            exact = _Exact(file, facts.st_size)
            self.tar.addfile(_info(name, facts, tarfile.REGTYPE), exact)  # type: ignore[arg-type]
            if exact.problem:
                self._leave(name, exact.problem)

    def _leave(self, name: str, why: str) -> None:
        if len(self._named) < _NAMED:
            self._named.append(f"{name!a}: {why}")
        else:
            self._more += 1


class _Exact:
    """Gives as many bytes as the header promised, whatever becomes of the file meanwhile."""

    def __init__(self, file: int, size: int) -> None:
        self._file = file
        self._left = size
        self.problem = ""

    def read(self, size: int) -> bytes:
        wanted = min(size, self._left)
        data = b""
        while len(data) < wanted and not self.problem:
            try:
                piece = os.read(self._file, wanted - len(data))
            except OSError as error:
                self.problem = f"only a part could be read: {error.strerror}"
                break
            if not piece:
                self.problem = "it became shorter while it was read"
            data += piece
        self._left -= wanted
        return data.ljust(wanted, b"\0")


def _info(name: str, facts: os.stat_result, kind: bytes) -> tarfile.TarInfo:
    info = tarfile.TarInfo(name)
    info.type, info.mode, info.mtime = kind, stat.S_IMODE(facts.st_mode) & 0o777, int(facts.st_mtime)
    info.size = facts.st_size if kind == tarfile.REGTYPE else 0
    return info


def unpack(source: BinaryIO, target: str, tops: Collection[str], own: Callable[[str], None] = lambda _: None) -> None:
    """Unpack what `pack` wrote below `target`, a folder that nobody else can enter. `own` is called with every path.

    `tops` are the names of the packed folders: nothing comes to lie beside them; the folders that hold them are there.

    Raises `BadArchiveError` on anything that `pack` does not write: a name that leads out, a device, a hard link.
    """
    folders: dict[str, tarfile.TarInfo] = {}
    links: list[tuple[str, str]] = []
    with _read(source) as tar:
        for info in _members(tar, tops):
            path = os.path.join(target, info.name)  # noqa: PTH118
            if info.isdir():
                os.mkdir(path, 0o700)  # noqa: PTH102
                folders[info.name] = info
            elif info.issym():
                links.append((path, info.linkname))
            else:
                _write(tar, info, path)
                own(path)
    for path, to in links:  # last: nothing was unpacked through one of them
        os.symlink(to, path)  # noqa: PTH211
        own(path)
    for name, info in reversed(folders.items()):
        path = os.path.join(target, name)  # noqa: PTH118
        os.chmod(path, info.mode & 0o777)  # noqa: PTH101
        os.utime(path, (info.mtime, info.mtime))
        own(path)


def check(source: BinaryIO, tops: Collection[str]) -> None:
    """Read all of what somebody else packed, as `unpack` would. Raises `BadArchiveError`."""
    with _read(source) as tar:
        for _ in _members(tar, tops):
            pass


@contextmanager
def _read(source: BinaryIO) -> Iterator[tarfile.TarFile]:
    try:
        with tarfile.TarFile.open(fileobj=source, mode="r|") as tar:
            yield tar
    except (tarfile.TarError, FileExistsError, EOFError) as error:
        raise BadArchiveError(str(error)) from error


def _members(tar: tarfile.TarFile, tops: Collection[str]) -> Iterator[tarfile.TarInfo]:
    """What is in it, each of a kind and in a place that `pack` knows, and no name twice."""
    folders: set[str] = set()
    names: set[str] = set()
    for info in tar:
        _safe(info.name, folders, tops)
        if info.isdir():
            folders.add(info.name)
        elif not info.issym() and (info.type not in (tarfile.REGTYPE, tarfile.AREGTYPE) or info.sparse is not None):
            raise BadArchiveError(f"{info.name!a} is neither file, folder nor link")
        if info.name in names:
            raise BadArchiveError(f"{info.name!a} is there twice")
        names.add(info.name)
        yield info


def _safe(name: str, folders: Collection[str], tops: Collection[str]) -> None:
    """Refuse a name that is neither one of `tops` nor in a folder that this archive made itself."""
    pure = PurePosixPath(name)
    parent = str(pure.parent)
    is_plain = str(pure) == name and not pure.is_absolute() and ".." not in pure.parts and "\0" not in name
    if not is_plain or (name not in tops and parent not in folders):
        raise BadArchiveError(f"{name!a} leads out of the archive")


def _write(tar: tarfile.TarFile, info: tarfile.TarInfo, path: str) -> None:
    source = tar.extractfile(info)
    file = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC, 0o600)
    with os.fdopen(file, "wb") as out:
        left = info.size
        while left and source is not None and (piece := source.read(min(left, 1 << 20))):
            out.write(piece)
            left -= len(piece)
        if left:
            raise BadArchiveError(f"{info.name!a} is cut off")
        os.fchmod(file, info.mode & 0o777)
    os.utime(path, (info.mtime, info.mtime))


def main(stdin: BinaryIO, stdout: BinaryIO, stderr: BinaryIO) -> None:
    """Pack `roots` as whoever runs this."""
    request = json.loads(stdin.readline())
    stderr.write(json.dumps(pack(request["roots"], stdout, int(request["max_file_bytes"]))).encode())


if __name__ == "__main__":
    main(sys.stdin.buffer, sys.stdout.buffer, sys.stderr.buffer)
