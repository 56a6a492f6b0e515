"""One short errand at a person's files, run as the OS user who owns them: ``python -I -S errand.py``.

A line of JSON comes in on stdin (with `put`, the bytes behind it), a line of JSON goes out on stdout (with `get`, the
bytes behind it). Whatever the owner arranged there harms nobody else: this process may do no more than they may. The
same rules serve the daemon where it reads its own user's files (`kai.people.files`). Standard library only.
"""

import contextlib
import errno
import io
import json
import os
import signal
import socket
import stat
import sys
import time
from collections.abc import Iterator
from typing import Any, BinaryIO

PIECE_BYTES = 256 * 1024
CONNECT_S = 5.0
DAY_S = 86_400
# A path only: a person may pass through the state folder and not list it. A link is no folder, and is refused.
_FOLDER = os.O_PATH | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC
_LISTED = os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC
# Non-blocking: opening a fifo, or a file under somebody's lease, would otherwise wait for as long as they like.
_FILE = os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_NOCTTY | os.O_CLOEXEC
_NEW = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC
_DENIED = (errno.EACCES, errno.EPERM, errno.EROFS)
Answer = dict[str, Any]


class RefusedError(Exception):
    """A file that is not touched. `state` is a value of `kai.model.context.FileState`."""

    def __init__(self, state: str, problem: str = "") -> None:
        super().__init__(problem)
        self.state = state


@contextlib.contextmanager
def opened(path: str, root: str, owner_uid: int | None, max_bytes: int) -> Iterator[tuple[int, int]]:
    """A descriptor of the file at `path` below `root`, and its size. Raises `RefusedError`, never another error.

    `root` itself is trusted. Below it no link is followed in any part of the path. The file must be regular, have one
    name, belong to `owner_uid` (None: anybody) and hold at most `max_bytes`. All is checked on what was opened: a name
    that is turned into another file meanwhile changes nothing.
    """
    with contextlib.ExitStack() as held:
        try:
            folders, leaf = parts(path, root)
            file = os.open(leaf, _FILE, dir_fd=_walk(held, root, folders))
        except OSError as error:
            raise RefusedError(*_what(error)) from error
        held.callback(os.close, file)
        facts = os.fstat(file)
        problem = ""
        if not stat.S_ISREG(facts.st_mode):
            problem = "it is not a regular file"
        elif facts.st_nlink != 1:
            problem = f"it has {facts.st_nlink} names (hard links)"
        elif owner_uid is not None and facts.st_uid != owner_uid:
            problem = f"it belongs to uid {facts.st_uid}, not to its person (uid {owner_uid})"
        if problem:
            raise RefusedError("unsafe", problem)
        if facts.st_size > max_bytes:
            raise too_large(max_bytes)
        yield file, facts.st_size


def contents(path: str, root: str, owner_uid: int | None, max_bytes: int) -> bytes:
    """All of a file that `opened` lets through. Raises `RefusedError`."""
    with opened(path, root, owner_uid, max_bytes) as (file, _):
        pieces, left = [], max_bytes + 1  # the size may have changed since it was looked at
        try:
            while left and (piece := os.read(file, left)):
                pieces.append(piece)
                left -= len(piece)
        except OSError as error:
            raise RefusedError(*_what(error)) from error
        if not left:
            raise too_large(max_bytes)
        return b"".join(pieces)


def too_large(max_bytes: int) -> RefusedError:
    size = f"{max_bytes // 1024} KiB" if max_bytes < 10 * 1024**2 else f"{max_bytes // 1024**2} MiB"
    return RefusedError("oversized", f"it is larger than {size}")


def parts(path: str, root: str) -> tuple[list[str], str]:
    """The folders between `root` and the file, and its name. Raises `RefusedError` for what does not lie below."""
    above = root.rstrip("/") + "/"
    names = path.removeprefix(above).split("/") if path.startswith(above) else [""]
    if not all(names) or {"..", "."} & {*names} or "\0" in path:
        raise RefusedError("unsafe", f"it does not lie below {root}")
    return names[:-1], names[-1]


