"""Which folders: flag, then kai's own variables, then systemd's, then the user's; never one that another may write."""

import os
from pathlib import Path

import pytest

from kai.settings.problems import FolderError
from kai.settings.where import SOCKET_PATH_BYTES, Folders, find, marker, prepare


@pytest.fixture(autouse=True)
def _home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    for name in ("XDG_CONFIG_HOME", "XDG_DATA_HOME", "XDG_RUNTIME_DIR"):
        monkeypatch.delenv(name, raising=False)


def test_the_order_is_flag_then_own_variable_then_systemd_then_default(tmp_path: Path) -> None:
    systemd = {"CONFIGURATION_DIRECTORY": "/etc/kai:/etc/other", "STATE_DIRECTORY": "/var/lib/kai"}
    own = {**systemd, "KAI_CONFIG": "/own/config"}
    assert (find(env={}).config, find(env={}).config_from) == (tmp_path / "home/.config/kai", "default")
    assert find(env={}).state == tmp_path / "home/.local/share/kai"
    assert (find(env=systemd).config, find(env=systemd).config_from) == (Path("/etc/kai"), "$CONFIGURATION_DIRECTORY")
    assert find(env=systemd).state == Path("/var/lib/kai")
    assert (find(env=own).config, find(env=own).config_from) == (Path("/own/config"), "$KAI_CONFIG")
    assert (find("/flag", env=own).config, find("/flag", env=own).config_from) == (Path("/flag"), "flag")


@pytest.mark.parametrize("value", ["", "relative", ":"])
def test_an_empty_or_relative_folder_of_systemd_is_none(value: str) -> None:
    assert find(env={"RUNTIME_DIRECTORY": value}).runtime_from == "default"


def test_every_folder_is_absolute(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    folders = find("c", "s", env={"KAI_RUNTIME": "r"})
    assert (folders.config, folders.state, folders.runtime) == (tmp_path / "c", tmp_path / "s", tmp_path / "r")


def test_sockets_go_to_the_users_runtime_folder_when_it_is_theirs_alone(tmp_path: Path) -> None:
    (tmp_path / "xdg").mkdir(mode=0o700)
    assert find(env={"XDG_RUNTIME_DIR": str(tmp_path / "xdg")}).runtime == tmp_path / "xdg" / "kai"


def test_a_runtime_folder_that_others_may_write_is_not_used(tmp_path: Path) -> None:
    (tmp_path / "xdg").mkdir()
    (tmp_path / "xdg").chmod(0o777)
    runtime = find(env={"XDG_RUNTIME_DIR": str(tmp_path / "xdg")}).runtime
    assert tmp_path / "xdg" not in runtime.parents
    assert Path("/tmp") not in runtime.relative_to("/").parents or tmp_path in runtime.parents


def _folders(base: Path) -> Folders:
    return Folders(base / "config", base / "state", base / "run")


def test_the_folders_are_made_for_us_alone(tmp_path: Path) -> None:
    folders = _folders(tmp_path / "deep" / "er")
    prepare(folders)
    prepare(folders)
    assert folders.state.stat().st_mode & 0o777 == 0o700
    assert folders.runtime.stat().st_mode & 0o777 == 0o700
    assert not folders.config.exists()


def test_a_runtime_folder_that_is_a_link_is_refused(tmp_path: Path) -> None:
    (tmp_path / "elsewhere").mkdir()
    (tmp_path / "run").symlink_to("elsewhere")
    with pytest.raises(FolderError, match="a link or a file"):
        prepare(_folders(tmp_path))


def test_a_state_folder_may_be_a_link_to_another_disk(tmp_path: Path) -> None:
    (tmp_path / "disk").mkdir(mode=0o700)
    (tmp_path / "state").symlink_to("disk")
    prepare(_folders(tmp_path))


def test_a_folder_that_others_may_write_is_refused(tmp_path: Path) -> None:
    (tmp_path / "run").mkdir()
    (tmp_path / "run").chmod(0o770)
    with pytest.raises(FolderError, match="other users may write in it") as caught:
        prepare(_folders(tmp_path))
    assert caught.value.hint == f"chmod go-w {tmp_path}/run"


def test_a_folder_of_somebody_else_is_refused(tmp_path: Path) -> None:
    if os.getuid() != 0:
        pytest.skip("only root can give a folder away")
    (tmp_path / "run").mkdir(mode=0o700)
    os.chown(tmp_path / "run", 65534, 65534)
    with pytest.raises(FolderError, match="it belongs to user 65534, not to user 0"):
        prepare(_folders(tmp_path))


def test_a_folder_that_cannot_be_made_says_who_lacks_what(tmp_path: Path) -> None:
    (tmp_path / "state").touch()
    with pytest.raises(FolderError, match="state") as caught:
        prepare(Folders(tmp_path, tmp_path / "state" / "below", tmp_path / "run"))
    assert "cannot make this folder" in caught.value.sentence
    assert "$KAI_STATE" in caught.value.hint


def test_a_path_that_is_too_long_for_a_socket_is_refused_before_it_is_bound(tmp_path: Path) -> None:
    room = SOCKET_PATH_BYTES - len(os.fsencode(tmp_path / "people.sock"))
    fits = Folders(tmp_path, tmp_path, tmp_path / ("x" * (room - 1)))
    assert len(os.fsencode(fits.socket("people.sock"))) == SOCKET_PATH_BYTES
    with pytest.raises(FolderError, match="108 bytes are too long for a socket"):
        Folders(tmp_path, tmp_path, tmp_path / ("x" * room)).socket("people.sock")
    with pytest.raises(FolderError, match="too long"):  # counted in bytes, not in characters
        Folders(tmp_path, tmp_path, tmp_path / ("ä" * (room - 1))).socket("people.sock")


def test_the_kai_of_an_installed_service_finds_the_services_folders(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("sys.prefix", str(tmp_path))
    assert not find(env={}).is_of_service
    marker(tmp_path).parent.mkdir(parents=True)
    marker(tmp_path).touch()
    found = find(env={"XDG_RUNTIME_DIR": str(tmp_path)})
    assert (found.config, found.state, found.runtime) == (Path("/etc/kai"), Path("/var/lib/kai"), Path("/run/kai"))
    assert (found.config_from, found.is_of_service) == ("installed", True)
    own = find("c", tmp_path / "s", env={})
    assert (own.config_from, own.runtime_from, own.is_of_service) == ("flag", "default", False)
