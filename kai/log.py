"""Logging by event: ``log.info("turn.finished", turn=…, seconds=…)``. No message text, prompt or secret above debug.

Our own few lines: all that is needed is one line for an event, and the libraries for it bring a terminal renderer and
its colours into every daemon: a tenth of a second at each start and eight megabytes for as long as it runs.
"""

import json
import sys
from contextlib import suppress
from datetime import UTC, datetime
from traceback import format_exception
from typing import Any

_LEVELS = ("debug", "info", "warning", "error", "critical")


class Log:
    """Writes events to stderr: lines for a terminal, JSON objects elsewhere. `exc_info` is an error to show whole."""

    def __init__(self) -> None:
        self._least = _LEVELS.index("info")
        self._human: bool | None = None

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
        if _LEVELS.index(level) >= self._least:
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
        sys.stderr.write(f"{line}\n")
        sys.stderr.flush()


log = Log()


def set_up(level: str, *, human: bool | None = None) -> None:
    """Write events from `level` on, a name of `logging` in lower case; `human` unless given as stderr is."""
    log.set_up(level.lower(), human=human)
