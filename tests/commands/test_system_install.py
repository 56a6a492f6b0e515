"""`kai system install` puts everything in place once and says what it did; `uninstall` takes nobody's things."""

import os
import stat
from pathlib import Path

import pytest
import yaml

from kai.commands import system_install
from kai.commands.system_install import Places, install, uninstall, unsafe
from kai.commands.system_steps import StepFailedError
from kai.model.errors import DeniedError
from kai.settings.where import marker
from tests.commands.machine import Machine


@pytest.fixture
def machine(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Machine:
    machine = Machine(tmp_path)
    monkeypatch.setenv("PATH", f"{machine.bin}:{os.environ['PATH']}")
    monkeypatch.setattr(system_install, "unsafe", lambda _: "")
    monkeypatch.setattr(system_install, "USER", "root")  # the group that the configuration is for
    return machine


def files(machine: Machine) -> dict[str, str]:
    return {
        str(path.relative_to(machine.root)): path.read_text()
        for folder in ("etc", "opt")
        for path in (machine.root / folder).rglob("*")
        if path.is_file()
    }


def test_a_dry_run_changes_nothing_and_says_the_same_as_the_run(machine: Machine) -> None:
    install(machine.steps(is_dry=True), places=machine.places)
    would = [line.removeprefix("would be ") for line in machine.told]
    assert (files(machine), machine.calls()) == ({}, [])
    install(machine.steps(), places=machine.places)
    assert [line for line in machine.told if not line.startswith("is ")] == would
    assert machine.calls()


def test_a_second_run_does_nothing(machine: Machine) -> None:
    install(machine.steps(), places=machine.places)
    machine.calls()
    before, steps = files(machine), machine.steps()
    install(steps, places=machine.places)
    assert not steps.has_changed
    assert (files(machine), machine.calls()) == (before, [])


def test_units_name_the_kai_that_installed_them_and_the_configuration_is_not_everybodys(machine: Machine) -> None:
    install(machine.steps(), places=machine.places)
    unit = (machine.root / "etc/systemd/system/kai.service").read_text()
    assert f"ExecStart={machine.root}/opt/kai/bin/kai serve" in unit
    assert "ExecStart=/opt/kai" not in unit
    assert stat.S_IMODE((machine.root / "etc/kai/kai.yaml").stat().st_mode) == 0o640
    assert yaml.safe_load((machine.root / "etc/kai/kai.yaml").read_text()) == {"people": {"files": "as_owner"}}
    assert marker(machine.places.prefix).exists()
    assert (machine.root / "usr/local/bin/kai").readlink() == machine.places.prefix / "bin/kai"


def test_what_the_operator_wrote_stays_and_a_changed_unit_is_brought_back(machine: Machine) -> None:
    install(machine.steps(), places=machine.places)
    config, unit = machine.root / "etc/kai/kai.yaml", machine.root / "etc/systemd/system/kai.service"
    config.write_text("log: {level: debug}\n")
    unit.write_text("[Unit]\n")
    machine.calls()
    install(machine.steps(), places=machine.places)
    assert config.read_text() == "log: {level: debug}\n"
    assert "PrivateNetwork=yes" in unit.read_text()
    assert machine.calls() == ["systemctl daemon-reload", "systemctl restart kai.service"]


def test_the_profile_of_the_agents_is_kept_until_another_is_named(machine: Machine) -> None:
    install(machine.steps(), profile="nested-sandbox", places=machine.places)
    install(machine.steps(), places=machine.places)
    assert "pivot_root" in machine.places.profile.read_text()
    install(machine.steps(), profile="strict", places=machine.places)
    assert "pivot_root" not in machine.places.profile.read_text()


def test_another_kai_in_the_path_is_left_alone_and_told(machine: Machine) -> None:
    (machine.root / "usr/local/bin/kai").write_text("mine")
    install(machine.steps(), places=machine.places)
    assert any("something else" in line for line in machine.told)
    uninstall(machine.steps(), places=machine.places)
    assert (machine.root / "usr/local/bin/kai").read_text() == "mine"


def test_nothing_is_started_where_that_is_not_wanted(machine: Machine) -> None:
    install(machine.steps(), starts=False, places=machine.places)
    assert not [call for call in machine.calls() if call.startswith("systemctl start")]


def test_a_service_that_does_not_start_is_a_failure_with_its_reason(machine: Machine) -> None:
    (machine.root / "broken").touch()
    with pytest.raises(StepFailedError, match="Job failed Failed: it is broken"):
        install(machine.steps(), places=machine.places)
    (machine.root / "broken").unlink()
    install(machine.steps(), places=machine.places)
    assert machine.calls()[-1] == "systemctl start kai.service"


def test_uninstalling_leaves_configuration_and_prefix_and_says_so_and_once_is_enough(machine: Machine) -> None:
    install(machine.steps(), places=machine.places)
    machine.calls()
    steps = machine.steps()
    uninstall(steps, places=machine.places)
    assert machine.calls()[0].startswith("systemctl disable --now kai.service")
    assert sorted(files(machine)) == ["etc/kai/kai.yaml", "etc/kai/spawner.json"]
    assert any("/etc/kai stays" in line for line in machine.told)
    again = machine.steps()
    uninstall(again, places=machine.places)
    assert (again.has_changed, machine.calls()) == (False, [])


def test_a_kai_that_others_may_change_cannot_serve(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    assert "not seen by a service" in unsafe(Path("/root/kai"))
    monkeypatch.setattr(system_install, "HIDDEN", ())
    prefix = tmp_path / "kai"
    (prefix / "bin").mkdir(parents=True)
    (prefix / "bin/python").symlink_to("/usr/bin/env")
    for folder in (prefix, *prefix.parents):
        if folder.is_relative_to("/tmp") and folder != Path("/tmp"):
            folder.chmod(0o755)
    assert unsafe(prefix) == ""
    prefix.chmod(0o775)
    assert f"others may write to {prefix}" == unsafe(prefix)
    prefix.chmod(0o755)
    os.chown(prefix, 4711, 4711)
    assert "belongs to user 4711" in unsafe(prefix)
    with pytest.raises(DeniedError, match="4711"):
        install(Machine(tmp_path / "m").steps(), places=Places(tmp_path, prefix))
