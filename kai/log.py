"""Logging by event: ``log.info("turn.finished", turn=…, seconds=…)``. No message text, prompt or secret above debug."""

import logging
import sys
from typing import Any

import structlog

log: Any = structlog.get_logger("kai")


def set_up(level: str, *, human: bool | None = None) -> None:
    """Write events to stderr: lines for a terminal, JSON objects elsewhere. `level` is a name of `logging`."""
    if human is None:
        human = sys.stderr.isatty()
    renderer: Any = structlog.dev.ConsoleRenderer() if human else structlog.processors.JSONRenderer()
    structlog.configure(
        processors=[
            structlog.contextvars.merge_contextvars,
            structlog.processors.add_log_level,
            structlog.processors.TimeStamper(fmt="iso", utc=True),
            structlog.processors.format_exc_info,
            renderer,
        ],
        wrapper_class=structlog.make_filtering_bound_logger(logging.getLevelNamesMapping()[level.upper()]),
        logger_factory=structlog.WriteLoggerFactory(file=sys.stderr),
        cache_logger_on_first_use=False,
    )
