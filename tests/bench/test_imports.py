"""What a ready daemon holds, and what it leaves for its first use."""

from pathlib import Path

from kai.bench.processes import House
from kai.bench.start_up import modules_of_daemon, third_party

HEAVY = frozenset(
    {"numpy", "mcp", "jinja2", "acp", "httpx", "rich", "prompt_toolkit", "prometheus_client", "structlog", "pygments"}
)


def test_a_ready_daemon_holds_nothing_heavy_before_its_first_use(tmp_path: Path) -> None:
    house = House(tmp_path)
    house.prepare()
    held = modules_of_daemon(house)
    assert {name.partition(".")[0] for name in held} & HEAVY == set()
    assert {"kai.daemon", "pydantic", "uvicorn"} <= held.keys()
    wanted = third_party(held)
    assert {"pydantic", "starlette.routing", "uvicorn.config"} <= set(wanted)
    assert [name for name in wanted if name.partition(".")[0] in ("kai", "json", "asyncio")] == []
