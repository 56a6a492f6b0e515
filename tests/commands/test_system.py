"""``kai system``."""

import json

import pytest

from kai.commands import system, system_install
from kai.resources import folder
from tests.commands.conftest import Kai


@pytest.fixture(autouse=True)
def _any_kai(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(system_install, "unsafe", lambda _: "")


def test_a_dry_install_lists_every_step(kai: Kai) -> None:
    status, out, err = kai("system", "install", "--dry-run")
    assert (status, err) == (0, "")
    assert "would be made    /etc/systemd/system/kai.service" in out
    found = json.loads(kai("system", "install", "--dry-run", "--json")[1])
    assert {"did": "made", "what": "/etc/systemd/system/kai.service"} in found


def test_nobody_but_root_installs(kai: Kai, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("os.geteuid", lambda: 1000)
    for verb in ("install", "uninstall", "upgrade"):
        status, _, err = kai("system", verb)
        assert status == 1
        assert "only root" in err


def test_every_profile_has_its_file() -> None:
    shipped = {path.stem for path in (folder("systemd") / "profiles").iterdir()}
    assert shipped == set(system.PROFILES)
