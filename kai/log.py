"""Logging by event: ``log.info("turn.finished", turn=…, seconds=…)``. No message text, prompt or secret above debug.

Our own few lines: all that is needed is one line for an event, and the libraries for it bring a terminal renderer and
its colours into every daemon: a tenth of a second at each start and eight megabytes for as long as it runs.
"""

import json
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from datetime import UTC, datetime
from queue import Full, Queue
from threading import Thread
from traceback import format_exception
from typing import Any

WAITING = 10_000  # lines that wait for whoever reads stderr; those beyond are counted, not kept
FLOOD, FLOOD_S = 1_000, 10.0  # lines of one event in so many seconds; those beyond are counted with the next one
_END_S = 2.0  # for what waits to be written at the end
_LEVELS = ("debug", "info", "warning", "error", "critical")


class Log:
    """Writes events to stderr: lines for a terminal, JSON objects elsewhere. `exc_info` is an error to show whole."""

    def __init__(self) -> None:
        self._least = _LEVELS.index("info")
        self._human: bool | None = None
        self._waiting: Queue[str | None] | None = None
        self._dropped = 0
        self._floods: dict[str, tuple[float, int]] = {}  # event → since when, and how many since

    def set_up(self, level: str, *, human: bool | None) -> None:
        """Write `level` and above; `human` None: as stderr is."""
        self._least, self._human = _LEVELS.index(level), human

    def debug(self, event: str, **fields: Any) -> None:
        self._take("debug", event, fields)

    def info(self, event: str, **fields: Any) -> None:
        self._take("info", event, fields)

    def warning(self, event: str, **fields: Any) -> None:
        self._take("warning", event, fields)

    def error(self, event: str, **fields: Any) -> None:
        self._take("error", event, fields)

    def exception(self, event: str, **fields: Any) -> None:
        """An error with the exception that is being handled."""
        self._take("error", event, {**fields, "exc_info": sys.exc_info()[1]})

    def _take(self, level: str, event: str, fields: dict[str, Any]) -> None:
        if _LEVELS.index(level) >= self._least and not self._is_flood(event, fields):
            with suppress(OSError, ValueError):  # nobody reads stderr any more: no reason to stop the work
                self.write(level, event, fields)

    def write(self, level: str, event: str, fields: dict[str, Any]) -> None:
        """One event as one line (and the traceback of an error for people)."""
        now = datetime.now(UTC)
        error = fields.pop("exc_info", None)
        trace = "".join(format_exception(error)).rstrip() if isinstance(error, BaseException) else ""
        if sys.stderr.isatty() if self._human is None else self._human:
            told = " ".join(f"{name}={json.dumps(value, default=str)}" for name, value in fields.items())
            line = f"{now.astimezone():%H:%M:%S} {level:<8} {event} {told}\n{trace}".rstrip()
        else:
            more = {"exception": trace} if trace else {}
            row = {**fields, **more, "event": event, "level": level, "timestamp": f"{now:%Y-%m-%dT%H:%M:%S.%fZ}"}
            line = json.dumps(row, default=str)
        if self._waiting is None:
            _write(line)
            return
        try:
            self._waiting.put_nowait(line)
        except Full:
            self._dropped += 1

    def _is_flood(self, event: str, fields: dict[str, Any]) -> bool:
        """Whether there were too many of this event just now; the first one after that says how many were left out."""
        now = time.monotonic()
        since, count = self._floods.get(event, (now, 0))
        if now - since >= FLOOD_S:
            if count > FLOOD:
                fields["left_out"] = count - FLOOD
            since, count = now, 0
        self._floods[event] = since, count + 1
        return count >= FLOOD

    @contextmanager
    def apart(self) -> Iterator[None]:
        """Write in a thread of its own: whoever reads stderr may stand still, and nothing waits for them."""
        self._waiting = Queue(WAITING)
        writer = Thread(target=self._write_on, args=(self._waiting,), name="kai-log", daemon=True)
        writer.start()
        try:
            yield
        finally:
            waiting, self._waiting = self._waiting, None
            with suppress(Full):
                waiting.put(None, timeout=_END_S)
                writer.join(_END_S)

    def _write_on(self, waiting: "Queue[str | None]") -> None:
        while (line := waiting.get()) is not None:
            with suppress(OSError, ValueError):
                _write(line)
            if self._dropped and waiting.qsize() < WAITING // 2:
                dropped, self._dropped = self._dropped, 0
                log.warning("log.dropped", lines=dropped)


def _write(line: str) -> None:
    sys.stderr.write(f"{line}\n")
    sys.stderr.flush()


log = Log()


def set_up(level: str, *, human: bool | None = None) -> None:
    """Write events from `level` on, a name of `logging` in lower case; `human` unless given as stderr is."""
    log.set_up(level.lower(), human=human)
