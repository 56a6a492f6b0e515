"""A file is kept whole or not at all, under a name of ours, and shown under one that does no harm."""

import errno
import os
import stat
from collections.abc import AsyncIterator
from hashlib import sha256
from pathlib import Path

import anyio
import pytest
from hypothesis import given
from hypothesis import strategies as st

from kai.api import attachments
from kai.api.attachments import AttachmentFolder, harmless_name, harmless_type
from kai.model.errors import StoreError

pytestmark = pytest.mark.anyio


async def sent(*pieces: bytes) -> AsyncIterator[bytes]:
    for piece in pieces:
        yield piece


def content(path: str) -> bytes:
    return Path(path).read_bytes()


def found(path: str) -> os.stat_result:
    return Path(path).lstat()


def open_files() -> list[str]:
    return [str(link.resolve()) for link in Path("/proc/self/fd").iterdir()]


@pytest.fixture
def folder(tmp_path: Path) -> AttachmentFolder:
    owned = AttachmentFolder(tmp_path / "attachments")
    owned.prepare()
    return owned


async def test_a_file_is_kept_whole_under_the_name_of_its_content(folder: AttachmentFolder, tmp_path: Path) -> None:
    info = await folder.keep(sent(b"ab", b"", b"cd"), "photo.JPG", "image/jpeg")
    digest = sha256(b"abcd").hexdigest()
    assert (info.sha256, info.size_bytes, info.name, info.media_type) == (digest, 4, "photo.JPG", "image/jpeg")
    assert info.path == str(tmp_path / "attachments" / f"{digest}.jpg")
    assert content(info.path) == b"abcd"
    assert stat.S_IMODE(found(info.path).st_mode) == 0o600
    assert stat.S_IMODE(found(str(tmp_path / "attachments")).st_mode) == 0o700


async def test_an_empty_file_is_a_file(folder: AttachmentFolder) -> None:
    assert content((await folder.keep(sent(), "", "")).path) == b""


async def test_the_same_content_has_two_references_and_one_file_that_is_not_written_again(
    folder: AttachmentFolder,
) -> None:
    first = await folder.keep(sent(b"same"), "a.txt", "text/plain")
    before = found(first.path)
    second = await folder.keep(sent(b"same"), "b.txt", "text/plain")
    assert first.ref != second.ref
    assert first.path == second.path
    assert found(second.path).st_ino == before.st_ino


async def test_a_link_under_the_name_of_the_content_is_not_followed(folder: AttachmentFolder, tmp_path: Path) -> None:
    victim = tmp_path / "victim"
    victim.write_bytes(b"same")
    (tmp_path / "attachments" / sha256(b"same").hexdigest()).symlink_to(victim)
    info = await folder.keep(sent(b"same"), "", "")
    assert stat.S_ISREG(found(info.path).st_mode)
    assert victim.read_bytes() == b"same"


async def test_a_file_that_breaks_off_leaves_nothing(folder: AttachmentFolder, tmp_path: Path) -> None:
    async def breaks() -> AsyncIterator[bytes]:
        yield b"half"
        raise ConnectionResetError

    with pytest.raises(StoreError):
        await folder.keep(breaks(), "a", "")
    assert list((tmp_path / "attachments").iterdir()) == []


async def test_a_cancelled_upload_leaves_nothing_and_no_descriptor(folder: AttachmentFolder, tmp_path: Path) -> None:
    async def stalls() -> AsyncIterator[bytes]:
        yield b"x" * (2 * 1024 * 1024)
        scope.cancel()
        await anyio.sleep_forever()

    with anyio.CancelScope() as scope:
        await folder.keep(stalls(), "a", "")
    assert list((tmp_path / "attachments").iterdir()) == []
    assert not [link for link in open_files() if link.startswith(str(tmp_path))]


async def test_a_full_disk_is_said_with_what_to_do_and_leaves_nothing(
    folder: AttachmentFolder, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def full(_: int, __: bytes) -> None:
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    monkeypatch.setattr(attachments, "_write_all", full)
    with pytest.raises(StoreError, match="No space left") as caught:
        await folder.keep(sent(b"x"), "a", "")
    assert caught.value.hint
    assert list((tmp_path / "attachments").iterdir()) == []


def test_what_a_killed_daemon_left_half_written_is_dropped_and_the_rest_stays(tmp_path: Path) -> None:
    (tmp_path / ".part-xyz").write_bytes(b"half")
    (tmp_path / "abc.png").write_bytes(b"whole")
    AttachmentFolder(tmp_path).prepare()
    assert [entry.name for entry in tmp_path.iterdir()] == ["abc.png"]


@pytest.mark.parametrize(
    ("name", "shown"),
    [
        ("../../x", "x"),
        ("/etc/x", "x"),
        ("..\\..\\x.txt", "x.txt"),
        (".env", "env"),
        ("...", "file"),
        ("", "file"),
        ("a\0b\nc.txt", "abc.txt"),
        ("\u202egnp.exe", "gnp.exe"),
        ("\uff0e\uff0e\uff0fx", "x"),
        ("-rf", "rf"),
        ("~root", "root"),
        ("\ud800.txt", "?.txt"),
        ("Straße und 日本.pdf", "Straße und 日本.pdf"),
        ("a  b\u2028c", "a bc"),
    ],
)
def test_a_name_is_shown_without_what_could_do_harm(name: str, shown: str) -> None:
    assert harmless_name(name) == shown


@given(st.text(alphabet=st.characters(codec=None)))
def test_any_name_becomes_one_short_path_component(name: str) -> None:
    shown = harmless_name(name)
    assert 0 < len(shown.encode()) <= 120
    assert "/" not in shown
    assert "\\" not in shown
    assert shown.isprintable()
    assert shown[0] not in ".-~"


def test_a_long_name_keeps_its_suffix_and_whole_signs() -> None:
    shown = harmless_name("ä" * 300 + ".tar.gz")
    assert shown.endswith(".gz")
    assert set(shown.removesuffix(".gz")) <= set("ä.tar")


@pytest.mark.parametrize("name", ["CLAUDE.md", ".env", "AGENTS.md", "../CLAUDE.md", "settings.json"])
async def test_no_file_ever_stands_under_a_name_that_its_sender_chose(
    folder: AttachmentFolder, tmp_path: Path, name: str
) -> None:
    info = await folder.keep(sent(b"obey"), name, "text/markdown")
    stem, _, _ = Path(info.path).name.partition(".")
    assert stem == info.sha256
    assert Path(info.path).parent == tmp_path / "attachments"


@pytest.mark.parametrize("kind", ["", "text", "a/b/c", "text/plain\r\nx: y", "TEXT/plain", "text/" + "x" * 65])
def test_a_type_that_does_not_fit_into_a_header_becomes_plain_bytes(kind: str) -> None:
    assert harmless_type(kind) == "application/octet-stream"


def test_a_type_that_fits_stays() -> None:
    assert harmless_type("image/svg+xml") == "image/svg+xml"
