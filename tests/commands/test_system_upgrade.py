"""`kai system upgrade`, as far as no service is needed; `tests/booted` does it for real, the way back included."""

import os
import sys
from pathlib import Path

import pytest

from kai.commands import system_upgrade
from kai.commands.system_steps import StepFailedError
from kai.commands.system_upgrade import Wanted, upgrade
from kai.model.errors import DeniedError
from kai.settings.where import marker
from tests.commands.machine import Machine


@pytest.fixture
def machine(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Machine:
    """With a kai in it whose python only tells its version, and a pip that can bring nothing."""
    machine = Machine(tmp_path)
    monkeypatch.setenv("PATH", f"{machine.bin}:{os.environ['PATH']}")
    monkeypatch.setattr(system_upgrade, "unsafe", lambda _: "")
    python = machine.places.prefix / "bin/python"
    python.write_text('#!/bin/sh\ncase "$*" in *version) echo kai 1.0 ;; *pip*) [ -e "$0.works" ] ;; esac\n')
    python.chmod(0o755)
    return machine


def test_a_kai_that_is_not_the_services_is_not_upgraded(machine: Machine) -> None:
    with pytest.raises(DeniedError, match="is not the service's kai"):
        upgrade(machine.steps(), Wanted("kai", None, machine.places.prefix))


def test_packages_that_cannot_be_had_change_nothing_and_stop_nothing(machine: Machine) -> None:
    marker(machine.places.prefix).parent.mkdir(parents=True)
    marker(machine.places.prefix).touch()
    with pytest.raises(StepFailedError, match="pip"):
        upgrade(machine.steps(), Wanted("kai", machine.root, machine.places.prefix))
    assert machine.calls() == []
    assert [path.name for path in (machine.root / "opt").iterdir()] == ["kai"]


def test_the_version_that_serves_is_no_upgrade(machine: Machine) -> None:
    marker(machine.places.prefix).parent.mkdir(parents=True)
    marker(machine.places.prefix).touch()
    (machine.places.prefix / "bin/python.works").touch()
    (machine.places.prefix / "lib").mkdir()
    steps = machine.steps()
    upgrade(steps, Wanted("kai", None, machine.places.prefix))
    assert "the version that was asked for" in machine.told[-1]
    assert machine.calls() == []
    assert [path.name for path in (machine.root / "opt").iterdir()] == ["kai"]


def test_a_dry_upgrade_tells_its_order_backup_before_anything_is_changed(machine: Machine) -> None:
    upgrade(machine.steps(is_dry=True), Wanted("kai", None, Path(sys.prefix)))
    told = "\n".join(machine.told)
    order = ["check-config", "systemctl stop kai.service", "safekeeping keep", "changed", "system install"]
    places = [told.index(word) for word in order]
    assert places == sorted(places)
