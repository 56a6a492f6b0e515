"""A person's folders are packed whole and unpacked whole, and nobody's tricks reach anything beside them."""

import io
import os
import random
import socket
import tarfile
from contextlib import suppress
from pathlib import Path

import pytest

from kai.launcher import archive

MIB = 1024 * 1024


def packed(roots: dict[str, str], max_bytes: int = MIB) -> tuple[bytes, list[str]]:
    out = io.BytesIO()
    left_out = archive.pack(roots, out, max_bytes)
    return out.getvalue(), left_out


def tree(folder: Path) -> dict[str, tuple[int, bytes]]:
    """Mode and content (or link) of everything below a folder."""
    found = {}
    for path in sorted(folder.rglob("*")):
        facts = path.lstat()
        held = os.fsencode(path.readlink()) if path.is_symlink() else path.read_bytes() if path.is_file() else b""
        found[str(path.relative_to(folder))] = (facts.st_mode & 0o777, held)
    return found


@pytest.fixture
def home(tmp_path: Path) -> Path:
    home = tmp_path / "home"
    (home / "deep" / "er").mkdir(parents=True)
    (home / "AGENTS.md").write_text("who I am")
    (home / "deep" / "er" / os.fsdecode(b"caf\xe9 \n -rf \x1b")).write_bytes(random.Random(1).randbytes(300_000))
    (home / "script").write_text("#!/bin/sh\n")
    (home / "script").chmod(0o755)
    (home / "link").symlink_to("/etc/passwd")
    (home / "closed").mkdir()
    (home / "closed" / "in it").touch()
    (home / "closed").chmod(0o500)
    return home


def test_what_was_packed_is_unpacked_with_modes_links_and_any_name(home: Path, tmp_path: Path) -> None:
    data, left_out = packed({"homes/p-1": str(home)})
    assert left_out == []
    target = tmp_path / "target"
    (target / "homes").mkdir(parents=True)
    owned: list[str] = []
    archive.unpack(io.BytesIO(data), str(target), {"homes/p-1"}, owned.append)
    assert tree(target / "homes" / "p-1") == tree(home)
    assert len(owned) == len(tree(home)) + 1
    (target / "homes" / "p-1" / "closed").chmod(0o700)
    (home / "closed").chmod(0o700)


def test_what_is_no_file_too_large_or_unreadable_is_left_out_and_named(home: Path) -> None:
    os.mkfifo(home / "fifo")
    with socket.socket(socket.AF_UNIX) as listener:
        os.chdir(home)
        listener.bind("socket")
        with (home / "sparse").open("wb") as sparse:
            sparse.truncate(1 << 40)
        data, left_out = packed({"homes/p-1": str(home), "homes/gone": str(home / "nowhere")})
    os.chdir("/")
    said = "\n".join(left_out)
    assert len(left_out) == 4
    for name in ("'homes/p-1/fifo'", "'homes/p-1/socket'", "'homes/p-1/sparse'", "'homes/gone'"):
        assert name in said
    assert len(data) < MIB


def test_a_thousand_things_left_out_are_counted(tmp_path: Path) -> None:
    for number in range(120):
        os.mkfifo(tmp_path / f"{number}")
    _, left_out = packed({"x": str(tmp_path)})
    assert len(left_out) == 51
    assert left_out[-1] == "… and 70 more"


def test_a_nest_without_end_is_cut_and_its_rest_named(tmp_path: Path) -> None:
    at = tmp_path
    for _ in range(archive.MAX_DEPTH + 3):
        at = at / "d"
    at.mkdir(parents=True)
    _, left_out = packed({"x": str(tmp_path)})
    assert len(left_out) == 1
    assert "folders deep" in left_out[0]


def test_a_file_that_shrinks_while_it_is_read_does_not_spoil_the_rest(home: Path, tmp_path: Path) -> None:
    class Shrinking(io.BytesIO):
        def write(self, data: bytes, /) -> int:  # type: ignore[override]
            (home / "AGENTS.md").write_text("")
            return super().write(data)

    (home / "AGENTS.md").write_bytes(b"x" * 500_000)
    out = Shrinking()
    assert "shorter" in archive.pack({"p": str(home)}, out, MIB)[0]
    archive.unpack(io.BytesIO(out.getvalue()), str(tmp_path), {"p"})
    assert (tmp_path / "p" / "script").read_text() == "#!/bin/sh\n"


def test_a_full_disk_is_the_callers_affair(home: Path) -> None:
    class Full(io.BytesIO):
        def write(self, _: object, /) -> int:
            raise OSError(28, "No space left on device")

    with pytest.raises(OSError, match="No space"):
        archive.pack({"p": str(home)}, Full(), MIB)


def member(name: str, kind: bytes = tarfile.REGTYPE, link: str = "", size: int = 0) -> tarfile.TarInfo:
    info = tarfile.TarInfo(name)
    info.type, info.linkname, info.size = kind, link, size
    return info


BAD = {
    "a parent": [member("p/../../evil")],
    "an absolute name": [member("/tmp/evil")],
    "beside the top": [member("other", tarfile.DIRTYPE)],
    "the neighbour": [member("pp", tarfile.DIRTYPE)],
    "through a link": [member("p", tarfile.DIRTYPE), member("p/out", tarfile.SYMTYPE, "/tmp"), member("p/out/evil")],
    "a link as the top": [member("p", tarfile.SYMTYPE, "/tmp"), member("p/evil")],
    "a hard link": [member("p", tarfile.DIRTYPE), member("p/x", tarfile.LNKTYPE, "/etc/passwd")],
    "a device": [member("p", tarfile.DIRTYPE), member("p/x", tarfile.CHRTYPE)],
    "twice the same": [member("p", tarfile.DIRTYPE), member("p/x"), member("p/x")],
    "a folder over a file": [member("p", tarfile.DIRTYPE), member("p/x"), member("p/x", tarfile.DIRTYPE)],
}


@pytest.mark.parametrize("what", BAD)
def test_nothing_is_unpacked_outside(what: str, tmp_path: Path) -> None:
    data = io.BytesIO()
    with tarfile.open(fileobj=data, mode="w") as tar:
        for info in BAD[what]:
            tar.addfile(info, io.BytesIO(b"") if info.isreg() else None)
    data.seek(0)
    (tmp_path / "in").mkdir()
    with pytest.raises(archive.BadArchiveError):
        archive.unpack(data, str(tmp_path / "in"), {"p"})
    assert [path.name for path in tmp_path.iterdir()] == ["in"]
    assert not Path("/tmp/evil").exists()


def test_random_damage_is_refused_or_harmless(home: Path, tmp_path: Path) -> None:
    data, _ = packed({"p": str(home)})
    dice = random.Random(7)
    for number in range(30):
        spoiled = bytearray(data[: dice.randrange(len(data))] if number % 3 else data)
        for _ in range(dice.randrange(1, 5)):
            spoiled[dice.randrange(len(spoiled))] = dice.randrange(256)
        target = tmp_path / f"t{number}"
        target.mkdir()
        with suppress(archive.BadArchiveError, OSError, ValueError):
            archive.unpack(io.BytesIO(bytes(spoiled)), str(target), {"p"})
        assert {path.name for path in target.iterdir()} <= {"p"}
