"""Every scenario holds, and with its guard removed it does not."""

from pathlib import Path

import pytest

from tests.scenarios import assembly, audience, lifecycle, routes, temporary, tools, work
from tests.scenarios.harness import SCENARIOS, Removal, Stage
from tests.scenarios.listed import SENTENCES, WAITS

pytestmark = pytest.mark.anyio
PLAYED = (assembly, audience, lifecycle, routes, temporary, tools, work)  # each registers its own
CONTROLS = [
    pytest.param(name, removal, id=f"{name}-{number}")
    for name, one in SCENARIOS.items()
    for number, removal in enumerate(one.removals)
]


@pytest.mark.parametrize("name", SCENARIOS)
async def test_holds(name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    await SCENARIOS[name].body(Stage(tmp_path, monkeypatch))


@pytest.mark.parametrize(("name", "removal"), CONTROLS)
async def test_without_its_guard_it_does_not(
    name: str, removal: Removal, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    removal(monkeypatch)
    fault: BaseException | None = None
    try:
        await SCENARIOS[name].body(Stage(tmp_path, monkeypatch))
    except (AssertionError, ExceptionGroup) as error:
        fault = error
    while isinstance(fault, ExceptionGroup):
        fault = fault.exceptions[0]
    assert isinstance(fault, AssertionError), fault or "the guard was not missed"


def test_every_scenario_is_listed_and_is_there_or_says_what_it_waits_for() -> None:
    assert len(SENTENCES) == 41
    assert SCENARIOS.keys() | WAITS.keys() == SENTENCES.keys()
    assert not SCENARIOS.keys() & WAITS.keys()
