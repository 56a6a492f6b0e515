"""The units are right, and may do no more than they need. Needs systemd-analyze (`scripts/setup-tests` brings it)."""

import os
import shutil
import subprocess
from pathlib import Path

import pytest

UNITS = Path(__file__).resolve().parents[2] / "systemd"
NAMES = tuple(path.name for path in UNITS.glob("kai*") if path.suffix in (".service", ".socket", ".timer"))
PROFILES = ("strict", "nested-sandbox")

pytestmark = pytest.mark.skipif(shutil.which("systemd-analyze") is None, reason="systemd-analyze is not installed")


@pytest.fixture
def units(tmp_path: Path) -> Path:
    """The units as they are installed, with programs that are there."""
    (tmp_path / "bin").mkdir()
    for program in ("kai", "kai-spawner"):
        shutil.copy(shutil.which("true") or "", tmp_path / "bin" / program)
    for name in NAMES:
        (tmp_path / name).write_text((UNITS / name).read_text().replace("/opt/kai/", f"{tmp_path}/"))
    return tmp_path


def analyze(*args: str) -> subprocess.CompletedProcess[str]:
    env = os.environ | {"SYSTEMD_LOG_LEVEL": "warning"}
    return subprocess.run(["systemd-analyze", *args], capture_output=True, text=True, env=env)


@pytest.mark.parametrize("profile", PROFILES)
def test_verify_has_nothing_to_say(units: Path, profile: str) -> None:
    dropped = (units / "kai-spawner.service").read_text() + (UNITS / f"profiles/{profile}.conf").read_text()
    (units / "kai-spawner.service").write_text(dropped)
    done = analyze("verify", "--man=no", *(str(units / name) for name in NAMES))
    assert (done.stdout, done.stderr) == ("", "")  # its exit status is 0 for an unknown key, too


def test_verify_would_say_it(units: Path) -> None:
    with (units / "kai.service").open("a") as file:
        file.write("[Service]\nProtectEverything=yes\n")
    assert "ProtectEverything" in analyze("verify", "--man=no", str(units / "kai.service")).stderr


@pytest.mark.parametrize(
    ("unit", "profile", "most"),
    [
        ("kai.service", "", 10),
        ("kai-bridge@.service", "", 18),
        ("kai-egress.service", "", 18),
        ("kai-backup.service", "", 10),
        ("kai-spawner.service", "strict", 30),
        ("kai-spawner.service", "nested-sandbox", 36),  # an opt-in: what such agents need is all that it adds
    ],
)
def test_a_unit_is_exposed_no_further_than_it_may(units: Path, unit: str, profile: str, most: int) -> None:
    file = units / unit
    if profile:
        file.write_text(file.read_text() + (UNITS / f"profiles/{profile}.conf").read_text())
    done = analyze("security", "--offline=yes", "--no-pager", f"--threshold={most}", str(file))
    assert done.returncode == 0, done.stdout[-200:]


def test_the_threshold_would_be_felt(units: Path) -> None:
    file = units / "kai.service"
    file.write_text(file.read_text().replace("PrivateNetwork=yes\n", "").replace("CapabilityBoundingSet=\n", ""))
    assert analyze("security", "--offline=yes", "--threshold=10", str(file)).returncode != 0


def test_the_daemon_has_no_network_and_sees_who_its_peers_are() -> None:
    lines = (UNITS / "kai.service").read_text().splitlines()
    for wanted in ("PrivateNetwork=yes", "RestrictAddressFamilies=AF_UNIX", "CapabilityBoundingSet=", "User=kai"):
        assert wanted in lines
    assert not [line for line in lines if line.startswith(("PrivateUsers=", "ProtectProc=", "ProcSubset="))]
