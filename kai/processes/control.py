"""The daemon's end of the channel to the process that keeps a run, and what was heard on it last."""

import errno
import os
import socket
from collections.abc import Callable, Sequence
from typing import TypeVar

import anyio

from kai.launcher.messages import MAX_BYTES, BadMessageError, Message, Refused, Spawned, decode, encode
from kai.log import log

M = TypeVar("M", bound=Message)


class Control:
    """Messages are taken in by whoever waits for one: no task of its own lives behind a run."""

    def __init__(self, channel: socket.socket) -> None:
        channel.setblocking(False)
        channel.setsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF, 2 * MAX_BYTES)
        self._channel = channel
        self._heard: dict[type, Message] = {}
        self._counts: dict[type, int] = {}
        self._is_reading = False
        self._news = anyio.Event()
        self.is_open = True

    def last(self, kind: type[M]) -> M | None:
        """The newest message of that kind."""
        found = self._heard.get(kind)
        return found if isinstance(found, kind) else None

    def count(self, kind: type[Message]) -> int:
        """How many messages of that kind have been heard: the n-th question is answered by the n-th of them."""
        return self._counts.get(kind, 0)

    def tell(self, message: Message, passed: Sequence[int] = ()) -> bool:
        """Send it, with descriptors; to a keeper that is gone nothing is sent. Whether it was.

        Raises `BadMessageError` when it is too long.
        """
        data = encode(message)
        try:
            socket.send_fds(self._channel, [data], passed)
        except OSError as error:
            if error.errno == errno.EMSGSIZE:
                raise BadMessageError(f"{len(data)} bytes do not fit into one message") from error
            return False
        return True

    async def until(self, heard: Callable[[], bool], limit_s: float = float("inf")) -> bool:
        """Take messages in until `heard()` holds. False when the channel or the time ended before."""
        with anyio.move_on_after(limit_s):
            while not heard() and self.is_open:
                if self._is_reading:
                    await self._news.wait()
                else:
                    await self._listen()
        return heard()

    def forget(self, kind: type) -> None:
        self._heard.pop(kind, None)

    def close(self) -> None:
        """Idempotent; whoever waits is told."""
        self.is_open = False
        if self._channel.fileno() >= 0:
            anyio.notify_closing(self._channel)
            self._channel.close()

    async def _listen(self) -> None:
        self._is_reading = True
        try:
            await anyio.wait_readable(self._channel)
            self.take_in()
        except anyio.ClosedResourceError:
            self.is_open = False
        finally:  # cancelled or not: another waiter takes over
            self._is_reading = False
            self._news.set()
            self._news = anyio.Event()

    def take_in(self) -> bool:
        """Take in what has come; whether the other end is still there."""
        while self.is_open:
            try:
                data = os.read(self._channel.fileno(), MAX_BYTES + 1)
                self.is_open = bool(data)
                if data:
                    self._take(decode(data))
            except (BlockingIOError, ConnectionResetError):
                break  # reset: it ended before it read our last message; what it said before that comes next
            except BadMessageError as error:
                log.error("run.bad_message", problem=str(error))
        return self.is_open

    def _take(self, message: Message) -> None:
        self._heard[type(message)] = message
        self._counts[type(message)] = self.count(type(message)) + 1
        if isinstance(message, Refused) and message.kind != "alive" and self.last(Spawned):
            # Nobody waits for it: a signal that could not be sent. Other refusals are raised where they were met.
            log.error("run.refused", run=message.run, reason=message.reason)
