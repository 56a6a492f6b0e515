"""A keeper in a fork of the test: the test is its daemon, and may make it another user."""

import os
import socket
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TypeVar

from kai.launcher import messages, refusal
from kai.launcher.keeper import main

M = TypeVar("M", bound=messages.Message)
NOBODY = 65534
assert refusal  # read by a fork that may no longer read this checkout


class Peer:
    """The daemon's end of a keeper's channel. `pid` is the keeper's."""

    def __init__(self, channel: socket.socket, pid: int) -> None:
        channel.settimeout(15)
        self.channel = channel
        self.pid = pid

    def tell(self, message: messages.Message) -> None:
        self.channel.send(messages.encode(message))

    def hear(self, kind: type[M]) -> M:
        """The next message, which has to be of `kind`."""
        message = messages.decode(self.channel.recv(messages.MAX_BYTES))
        assert isinstance(message, kind), message
        return message

    def spawn(self, command: str, **more: object) -> int:
        """Start a shell; gives the leader's pid."""
        env = {"PATH": "/usr/bin:/bin"}
        self.tell(messages.Spawn("r-1", ["/bin/sh", "-c", command], env, "/", **more))  # type: ignore[arg-type]
        return self.hear(messages.Spawned).pid

    def is_gone(self) -> bool:
        """Whether nothing more comes."""
        return self.channel.recv(10) == b""


@contextmanager
def keeper(before: Callable[[], object] = lambda: None) -> Iterator[Peer]:
    """Run a keeper that calls `before` first. Its agent's descriptors are /dev/zero. It has to end by itself."""
    ours, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
    pid = os.fork()
    if pid == 0:
        try:
            ours.close()
            zero = os.open("/dev/zero", os.O_RDWR)
            for number in (0, 1, 2):
                os.dup2(zero, number)
            before()
            main([str(theirs.detach())])
        finally:
            os._exit(1)
    theirs.close()
    try:
        yield Peer(ours, pid)
    finally:
        ours.close()
        os.waitpid(pid, 0)


def become_nobody() -> None:
    os.setgroups([])
    os.setresgid(NOBODY, NOBODY, NOBODY)
    os.setresuid(NOBODY, NOBODY, NOBODY)
