"""A stub model for every test, and the real agents, each skipped in plain sight where it is not installed."""

import socket
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


@pytest.fixture
def dead_url() -> Iterator[str]:
    """Where every connection is refused: the port is taken, and nobody listens."""
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        yield f"http://127.0.0.1:{taken.getsockname()[1]}"


@pytest.fixture(params=AGENTS, ids=lambda agent: agent.backend)
def agent(request: pytest.FixtureRequest) -> RealAgent:
    """Every real agent in turn."""
    chosen: RealAgent = request.param
    if not chosen.is_installed:
        pytest.skip(f"{chosen.program} is not installed: run scripts/install-agents --all")
    clause = request.node.get_closest_marker("clause")
    for need in clause.kwargs.get("needs", "").split() if clause else ():
        if why_not := cannot(chosen, need):
            pytest.skip(why_not)
    return chosen


def cannot(agent: RealAgent, need: str) -> str:
    """Why a clause with this need is none for an agent; "" when it is one. What a manifest claims is not skipped."""
    can = agent.manifest.can
    claims = {"steer": can.steer, "resume": can.resume, "temporary": can.temporary, "interrupt": can.interrupt}
    claims["set_model"] = can.set_model
    if need in claims:
        return "" if claims[need] else f"its manifest says that it has no {need}"
    assert need == "model"
    return "" if agent.has_model else "it has no model, and so no tools"


@pytest.fixture
def bench(agent: RealAgent, model: StubModel, tmp_path: Path) -> Bench:
    """A home, a workspace and sessions of `agent`."""
    return Bench.make(agent, model, tmp_path, SystemClock())