def _walk(held: contextlib.ExitStack, root: str, folders: list[str], *, make: bool = False) -> int:
    """A descriptor of the last of `folders`, closed with `held`; with `make`, folders that are not there are made."""
    at = os.open(root, os.O_PATH | os.O_DIRECTORY | os.O_CLOEXEC)
    held.callback(os.close, at)
    for folder in folders:
        if make:
            with contextlib.suppress(FileExistsError):
                os.mkdir(folder, 0o700, dir_fd=at)
        at = os.open(folder, _FOLDER, dir_fd=at)
        held.callback(os.close, at)
    return at


def _what(error: OSError) -> tuple[str, str]:
    match error.errno:
        case errno.ENOENT:
            return "missing", ""
        case errno.ELOOP | errno.ENOTDIR:
            return "unsafe", "a part of its path is a link, or no folder"
        case errno.ENXIO | errno.ENODEV:
            return "unsafe", "it is not a regular file"
        case _:
            return "unreadable", os.strerror(error.errno or 0).lower()


def put(request: Answer, body: BinaryIO) -> Answer:
    """Write the `size` bytes of `body` to a new file at `path` below `root`, 0600, its folders made (0700).

    What is there already stays as it is ("kept"), whatever it is. Half a file is not left.
    """
    path, root, left = str(request["path"]), str(request["root"]), int(request["size"])
    with contextlib.ExitStack() as held:
        folders, leaf = parts(path, root)
        try:
            at = _walk(held, root, folders, make=True)
            file = os.open(leaf, _NEW, 0o600, dir_fd=at)
        except FileExistsError:
            _drain(body, left)
            return {"state": "kept"}
        except OSError as error:
            raise RefusedError(*_what(error)) from error
        try:
            with os.fdopen(file, "wb") as out:
                while left and (piece := body.read(min(left, PIECE_BYTES))):
                    out.write(piece)
                    left -= len(piece)
            problem = f"{left} bytes of it did not come" if left else ""
        except OSError as error:
            problem = os.strerror(error.errno or 0).lower()
        if problem:
            os.unlink(leaf, dir_fd=at)
            raise RefusedError("unreadable", problem)
    return {"state": "made"}


def seed(request: Answer) -> Answer:
    """Write each of `files` ([path, root, text]) as `put` does; those that were there already are "kept"."""
    states = []
    for path, root, text in request["files"]:
        data = str(text).encode()
        states.append(put({"path": path, "root": root, "size": len(data)}, io.BytesIO(data))["state"])
    return {"state": "made", "states": states}


def _drain(body: BinaryIO, left: int) -> None:
    while left and (piece := body.read(min(left, PIECE_BYTES))):
        left -= len(piece)


def tidy(request: Answer) -> Answer:
    """Remove the files of the folders below `path` (below `root`) that are older than `days`, and empty folders."""
    removed, before = 0, time.time() - float(request["days"]) * DAY_S
    with contextlib.ExitStack() as held, contextlib.suppress(FileNotFoundError):
        folders, leaf = parts(str(request["path"]), str(request["root"]))
        top = os.open(leaf, _LISTED, dir_fd=_walk(held, str(request["root"]), folders))
        held.callback(os.close, top)
        for name in os.listdir(top):  # noqa: PTH208 - of a descriptor
            with contextlib.ExitStack() as one, contextlib.suppress(OSError):
                at = os.open(name, _LISTED, dir_fd=top)
                one.callback(os.close, at)
                for file in os.listdir(at):  # noqa: PTH208
                    if os.stat(file, dir_fd=at, follow_symlinks=False).st_mtime < before:
                        os.unlink(file, dir_fd=at)
                        removed += 1
                os.rmdir(name, dir_fd=top)
    return {"state": "made", "removed": removed}


def look(request: Answer) -> Answer:
    """The sizes of `paths` in bytes, links followed as the owner's own programs do; None for what is not there."""
    sizes: list[int | None] = []
    for path in request["paths"]:
        try:
            sizes.append(os.stat(str(path)).st_size)  # noqa: PTH116 - pathlib would be half of the time
        except OSError:
            sizes.append(None)
    return {"state": "made", "sizes": sizes}


