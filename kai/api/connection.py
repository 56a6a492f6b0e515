"""One connection: uvicorn's HTTP parser, with the peer's credentials and with every limit that it lacks."""

import asyncio
import socket
import struct
import time
from collections import Counter
from typing import Any

import httptools
from uvicorn.config import Config
from uvicorn.protocols.http.httptools_impl import HttpToolsProtocol
from uvicorn.server import ServerState

from kai.api.limits import ApiLimits
from kai.api.peers import Peer
from kai.log import log
from kai.model.errors import ApiError

_CREDENTIALS = struct.Struct("3i")


class Gate:
    """Counts the connections of one socket, in all and for each uid."""

    def __init__(self, limits: ApiLimits) -> None:
        self.limits = limits
        self._of_uid: Counter[int] = Counter()

    def enter(self, uid: int) -> bool:
        """Whether one more may stay; if so it is counted until `leave`."""
        is_free = (
            self._of_uid.total() < self.limits.most_connections and self._of_uid[uid] < self.limits.most_of_one_uid
        )
        if is_free:
            self._of_uid[uid] += 1
        return is_free

    def leave(self, uid: int) -> None:
        self._of_uid[uid] -= 1
        if not self._of_uid[uid]:
            del self._of_uid[uid]


class PeerConnection(HttpToolsProtocol):
    """Adds ``kai.peer`` to the scope of each request. A peer that is slow, endless or stuck is cut off."""

    def __init__(self, config: Config, state: ServerState, gate: Gate) -> None:
        super().__init__(config, state, {})
        self._gate = gate
        self._limits = gate.limits
        self._peer: Peer | None = None
        self._timer: asyncio.TimerHandle | None = None
        self._timer_s = 0.0  # what the timer was set to
        self._due_s = 0.0  # how long the part of a request that is arriving may take; 0: none is
        self._loose_bytes = 0  # received since the last byte of a body or the last end of a request
        self._head_bytes = 0  # of the head that is being read
        self._stuck_timer: asyncio.TimerHandle | None = None
        self._last_word: ApiError | None = None  # to be said behind the answers that are owed

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        self.transport = transport
        peer = _peer(transport.get_extra_info("socket"))
        if not self._gate.enter(peer.uid):
            log.warning("api.crowded", uid=peer.uid)
            self._say(ApiError(503, "Crowded", "There are too many connections; one more was not taken."))
            return
        self._peer = peer
        super().connection_made(transport)
        transport.set_write_buffer_limits(high=0)  # "paused" then means: something is still unsent
        self._set_timer(self._limits.head_s)

    def connection_lost(self, exc: Exception | None) -> None:
        self._set_timer(0.0)
        if self._stuck_timer is not None:
            self._stuck_timer.cancel()
        if self._peer is not None:
            self._gate.leave(self._peer.uid)
            super().connection_lost(exc)

    def data_received(self, data: bytes) -> None:
        self._loose_bytes += len(data)
        super().data_received(data)
        if self._loose_bytes > self._limits.head_bytes:
            self._say(self._too_long())
        # What has come belongs to no request: uvicorn has stopped its idle timer for it all the same.
        is_idle = self.cycle is None or self.cycle.response_complete
        self._set_timer(self._due_s or (self._limits.head_s if is_idle else 0.0))

    def on_message_begin(self) -> None:
        super().on_message_begin()
        self.scope["kai.peer"] = self._peer  # type: ignore[typeddict-unknown-key]
        self._due_s = self._limits.head_s
        self._head_bytes = 0

    def on_url(self, url: bytes) -> None:
        self._head_bytes += len(url)
        super().on_url(url)

    def on_header(self, name: bytes, value: bytes) -> None:
        self._head_bytes += len(name) + len(value)
        super().on_header(name, value)

    def on_headers_complete(self) -> None:
        if self._head_bytes > self._limits.head_bytes:
            self._say(self._too_long())
        elif len(self.pipeline) >= self._limits.pipelined:
            self._say(_malformed(f"more than {self._limits.pipelined} requests are ahead of their answers"))
        if self._last_word or self.transport.is_closing():
            raise httptools.HttpParserError
        self._due_s = self._limits.body_s
        super().on_headers_complete()

    def on_body(self, body: bytes) -> None:
        self._loose_bytes = 0
        super().on_body(body)

    def on_message_complete(self) -> None:
        self._loose_bytes = 0
        self._due_s = 0.0
        super().on_message_complete()

    def on_response_complete(self) -> None:
        if self._last_word is None or self.pipeline:
            super().on_response_complete()
        else:
            self.transport.write(_encoded(self._last_word))
            self.transport.close()
        if self._last_word:
            self.flow.pause_reading()

    def send_400_response(self, msg: str) -> None:
        self._say(_malformed("it is no HTTP/1.1"))

    def _too_long(self) -> ApiError:
        return _malformed(f"its headers are longer than {self._limits.head_bytes:,} bytes")

    def pause_writing(self) -> None:
        super().pause_writing()
        self._stuck_timer = self.loop.call_later(self._limits.stuck_s, self._cut)

    def resume_writing(self) -> None:
        if self._stuck_timer is not None:
            self._stuck_timer.cancel()
        super().resume_writing()

    def _set_timer(self, limit_s: float) -> None:
        """One timer a part of a request: what drips gets no more time than what stands still."""
        if limit_s == self._timer_s:
            return
        if self._timer is not None:
            self._timer.cancel()
        self._timer_s = limit_s
        self._timer = self.loop.call_later(limit_s, self._too_late) if limit_s else None

    def _too_late(self) -> None:
        if self._last_word:
            self._cut()
        elif self._due_s:
            self._say(ApiError(408, "Too slow", f"The request did not arrive within {self._due_s:g} seconds."))
        else:
            self.transport.close()

    def _cut(self) -> None:
        log.warning("api.stuck", uid=None if self._peer is None else self._peer.uid)
        self.transport.abort()

    def _say(self, error: ApiError) -> None:
        """Answer in the place of the application, where that does not stand inside another answer, and close.

        Requests that wait for their answers get them first.
        """
        if self._last_word or self.transport.is_closing():
            return
        cycle = self.cycle
        if self.pipeline:
            self._last_word = error
            self.flow.pause_reading()
            self._due_s = self._limits.stuck_s
            self._set_timer(self._due_s)
            return
        if cycle is None or cycle.response_complete or not (cycle.response_started or self.pipeline):
            self.transport.write(_encoded(error))
        self.transport.close()


def _encoded(error: ApiError) -> bytes:
    from kai.api.answers import encoded_problem  # noqa: PLC0415 - first use: most connections need none

    return encoded_problem(error)


def _malformed(problem: str) -> ApiError:
    from kai.api.problems import malformed  # noqa: PLC0415 - first use

    return malformed(problem)


def _peer(sock: Any) -> Peer:
    pid, uid, gid = _CREDENTIALS.unpack(sock.getsockopt(socket.SOL_SOCKET, socket.SO_PEERCRED, _CREDENTIALS.size))
    return Peer(uid, gid, pid, time.clock_gettime(time.CLOCK_BOOTTIME))
