"""The daemon's end of the channel to the process that keeps a run, and what has been heard on it."""

import errno
import os
import socket
from collections.abc import Callable

import anyio

from kai.launcher.messages import (
    MAX_BYTES,
    BadMessageError,
    Exited,
    Gone,
    Message,
    Refused,
    Spawned,
    Stats,
    decode,
    encode,
)
from kai.log import log


class Control:
    """Messages are taken in by whoever waits for one: no task of its own lives behind a run."""

    def __init__(self, channel: socket.socket) -> None:
        channel.setblocking(False)
        self._channel = channel
        self._reading = False
        self._news = anyio.Event()
        self.is_open = True
        self.spawned: Spawned | None = None
        self.exited: Exited | None = None
        self.gone: Gone | None = None
        self.refused: Refused | None = None
        self.stats: Stats | None = None

    def tell(self, message: Message) -> None:
        """Send it; to a keeper that is gone nothing is sent. Raises `BadMessageError` when it is too long."""
        data = encode(message)
        try:
            self._channel.send(data)
        except OSError as error:
            if error.errno == errno.EMSGSIZE:
                raise BadMessageError(f"{len(data)} bytes do not fit into one message") from error

    async def until(self, heard: Callable[[], bool], limit_s: float = float("inf")) -> bool:
        """Take messages in until `heard()` holds. False when the channel or the time ended before."""
        with anyio.move_on_after(limit_s):
            while not heard() and self.is_open:
                if self._reading:
                    await self._news.wait()
                else:
                    await self._listen()
        return heard()

    def close(self) -> None:
        """Idempotent."""
        self.is_open = False
        if self._channel.fileno() >= 0:
            anyio.notify_closing(self._channel)
            self._channel.close()

    async def _listen(self) -> None:
        self._reading = True
        try:
            await anyio.wait_readable(self._channel)
            self._take_in()
        except anyio.ClosedResourceError:
            self.is_open = False
        finally:  # cancelled or not: another waiter takes over
            self._reading = False
            self._news.set()
            self._news = anyio.Event()

    def _take_in(self) -> None:
        while True:
            try:
                data = os.read(self._channel.fileno(), MAX_BYTES + 1)
            except BlockingIOError:
                return
            except ConnectionResetError:
                continue  # it ended before it read our last message; what it said before that is still here
            if not data:
                self.is_open = False
                return
            try:
                self._take(decode(data))
            except BadMessageError as error:
                log.error("run.bad_message", problem=str(error))

    def _take(self, message: Message) -> None:
        match message:
            case Spawned():
                self.spawned = message
            case Exited():
                self.exited = message
            case Gone():
                self.gone = message
            case Stats():
                self.stats = message
            case Refused():
                self.refused = message
                log.warning("run.refused", run=message.run, kind=message.kind, reason=message.reason)
            case _:
                log.error("run.bad_message", problem=f"{type(message).__name__} is nothing for the daemon")
