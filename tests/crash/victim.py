"""A daemon that kills itself when a point is reached for the n-th time: ``python -m tests.crash.victim POINT N``."""

import asyncio
import json
import os
import signal
import sys
import threading
from collections.abc import Callable
from typing import Any, NoReturn

import anyio

from kai import daemon
from kai.protocols import session
from kai.protocols.running import Running
from kai.settings.where import find
from kai.store import deliveries, messages, turns
from kai.turns.live import LiveTurn
from kai.turns.runner import Runner

POINTS = ("accept", "queued", "prepared", "sent", "streaming", "asking", "finish", "receipt")


def die() -> NoReturn:
    os.kill(os.getpid(), signal.SIGKILL)
    raise AssertionError("still alive")


class Bomb:
    """Counts, and kills this process at the n-th time."""

    def __init__(self, count: int) -> None:
        self.left = count

    def tick(self) -> None:
        self.left -= 1
        if self.left <= 0:
            die()


def before(bomb: Bomb, function: Callable[..., Any]) -> Callable[..., Any]:
    def wrapped(*args: Any, **kwargs: Any) -> Any:
        bomb.tick()
        return function(*args, **kwargs)

    return wrapped


def after(bomb: Bomb, function: Callable[..., Any]) -> Callable[..., Any]:
    """Inside a transaction: its work is done, its commit is not."""

    def wrapped(*args: Any, **kwargs: Any) -> Any:
        result = function(*args, **kwargs)
        bomb.tick()
        return result

    return wrapped


def on_row(bomb: Bomb, kind: str) -> Callable[..., None]:
    add = LiveTurn.add

    def wrapped(self: LiveTurn, row: str, **fields: Any) -> None:
        if row == kind:
            bomb.tick()
        add(self, row, **fields)

    return wrapped


def arm(point: str, bomb: Bomb) -> None:
    """Put the bomb where `point` says. Only a session that is opened is ever prepared and not yet sent: the first."""
    places: dict[str, Callable[[], None]] = {
        "accept": lambda: setattr(messages, "take", after(bomb, messages.take)),
        "queued": lambda: setattr(Runner, "run", before(bomb, Runner.run)),
        "prepared": lambda: setattr(Runner, "_open", before(Bomb(1), Runner._open)),
        "sent": lambda: setattr(session, "Running", before(bomb, Running)),
        "streaming": lambda: setattr(LiveTurn, "add", on_row(bomb, "text")),
        "asking": lambda: setattr(LiveTurn, "add", on_row(bomb, "ask")),
        "finish": lambda: setattr(turns, "finish", after(bomb, turns.finish)),
        "receipt": lambda: setattr(deliveries, "receipt", after(bomb, deliveries.receipt)),
    }
    places[point]()


def tell_what_is_held(*_: object) -> None:
    """At SIGUSR1: how many tasks, threads and files this process has, into a file beside the state."""
    held = {
        "tasks": len(asyncio.all_tasks(asyncio.get_running_loop())),
        "threads": sum(not one.name.startswith("AnyIO worker") for one in threading.enumerate()),  # those are a pool
        "files": len(os.listdir("/proc/self/fd")),  # noqa: PTH208
    }
    path = find().state.parent / "held.json"
    path.with_suffix(".new").write_text(json.dumps(held))
    path.with_suffix(".new").rename(path)


def main() -> None:
    signal.signal(signal.SIGUSR1, tell_what_is_held)
    point, count = sys.argv[1], int(sys.argv[2])
    if point != "none":
        arm(point, Bomb(count))
    anyio.run(daemon.run, find())


if __name__ == "__main__":
    main()
