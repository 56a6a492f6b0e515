"""A daemon that waits holds what it needs for that, and nothing else: memory and a start are everybody's."""

from pathlib import Path

import pytest

from kai.bench.processes import House
from kai.bench.start_up import modules_of_daemon

MOST = 66  # modules of kai; 62 when this was written
RULE = (
    "A ready daemon would hold {what}. Import it where it is first used: see 'What an idle daemon holds' in "
    "CONTRIBUTING.md. 'python -X importtime -m kai serve' tells who imports it."
)
# What works on turns, what answers requests, what few days see; and the heavy libraries, which the daemon knows at
# their first use only.
ASLEEP = """
    kai.api.answers kai.api.behind kai.api.bodies kai.api.endpoint kai.api.openapi kai.api.routes kai.api.shut
    kai.bridges kai.client kai.context kai.launcher.archive kai.launcher.errand kai.memory kai.model.context
    kai.model.events kai.model.memory kai.model.messages kai.model.turns kai.people kai.processes.errands kai.protocols
    kai.store.backup kai.store.records kai.store.restore kai.store.search kai.store.shelves kai.store.turns
    kai.store.words kai.tools kai.turns.backups kai.turns.checks kai.turns.findings kai.turns.front_door
    kai.turns.retention kai.turns.runner kai.turns.work kai.wire
    acp httpx jinja2 mcp numpy onnxruntime prometheus_client prompt_toolkit pydantic pydantic_core pygments rich
    snowballstemmer sqlite_vec structlog ctypes tarfile sqlite3
""".split()  # noqa: SIM905


@pytest.fixture(scope="module")
def held(tmp_path_factory: pytest.TempPathFactory) -> frozenset[str]:
    """The modules of a daemon that was started before, is ready, and was asked nothing yet."""
    house = House(tmp_path_factory.mktemp("idle"))
    house.prepare()
    modules_of_daemon(house)  # the first start makes the database and the first person
    return frozenset(modules_of_daemon(house))


def test_an_idle_daemon_holds_few_modules_of_kai(held: frozenset[str]) -> None:
    ours = sorted(name for name in held if name.partition(".")[0] == "kai")
    assert "kai.daemon" in ours
    assert len(ours) <= MOST, RULE.format(what=f"{len(ours)} modules of kai and not {MOST} at most: {' '.join(ours)}")


@pytest.mark.parametrize("name", ASLEEP)
def test_an_idle_daemon_does_not_hold(held: frozenset[str], name: str) -> None:
    found = sorted(one for one in held if one == name or one.startswith(f"{name}."))
    assert not found, RULE.format(what=" ".join(found))


def test_every_module_that_is_to_be_asleep_is_there() -> None:
    root = Path(__file__).resolve().parents[2]
    for name in (one for one in ASLEEP if one.startswith("kai.")):
        path = root.joinpath(*name.split("."))
        assert path.is_dir() or path.with_suffix(".py").is_file(), f"{name} is gone: what has its place?"
