"""Tells systemd how we are: one datagram to the socket it named, nothing when there is none."""

import os
import socket
import time
from array import array
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager

import anyio

_FIRST_FD = 3
_EXTEND_S = 15.0  # longer than the longest pause between two signs of life
_BUSY_BEAT_S = 2.0
_IDLE_BEAT_S = 10.0


def notify(state: str) -> bool:
    """Send a state such as ``READY=1``; whether there was somebody to tell. Never raises: a service runs without it."""
    return _send(state, [])


def _send(state: str, descriptors: list[int]) -> bool:
    address = os.environ.get("NOTIFY_SOCKET", "")
    if not address.startswith(("/", "@")):
        return False
    path = "\0" + address[1:] if address.startswith("@") else address
    try:
        # Not waiting: a manager that does not read must not stop the loop.
        with socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM | socket.SOCK_CLOEXEC | socket.SOCK_NONBLOCK) as channel:
            passed = [(socket.SOL_SOCKET, socket.SCM_RIGHTS, array("i", descriptors))] if descriptors else []
            channel.sendmsg([state.encode()], passed, 0, path)  # Python's own send_fds forgets the address
    except OSError:
        return False
    return True


def keep(name: str, descriptor: int) -> bool:
    """Give systemd a copy of `descriptor` to keep over our end, under `name`; whether there was somebody to give it to.

    It keeps as many as the unit's FileDescriptorStoreMax says, until they are let go or the unit is stopped.
    """
    return _send(f"FDSTORE=1\nFDNAME={name}", [descriptor])


def let_go(name: str) -> None:
    """Systemd closes what it keeps under `name`."""
    notify(f"FDSTOREREMOVE=1\nFDNAME={name}")


def take_kept() -> dict[str, int]:
    """What a former process of this service has let systemd keep, by name; to be taken once. They are ours to close."""
    count, names = os.environ.pop("LISTEN_FDS", ""), os.environ.pop("LISTEN_FDNAMES", "").split(":")
    if os.environ.pop("LISTEN_PID", "") != str(os.getpid()) or not count.isdigit():
        return {}
    found = dict(zip(names, range(_FIRST_FD, _FIRST_FD + int(count)), strict=False))
    for descriptor in found.values():
        os.set_inheritable(descriptor, False)
    return found


def is_listening() -> bool:
    """Whether a service manager started us and wants to be told."""
    return bool(os.environ.get("NOTIFY_SOCKET"))


def watchdog_s(environment: Mapping[str, str]) -> float:
    """After how many seconds of silence systemd takes us for hung; 0: it does not watch."""
    wanted, pid = environment.get("WATCHDOG_USEC", ""), environment.get("WATCHDOG_PID", "")
    return int(wanted) / 1e6 if wanted.isdigit() and pid in ("", str(os.getpid())) else 0.0


class Heart:
    """What systemd is told of the service: its state, one line of status, and again and again that the loop turns.

    While it is busy with a start or a stop, systemd is asked for more time with every beat.
    """

    def __init__(self) -> None:
        watched = watchdog_s(os.environ)
        self._beat_s = min(watched / 3, _IDLE_BEAT_S) if watched else _IDLE_BEAT_S
        self._is_busy = True
        self._status = ""

    def status(self, text: str) -> None:
        """The line that ``systemctl status`` shows."""
        text = " ".join(text.split())
        if text != self._status and notify(f"STATUS={text}"):
            self._status = text

    def ready(self) -> None:
        """The start, or the reading of a new configuration, is over."""
        self._is_busy = False
        notify("READY=1")

    def reloading(self) -> None:
        """The configuration is being read; `ready` ends it."""
        notify(f"RELOADING=1\nMONOTONIC_USEC={time.monotonic_ns() // 1000}")

    def stopping(self) -> None:
        """What runs comes to its end."""
        self._is_busy = True
        notify(f"STOPPING=1\nEXTEND_TIMEOUT_USEC={_EXTEND_S * 1e6:.0f}")

    async def beat(self) -> None:
        """Never ends. A loop that is stuck beats no more: systemd ends us then, and the journal has where it stood."""
        while True:
            more = f"\nEXTEND_TIMEOUT_USEC={_EXTEND_S * 1e6:.0f}" if self._is_busy else ""
            notify("WATCHDOG=1" + more)
            await anyio.sleep(min(self._beat_s, _BUSY_BEAT_S) if self._is_busy else self._beat_s)


@asynccontextmanager
async def beating() -> AsyncIterator[Heart]:
    """A heart that beats inside the context, where there is a manager that listens."""
    heart = Heart()
    async with anyio.create_task_group() as tasks:
        if is_listening():
            tasks.start_soon(heart.beat)
        yield heart
        tasks.cancel_scope.cancel()
