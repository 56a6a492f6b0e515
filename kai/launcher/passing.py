"""Descriptors that come along with a datagram."""

import _socket  # not `socket`: it imports three times as much, and every run would wait for it
import array
import os
from contextlib import suppress

from kai.launcher.messages import MAX_BYTES

_ROOM = _socket.CMSG_SPACE(16 * array.array("i").itemsize)


def receive(descriptor: int, expected: int) -> tuple[bytes, list[int]]:
    """The next datagram and its descriptors, close-on-exec; other than `expected` many are closed, and none is given.

    ``(b"", [])`` when the other end is gone. Raises `BlockingIOError` when there is nothing to read from a socket that
    does not block.
    """
    peer = _socket.socket(fileno=descriptor)
    try:
        data, extra, flags, _ = peer.recvmsg(MAX_BYTES + 1, _ROOM, _socket.MSG_CMSG_CLOEXEC)
    except ConnectionError:
        return b"", []
    finally:
        peer.detach()
    found = array.array("i")
    for level, kind, content in extra:
        if (level, kind) == (_socket.SOL_SOCKET, _socket.SCM_RIGHTS):
            found.frombytes(content[: len(content) - len(content) % found.itemsize])
    if len(found) == expected and not flags & _socket.MSG_CTRUNC:
        return data, list(found)
    close_all(found.tolist())
    return data, []


def become_standard(passed: list[int]) -> None:
    """Make them this process's descriptors 0 to 2, or /dev/null where they did not come."""
    given = passed or [os.open(os.devnull, os.O_RDWR) for _ in range(3)]
    for number, descriptor in enumerate(given):
        os.dup2(descriptor, number)
    close_all([descriptor for descriptor in given if descriptor > 2])


def close_all(descriptors: list[int]) -> None:
    for descriptor in descriptors:
        with suppress(OSError):
            os.close(descriptor)
