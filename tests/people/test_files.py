"""Reading a file whose owner may have arranged to do harm: a state for everything, an exception for nothing."""

import errno
import os
import stat
import threading
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from kai.model.context import FileState, PersonFile
from kai.people.files import MAX_BYTES, deferred, read

ME = os.geteuid()


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    made = tmp_path / "preferences" / "p-1"
    made.mkdir(parents=True)
    return made


def descriptors() -> int:
    return len(list(Path("/proc/self/fd").iterdir()))


def look(path: Path, root: Path, owner_uid: int | None = ME) -> PersonFile:
    return read(path, root=root, owner_uid=owner_uid)


def test_a_regular_file_is_read_as_it_stands(folder: Path, tmp_path: Path) -> None:
    path = folder / "PREFERENCES.md"
    path.write_bytes("# Wünsche\r\n日本\n".encode())
    assert look(path, tmp_path) == PersonFile(str(path), FileState.PRESENT, "# Wünsche\r\n日本\n")


def test_a_byte_order_mark_is_dropped(folder: Path, tmp_path: Path) -> None:
    path = folder / "a"
    path.write_bytes(b"\xef\xbb\xbfhello")
    assert look(path, tmp_path).text == "hello"


def test_missing_and_empty_are_two_states(folder: Path, tmp_path: Path) -> None:
    assert look(folder / "a", tmp_path).state is FileState.MISSING
    assert look(tmp_path / "none" / "such" / "a", tmp_path).state is FileState.MISSING
    (folder / "b").write_text(" \n\n")
    assert look(folder / "b", tmp_path).state is FileState.EMPTY


def link_to_file(folder: Path, outside: Path) -> Path:
    (folder / "x").symlink_to(outside / "secret")
    return folder / "x"


def link_to_folder(folder: Path, outside: Path) -> Path:
    (folder / "sub").symlink_to(outside)
    return folder / "sub" / "secret"


def dangling_link(folder: Path, outside: Path) -> Path:
    (folder / "x").symlink_to(outside / "not there")
    return folder / "x"


def fifo(folder: Path, outside: Path) -> Path:
    os.mkfifo(folder / "x")
    return folder / "x"


def named_socket(folder: Path, outside: Path) -> Path:
    os.mknod(folder / "x", stat.S_IFSOCK | 0o600)
    return folder / "x"


def a_folder(folder: Path, outside: Path) -> Path:
    (folder / "x").mkdir()
    return folder / "x"


def hard_link(folder: Path, outside: Path) -> Path:
    (folder / "x").hardlink_to(outside / "secret")
    return folder / "x"


def below_a_file(folder: Path, outside: Path) -> Path:
    (folder / "x").write_text("file")
    return folder / "x" / "y"


def upwards(folder: Path, outside: Path) -> Path:
    return folder / ".." / ".." / "outside" / "secret"


def elsewhere(folder: Path, outside: Path) -> Path:
    return outside / "secret"


def with_nul(folder: Path, outside: Path) -> Path:
    return folder / "a\0b"


ARRANGED = (
    link_to_file,
    link_to_folder,
    dangling_link,
    fifo,
    named_socket,
    a_folder,
    hard_link,
    below_a_file,
    upwards,
    elsewhere,
    with_nul,
)


@pytest.mark.parametrize("arrange", ARRANGED, ids=lambda made: made.__name__)
def test_nothing_that_is_not_plainly_the_persons_own_file_is_read(
    arrange: Callable[[Path, Path], Path], tmp_path: Path
) -> None:
    root, outside = tmp_path / "state", tmp_path / "outside"
    folder = root / "preferences" / "p-1"
    folder.mkdir(parents=True)
    outside.mkdir()
    (outside / "secret").write_text("somebody else's")
    found = look(arrange(folder, outside), root)
    assert found.state is FileState.UNSAFE
    assert found.text == ""
    assert found.problem


def test_the_same_file_is_read_where_the_link_stands_above_the_trusted_root(tmp_path: Path) -> None:
    """The control: a link is refused for where it stands, not for being one."""
    (tmp_path / "real").mkdir()
    (tmp_path / "real" / "a").write_text("own")
    (tmp_path / "state").symlink_to(tmp_path / "real")
    assert look(tmp_path / "state" / "a", tmp_path / "state").text == "own"
    assert look(tmp_path / "state" / "a", tmp_path).state is FileState.UNSAFE


