"""What root does beside the daemon, and what whoever is not root is told."""

import os
import pwd
from pathlib import Path

import pytest

from kai.people import provision
from tests.commands.conftest import Kai
from tests.fake_daemon import FakeDaemon

ANN = {"principal": "p-ann", "name": "Ann", "os_user": "kait-nobody", "zone": "", "email": "", "legacy_chat_id": ""}
NEW_USER = "kait-new"


@pytest.fixture
def nobody_yet(fake: FakeDaemon) -> FakeDaemon:
    fake.canned["GET", "/v1/people"] = (200, [])
    fake.canned["GET", "/v1/channels"] = (200, [])
    return fake


def test_a_dry_run_tells_every_step_and_does_none(kai: Kai, nobody_yet: FakeDaemon) -> None:
    status, out, _ = kai("person", "add", "Ann", "--os-user", NEW_USER, "--dry-run")
    assert status == 0
    assert f"would make    OS user {NEW_USER}" in out
    assert "homes/ID (0700, kait-new)" in out
    assert out.endswith("Nothing was done: this was a dry run.\n")
    assert {one.method for one in nobody_yet.asked} == {"GET"}
    with pytest.raises(KeyError):
        pwd.getpwnam(NEW_USER)


def test_whoever_is_not_root_is_told_what_to_run(
    kai: Kai, nobody_yet: FakeDaemon, folders: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(os, "geteuid", lambda: 4711)
    monkeypatch.setattr("sys.argv", ["/opt/kai/bin/kai", *folders, "person", "add", "Ann Lee", "--os-user", NEW_USER])
    status, out, err = kai("person", "add", "Ann Lee", "--os-user", NEW_USER)
    assert (status, out) == (1, "")
    assert f"Run this: sudo /opt/kai/bin/kai {' '.join(folders)} person add 'Ann Lee' --os-user {NEW_USER}" in err
    assert nobody_yet.asked == []


def test_the_os_user_of_somebody_else_is_refused_before_anything_is_made(kai: Kai, fake: FakeDaemon) -> None:
    fake.canned["GET", "/v1/people"] = (200, [{**ANN, "name": "Bob", "principal": "p-bob", "os_user": NEW_USER}])
    fake.canned["GET", "/v1/channels"] = (200, [])
    status, _, err = kai("person", "add", "Ann", "--os-user", NEW_USER, "--dry-run")
    assert (status, f"'{NEW_USER}' is Bob's already" in err) == (1, True)


def test_what_could_not_be_written_is_told_and_is_a_failure(
    kai: Kai, nobody_yet: FakeDaemon, monkeypatch: pytest.MonkeyPatch
) -> None:
    if os.geteuid() != 0:
        pytest.skip("only root gets so far")
    for name in ("user", "folders", "allow"):
        monkeypatch.setattr(provision.Provision, name, lambda *_, **__: None)
    nobody_yet.canned["POST", "/v1/people"] = (201, ANN)
    nobody_yet.canned["PATCH", "/v1/people/p-ann"] = (200, {**ANN, "problem": "the spawner does not answer."})
    status, out, _ = kai("person", "add", "Ann", "--os-user", NEW_USER)
    assert (status, "But their first files could not be written: the spawner does not answer." in out) == (1, True)
    assert [one.body for one in nobody_yet.asked if one.method == "PATCH"] == [{"os_user": NEW_USER}]


def test_a_removal_tells_what_is_kept(kai: Kai, fake: FakeDaemon, tmp_path: Path) -> None:
    fake.canned["GET", "/v1/people"] = (200, [ANN])
    fake.canned["GET", "/v1/people/Ann"] = (200, {**ANN, "is_you": False, "home": "/state/homes/p-ann"})
    status, out, _ = kai("person", "remove", "Ann", "--dry-run")
    assert status == 0
    for line in ("would remove  person Ann", "kept          their messages", "--delete-os-user removes it"):
        assert line in out
    assert not [one for one in fake.asked if one.method == "DELETE"]
