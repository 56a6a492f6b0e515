"""Sockets are never open wider than they shall be, and one that works is never taken from its owner."""

import os
import socket
import stat
from pathlib import Path

import pytest

from kai.api.sockets import bind
from kai.settings.problems import FolderError


@pytest.mark.parametrize("umask", [0o000, 0o022, 0o077])
def test_a_socket_is_for_its_owner_alone_whatever_the_umask(tmp_path: Path, umask: int) -> None:
    before = os.umask(umask)
    try:
        bound = bind(tmp_path / "people.sock")
    finally:
        os.umask(before)
    with bound.listener:
        assert stat.S_IMODE(bound.path.lstat().st_mode) == 0o600


def test_a_group_may_connect_when_it_is_named(tmp_path: Path) -> None:
    with bind(tmp_path / "people.sock", os.getgid()).listener:
        found = (tmp_path / "people.sock").lstat()
        assert (stat.S_IMODE(found.st_mode), found.st_gid) == (0o660, os.getgid())


def test_the_socket_has_its_final_mode_before_anybody_can_see_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    seen: list[tuple[str, int]] = []
    rename = Path.rename

    def watched(self: Path, target: Path) -> Path:
        seen.append((self.name, stat.S_IMODE(self.lstat().st_mode)))
        assert not target.exists()
        return rename(self, target)

    monkeypatch.setattr(Path, "rename", watched)
    with bind(tmp_path / "people.sock", os.getgid()).listener:
        assert seen == [("people.new", 0o660)]


def test_a_dead_daemons_socket_is_replaced_and_takes_connections(tmp_path: Path) -> None:
    bind(tmp_path / "people.sock").listener.close()
    with bind(tmp_path / "people.sock").listener, socket.socket(socket.AF_UNIX) as peer:
        peer.connect(str(tmp_path / "people.sock"))
    assert sorted(entry.name for entry in tmp_path.iterdir()) == ["people.sock"]


@pytest.mark.parametrize("kind", ["file", "folder", "link"])
def test_something_that_is_no_socket_is_never_removed(tmp_path: Path, kind: str) -> None:
    path = tmp_path / "people.sock"
    match kind:
        case "file":
            path.write_text("precious")
        case "folder":
            path.mkdir()
        case _:
            path.symlink_to(tmp_path / "elsewhere")
    with pytest.raises(FolderError, match="no socket"):
        bind(path)
    assert os.path.lexists(path)


def test_a_folder_that_is_not_there_is_named(tmp_path: Path) -> None:
    with pytest.raises(FolderError, match=str(tmp_path / "gone")):
        bind(tmp_path / "gone" / "people.sock")


def test_the_file_is_removed_at_the_end_but_not_when_it_is_another(tmp_path: Path) -> None:
    first = bind(tmp_path / "people.sock")
    with first.listener, bind(tmp_path / "people.sock").listener:
        first.remove()
        assert (tmp_path / "people.sock").exists()
    second = bind(tmp_path / "people.sock")
    with second.listener:
        second.remove()
        second.remove()
    assert not (tmp_path / "people.sock").exists()


def test_the_services_socket_is_for_whoever_this_machine_knows(tmp_path: Path) -> None:
    with bind(tmp_path / "people.sock", for_all=True).listener:
        assert stat.S_IMODE((tmp_path / "people.sock").lstat().st_mode) == 0o666