def test_a_file_of_another_owner_is_refused_and_says_whose_it_is(folder: Path, tmp_path: Path) -> None:
    path = folder / "a"
    path.write_text("x")
    found = look(path, tmp_path, owner_uid=ME + 1)
    assert found.state is FileState.UNSAFE
    assert f"uid {ME}" in found.problem
    assert look(path, tmp_path, owner_uid=None).state is FileState.PRESENT


def test_too_large_is_told_before_it_is_read(folder: Path, tmp_path: Path) -> None:
    path = folder / "a"
    path.write_bytes(b"x" * MAX_BYTES)
    assert look(path, tmp_path).state is FileState.PRESENT
    with path.open("ab") as file:
        file.truncate(1 << 40)  # sparse: a terabyte that takes no room
    found = look(path, tmp_path)
    assert found.state is FileState.OVERSIZED
    assert "128 KiB" in found.problem


def test_a_file_that_grows_while_it_is_read_stays_within_the_bound(
    folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = folder / "a"
    path.write_bytes(b"x" * 100)
    real = os.fstat

    def fstat_then_grow(fd: int) -> os.stat_result:
        facts = real(fd)
        with path.open("ab") as file:
            file.write(b"y" * 500)
        return facts

    with monkeypatch.context() as patch:
        patch.setattr(os, "fstat", fstat_then_grow)
        found = read(path, root=tmp_path, owner_uid=ME, max_bytes=200)
    assert found.state is FileState.OVERSIZED


def test_what_is_not_utf8_says_where(folder: Path, tmp_path: Path) -> None:
    path = folder / "a"
    path.write_bytes(b"fine \xff")
    found = look(path, tmp_path)
    assert found.state is FileState.MALFORMED
    assert "byte 5" in found.problem


@pytest.mark.parametrize("code", [errno.EACCES, errno.EIO, errno.EAGAIN, errno.ENAMETOOLONG, errno.EMFILE])
def test_not_allowed_is_never_taken_for_absent(
    code: int, folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(*_: object, **__: object) -> int:
        raise OSError(code, os.strerror(code))

    with monkeypatch.context() as patch:
        patch.setattr(os, "open", refuse)
        found = look(folder / "a", tmp_path)
    assert found.state is FileState.UNREADABLE
    assert found.problem


def test_a_name_with_anything_in_it_is_read_like_any_other(folder: Path, tmp_path: Path) -> None:
    for name in ("-rf", "a\nb", "\x1b[31m", "ünï", "日本", os.fsdecode(b"\xff\xfe")):
        (folder / name).write_text("x")
        assert look(folder / name, tmp_path).state is FileState.PRESENT


@pytest.fixture
def flipping(tmp_path: Path) -> Iterator[Path]:
    """A path that somebody turns from their own file into a link and back, as fast as they can."""
    path, own = tmp_path / "root" / "a", tmp_path / "own"
    path.parent.mkdir()
    (tmp_path / "secret").write_text("secret")
    done = threading.Event()

    def flip() -> None:
        while not done.is_set():
            own.write_text("mine")
            own.rename(path)
            own.symlink_to(tmp_path / "secret")
            own.rename(path)

    thread = threading.Thread(target=flip)
    thread.start()
    yield path
    done.set()
    thread.join()


def test_a_race_never_yields_what_lies_behind_the_link(flipping: Path) -> None:
    for _ in range(500):
        assert "secret" not in look(flipping, flipping.parent).text


def test_no_descriptor_is_left_open_whatever_the_file_is(tmp_path: Path) -> None:
    outside = tmp_path / "outside"
    outside.mkdir()
    (outside / "secret").write_text("x")
    before = descriptors()
    for number, arrange in enumerate(ARRANGED):
        folder = tmp_path / str(number)
        folder.mkdir()
        look(arrange(folder, outside), folder)
    assert descriptors() == before


def test_a_deferred_file_is_not_even_looked_at() -> None:
    assert deferred(Path("/nowhere/at/all")) == PersonFile("/nowhere/at/all", FileState.DEFERRED)
