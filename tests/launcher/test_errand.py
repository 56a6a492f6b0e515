"""The errand: what it does with one line of JSON, and what it does not fall for."""

import errno
import io
import json
import os
import signal
import socket
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from kai.launcher import errand

FLIPS = 10_000


def run(request: dict[str, Any], body: bytes = b"") -> tuple[dict[str, Any], bytes]:
    """One errand in this process: its answer and the bytes behind it."""
    out = io.BytesIO()
    errand.main(io.BytesIO(json.dumps(request).encode() + b"\n" + body), out)
    head, _, rest = out.getvalue().partition(b"\n")
    return json.loads(head), rest


def get(path: Path, root: Path, max_bytes: int = 1000) -> tuple[dict[str, Any], bytes]:
    return run({"do": "get", "path": str(path), "root": str(root), "owner_uid": os.geteuid(), "max_bytes": max_bytes})


def test_a_file_comes_back_byte_for_byte(tmp_path: Path) -> None:
    data = bytes(range(256)) * 3
    (tmp_path / "a").write_bytes(data)
    assert get(tmp_path / "a", tmp_path) == ({"state": "made", "size": len(data)}, data)


@pytest.mark.parametrize(
    ("arrange", "asked", "state"),
    [
        (lambda at: (at / "x").symlink_to("/etc/passwd"), "x", "unsafe"),
        (lambda at: (at / "d").symlink_to("/etc"), "d/passwd", "unsafe"),
        (lambda at: os.mkfifo(at / "x"), "x", "unsafe"),
        (lambda at: (at / "x").mkdir(), "x", "unsafe"),
        (lambda at: None, "../outside", "unsafe"),
        (lambda at: None, "a/./b", "unsafe"),
        (lambda at: None, "a//b", "unsafe"),
        (lambda at: None, "x", "missing"),
        (lambda at: (at / "x").write_bytes(b"1" * 1001), "x", "oversized"),
    ],
)
def test_what_is_not_plainly_a_file_below_the_root_is_a_state(
    tmp_path: Path, arrange: Callable[[Path], object], asked: str, state: str
) -> None:
    arrange(tmp_path)
    answer, rest = run(
        {"do": "get", "path": f"{tmp_path}/{asked}", "root": str(tmp_path), "owner_uid": None, "max_bytes": 1000}
    )
    assert (answer["state"], rest) == (state, b"")


def test_a_second_name_and_another_owner_are_refused(tmp_path: Path) -> None:
    (tmp_path / "a").write_text("x")
    asked = {"do": "get", "path": f"{tmp_path}/a", "root": str(tmp_path), "max_bytes": 9}
    assert run({**asked, "owner_uid": os.geteuid() + 1})[0]["state"] == "unsafe"
    (tmp_path / "b").hardlink_to(tmp_path / "a")
    assert "2 names" in run({**asked, "owner_uid": os.geteuid()})[0]["problem"]


FLIP = f"""
import os, sys
root, secret = sys.argv[1:]
for _ in range({FLIPS}):
    os.close(os.open(root + "/own", os.O_WRONLY | os.O_CREAT | os.O_TRUNC))
    os.rename(root + "/own", root + "/a")
    os.symlink(secret, root + "/link")
    os.rename(root + "/link", root + "/a")
"""


def test_a_name_that_is_turned_ten_thousand_times_never_gives_what_lies_behind_the_link(tmp_path: Path) -> None:
    """The attack: the owner renames a link to somebody's secret over a file of their own, again and again."""
    root, secret, seen = tmp_path / "root", tmp_path / "secret", set()
    root.mkdir()
    secret.write_text("secret")
    with subprocess.Popen([sys.executable, "-I", "-S", "-c", FLIP, root, secret]) as flipping:
        while flipping.poll() is None:
            try:
                seen.add(errand.contents(f"{root}/a", str(root), None, 100).decode())
            except errand.RefusedError as refused:
                seen.add(refused.state)
    assert flipping.returncode == 0
    assert seen <= {"", "missing", "unsafe"}
    assert {"", "unsafe"} <= seen  # both sides of the race were met


def test_a_new_file_is_private_and_what_is_there_stays(tmp_path: Path) -> None:
    asked = {"do": "put", "path": f"{tmp_path}/in/x/a.txt", "root": str(tmp_path), "size": 5}
    assert run(asked, b"hello")[0] == {"state": "made"}
    made = tmp_path / "in/x/a.txt"
    assert (made.read_text(), made.stat().st_mode & 0o777, made.parent.stat().st_mode & 0o777) == (
        "hello",
        0o600,
        0o700,
    )
    assert run(asked, b"other")[0] == {"state": "kept"}
    assert made.read_text() == "hello"