def probe(request: Answer) -> Answer:
    """Try each of `tries` ([how, path]); what came of it is "done", "denied", "absent" or "refused" (by a daemon)."""
    return {"state": "made", "seen": [_try(str(how), str(path)) for how, path in request["tries"]]}


def _try(how: str, path: str) -> str:
    try:
        match how:
            case "list":
                os.listdir(path)  # noqa: PTH208
            case "read":
                os.close(os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_NOCTTY))
            case "write":  # opened, never written to
                os.close(os.open(path, os.O_WRONLY | os.O_NONBLOCK | os.O_NOCTTY))
            case "make":
                name = os.path.join(path, f".kai-probe-{os.getpid()}")  # noqa: PTH118
                os.close(os.open(name, _NEW, 0o600))
                os.unlink(name)  # noqa: PTH108
            case "signal":
                os.kill(int(path), 0)
            case "ask":
                return _ask(path)
            case "sudo":
                return _sudo(path)
            case _:
                return "unknown"
    except OSError as error:
        if error.errno in _DENIED:
            return "denied"
        gone = (errno.ENOENT, errno.ENOTDIR, errno.ESRCH, errno.ECONNREFUSED)
        return "absent" if error.errno in gone else errno.errorcode.get(error.errno or 0, "failed").lower()
    return "done"


def _ask(path: str) -> str:
    """Connect, and ask for the people: a daemon that knows an agent's process refuses it."""
    for kind in (socket.SOCK_STREAM, socket.SOCK_SEQPACKET):
        with socket.socket(socket.AF_UNIX, kind) as peer:
            peer.settimeout(CONNECT_S)
            try:
                peer.connect(path)
            except OSError as error:
                if error.errno == errno.EPROTOTYPE:
                    continue
                raise
            if kind == socket.SOCK_SEQPACKET:  # it speaks no HTTP: to be let in is to be let in
                return "done"
            peer.sendall(b"GET /v1/people HTTP/1.1\r\nhost: kai\r\nconnection: close\r\n\r\n")
            head = peer.recv(64).split(b" ")
            return "refused" if head[1:2] in ([b"401"], [b"403"], [b"404"]) or not head[0] else "done"
    return "absent"


def _sudo(path: str) -> str:
    import subprocess  # noqa: PLC0415 - no other errand needs it

    quiet = subprocess.DEVNULL
    done = subprocess.run([path, "-n", "true"], stdin=quiet, stdout=quiet, stderr=quiet, timeout=10, check=False)
    return "denied" if done.returncode else "done"


def main(stdin: BinaryIO, stdout: BinaryIO) -> None:
    """Do the one thing that is asked for."""
    body: Iterator[bytes] = iter(())
    with contextlib.ExitStack() as held:
        try:
            request = json.loads(stdin.readline(PIECE_BYTES * 4))
            match request["do"]:
                case "get":
                    uid = request.get("owner_uid")
                    most = int(request["max_bytes"])
                    file, size = held.enter_context(opened(str(request["path"]), str(request["root"]), uid, most))
                    answer: Answer = {"state": "made", "size": size}
                    body = _pieces(file, size)
                case "put":
                    answer = put(request, stdin)
                case other:
                    answer = {"seed": seed, "tidy": tidy, "look": look, "probe": probe}[other](request)
        except RefusedError as refused:
            answer = {"state": refused.state, "problem": str(refused)}
        except (OSError, ValueError, KeyError, TypeError) as error:
            answer = {"state": "unreadable", "problem": f"{type(error).__name__}: {error}"}
        stdout.write(json.dumps(answer).encode() + b"\n")
        stdout.writelines(body)
        stdout.flush()


def _pieces(file: int, left: int) -> Iterator[bytes]:
    """What was there when the file was opened, and no more; less of it shows by the size that was told."""
    while left and (piece := os.read(file, min(left, PIECE_BYTES))):
        left -= len(piece)
        yield piece


if __name__ == "__main__":  # what holds for the whole process stands here: tests call `main` in theirs
    signal.signal(signal.SIGPIPE, signal.SIG_DFL)
    os.umask(0o077)
    main(sys.stdin.buffer, sys.stdout.buffer)
