"""`scripts/setup-tests` on machines that lack things: programs of this machine are hidden, Debian's are played."""

import subprocess
from pathlib import Path

import pytest

SCRIPT = Path(__file__).parents[2] / "scripts/setup-tests"


@pytest.fixture
def machine(tmp_path: Path) -> Path:
    """A folder that is the whole PATH, with a shell's necessities."""
    for name in ("env", "touch", "ln"):
        (tmp_path / name).symlink_to(f"/usr/bin/{name}")
    return tmp_path


def has(machine: Path, **programs: str) -> None:
    """Programs of that machine, as bodies of shell scripts."""
    for name, body in programs.items():
        path = machine / name.replace("_", "-")
        path.write_text(f"#!/bin/sh\n{body}\n")
        path.chmod(0o755)


def run(machine: Path) -> subprocess.CompletedProcess[str]:
    return subprocess.run(["/bin/sh", SCRIPT], env={"PATH": str(machine)}, capture_output=True, text=True)


def test_with_everything_there_nothing_is_done(machine: Path) -> None:
    has(machine, node="", npm="", sudo="", systemd_nspawn="", apt_get="exit 9", id="exit 9")
    done = run(machine)
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")


def test_a_plain_user_without_sudo_is_told_the_names_of_the_packages(machine: Path) -> None:
    has(machine, apt_get="exit 9", id="echo 1000", sudo="exit 1")
    done = run(machine)
    assert done.returncode == 2
    assert "nodejs npm systemd-container" in done.stderr
    assert "apt-get install" in done.stderr


def test_a_machine_that_is_no_debian_is_told_as_well(machine: Path) -> None:
    has(machine, node="", id="echo 0")
    done = run(machine)
    assert done.returncode == 2
    assert " npm" in done.stderr
    assert "nodejs" not in done.stderr


@pytest.mark.parametrize("user", ["echo 0", "echo 1000"])
def test_root_and_who_may_use_sudo_get_the_packages_installed(machine: Path, user: str) -> None:
    bring = f"for name in node npm systemd-nspawn; do ln -s /bin/true {machine}/$name; done"
    install = f'echo "$@" >>{machine}/calls; case "$*" in *install*) {bring} ;; esac'
    has(machine, apt_get=install, id=user, sudo='shift; exec "$@"', true="")
    done = run(machine)
    assert done.returncode == 0, done.stderr
    update, installed = (machine / "calls").read_text().splitlines()
    assert "update" in update
    assert installed.endswith("install -y --no-install-recommends ca-certificates nodejs npm systemd-container")


def test_packages_that_do_not_bring_what_is_missing_are_no_success(machine: Path) -> None:
    has(machine, apt_get="exit 0", id="echo 0")
    assert run(machine).returncode == 2