def test_nothing_is_written_through_a_link_and_no_half_file_is_left(tmp_path: Path) -> None:
    root, outside = tmp_path / "root", tmp_path / "outside"
    root.mkdir()
    outside.mkdir()
    (root / "in").symlink_to(outside)
    (root / "a").symlink_to(outside / "a")
    put = {"do": "put", "root": str(root), "size": 5}
    assert run({**put, "path": f"{root}/in/a"}, b"hello")[0]["state"] == "unsafe"
    assert run({**put, "path": f"{root}/a"}, b"hello")[0]["state"] == "kept"
    assert list(outside.iterdir()) == []
    answer = run({**put, "path": f"{root}/b"}, b"he")[0]
    assert (answer["state"], (root / "b").exists()) == ("unreadable", False)


def test_seeds_are_written_once_each(tmp_path: Path) -> None:
    files = [[f"{tmp_path}/a/{name}", f"{tmp_path}/a", name] for name in ("AGENTS.md", "x/y.json")]
    (tmp_path / "a").mkdir()
    assert run({"do": "seed", "files": files})[0]["states"] == ["made", "made"]
    assert run({"do": "seed", "files": files})[0]["states"] == ["kept", "kept"]
    assert (tmp_path / "a/x/y.json").read_text() == "x/y.json"


def test_old_files_go_and_their_folders_with_them(tmp_path: Path) -> None:
    old, new = tmp_path / "in/one/old", tmp_path / "in/two/new"
    for path in (old, new):
        path.parent.mkdir(parents=True)
        path.write_text("x")
    os.utime(old, (0, 0))
    (tmp_path / "outside").mkdir()
    (tmp_path / "in/three").symlink_to(tmp_path / "outside")
    answer = run({"do": "tidy", "path": f"{tmp_path}/in", "root": str(tmp_path), "days": 30})[0]
    assert answer["removed"] == 1
    assert sorted(path.name for path in (tmp_path / "in").iterdir()) == ["three", "two"]
    assert run({"do": "tidy", "path": f"{tmp_path}/gone", "root": str(tmp_path), "days": 30})[0]["state"] == "made"


def test_sizes_are_told_and_absent_is_none(tmp_path: Path) -> None:
    (tmp_path / "a").write_text("four")
    assert run({"do": "look", "paths": [f"{tmp_path}/a", f"{tmp_path}/b"]})[0]["sizes"] == [4, None]


def test_a_probe_tells_open_closed_and_absent_apart(tmp_path: Path) -> None:
    with socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET) as listening:
        listening.bind(str(tmp_path / "s"))
        listening.listen()
        tries = [
            ("list", str(tmp_path)), ("make", str(tmp_path)), ("read", str(tmp_path / "gone")),
            ("signal", str(os.getpid())), ("ask", str(tmp_path / "s")), ("ask", str(tmp_path / "t")), ("dance", "x"),
        ]  # fmt: skip
        seen = run({"do": "probe", "tries": tries})[0]["seen"]
    assert seen == ["done", "done", "absent", "done", "done", "absent", "unknown"]
    assert [path.name for path in tmp_path.iterdir()] == ["s"]


def test_not_allowed_is_denied(monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*_: object, **__: object) -> int:
        raise OSError(errno.EACCES, "no")

    with monkeypatch.context() as patch:
        patch.setattr(os, "open", refuse)
        assert run({"do": "probe", "tries": [("read", "/x"), ("write", "/x")]})[0]["seen"] == ["denied", "denied"]


@pytest.mark.parametrize("line", [b"", b"no json\n", b"{}\n", b'{"do": "dance"}\n', b'{"do": "get"}\n', b"[1]\n"])
def test_what_is_no_request_is_answered_as_such(line: bytes) -> None:
    out = io.BytesIO()
    errand.main(io.BytesIO(line), out)
    assert json.loads(out.getvalue())["state"] == "unreadable"


def test_an_errand_in_this_process_leaves_it_as_it_was() -> None:
    """A worker that ran one was killed by the next pipe that nobody read, whatever test it was at by then."""
    errand.main(io.BytesIO(b"{}\n"), io.BytesIO())
    assert signal.getsignal(signal.SIGPIPE) is signal.SIG_IGN
