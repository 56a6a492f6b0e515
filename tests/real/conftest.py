"""A stub model for every test, and the real agents, each skipped in plain sight where it is not installed."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from kai.clock import SystemClock
from tests.real.agents import AGENTS, RealAgent
from tests.real.driving import Bench
from tests.stub_model import StubModel

LIMIT_S = 240  # starting a CLI takes seconds, and far more on a machine with two busy cores


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    for item in items:
        if Path(__file__).parent in item.path.parents:
            item.add_marker(pytest.mark.real)
            item.add_marker(pytest.mark.timeout(LIMIT_S))


@pytest.fixture
def model() -> Iterator[StubModel]:
    with StubModel() as running:
        yield running


@pytest.fixture(params=AGENTS, ids=lambda agent: agent.backend)
def agent(request: pytest.FixtureRequest) -> RealAgent:
    """Every real agent in turn."""
    chosen: RealAgent = request.param
    if not chosen.is_installed:
        pytest.skip(f"{chosen.program} is not installed: run scripts/install-agents --all")
    return chosen


@pytest.fixture
def bench(agent: RealAgent, model: StubModel, tmp_path: Path) -> Bench:
    """A home, a workspace and sessions of `agent`."""
    return Bench.make(agent, model, tmp_path, SystemClock())
