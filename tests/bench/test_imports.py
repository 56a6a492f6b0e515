"""What the bench takes for the third-party modules of a ready daemon; `tests.gates.test_idle` says what it may hold."""

from pathlib import Path

from kai.bench.processes import House
from kai.bench.start_up import modules_of_daemon, third_party


def test_the_modules_of_a_ready_daemon_are_told_apart(tmp_path: Path) -> None:
    house = House(tmp_path)
    house.prepare()
    held = modules_of_daemon(house)
    assert {"kai.daemon", "uvicorn"} <= held.keys()
    wanted = third_party(held)
    assert {"anyio", "starlette.types", "uvicorn.config"} <= set(wanted)
    assert [name for name in wanted if name.partition(".")[0] in ("kai", "json", "asyncio")] == []
