"""What every test may ask for."""

import asyncio
import os
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import httpcore  # noqa: F401 - the client's first use imports these two: a cost of commands, not of the loop under test
import httpx  # noqa: F401
import pytest
from anyio._backends._asyncio import TestRunner
from blockbuster import BlockBuster, blockbuster_ctx

from kai import log
from tests.manual_clock import ManualClock
from tests.small_disk import small_disk

__all__ = ["small_disk"]

os.environ.setdefault("PYDANTIC_DISABLE_PLUGINS", "__all__")  # as `kai serve` does: to look for some blocks the loop

# Asserting helpers that more than one folder imports: told here, before any of them is.
pytest.register_assert_rewrite("tests.processes.conformance", "tests.processes.seen", "tests.e2e.house")


# They start no process and wait for none: what fails there fails for a reason. All others drive real processes against
# limits in seconds, and a busy machine is told from a fault by a second try, which the summary names ("RERUN").
ONE_TRY = frozenset({"catalog", "context", "docs", "gates", "golden", "settings", "text", "wire"})


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    for item in items:
        folder = item.path.relative_to(Path(__file__).parent).parts[0]
        if folder not in ONE_TRY:
            item.add_marker(pytest.mark.flaky(reruns=1))


@pytest.fixture
def anyio_backend() -> str:
    """kai runs on asyncio only."""
    return "asyncio"


@pytest.fixture(autouse=True, scope="session")
def _a_reader_that_is_cancelled_in_time_is_no_error() -> None:
    """anyio's unix streams leave the callback of a reader behind that is cancelled in the very moment of the data.

    asyncio reports that to the loop's handler, which fails whatever test runs; nothing is lost by it.
    """
    report = TestRunner._exception_handler

    def handler(self: TestRunner, loop: asyncio.AbstractEventLoop, context: dict[str, Any]) -> None:
        is_left_behind = isinstance(context.get("exception"), asyncio.InvalidStateError)
        if not (is_left_behind and "set_result" in repr(context.get("handle"))):
            report(self, loop, context)

    TestRunner._exception_handler = handler  # type: ignore[method-assign]


@pytest.fixture
def clock() -> ManualClock:
    """A clock that stands at a fixed moment."""
    return ManualClock(datetime(2026, 11, 30, 17, 41, tzinfo=UTC))


@pytest.fixture(autouse=True)
def _loop_is_never_blocked() -> Iterator[BlockBuster]:
    """A blocking call inside the event loop fails the test that made it."""
    with blockbuster_ctx(scanned_modules=["kai"]) as guard:
        for function in guard.functions.values():
            # A traceback in the log reads the source lines it shows: rare, and worth it.
            function.can_block_in("linecache.py", {"checkcache", "updatecache", "lazycache"})
        yield guard


@pytest.fixture(autouse=True, scope="session")
def _logs_are_plain() -> None:
    log.set_up("debug", human=False)
