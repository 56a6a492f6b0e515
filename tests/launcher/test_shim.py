"""The entry of a keeper: by path, isolated, in a checkout and in an installed package, and small."""

import shutil
import socket
import subprocess
import sys
from pathlib import Path

import pytest

from kai.launcher.messages import Gone, Kill, Spawn, Spawned, decode, encode
from kai.resources import module_file


def start(shim: Path, argv: list[str]) -> tuple["subprocess.Popen[bytes]", socket.socket]:
    ours, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
    process = subprocess.Popen(
        [sys.executable, "-I", "-S", str(shim), str(theirs.fileno())],
        pass_fds=[theirs.fileno()],
        env={},
        cwd="/",
        stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
    )
    theirs.close()
    ours.settimeout(15)
    ours.send(encode(Spawn("r-1", argv, {}, "/")))
    return process, ours


def test_it_needs_nothing_of_kai_but_its_own_folder(tmp_path: Path) -> None:
    """As a wheel installs it; no other package is there, and none of kai's but the launcher."""
    folder = tmp_path / "a b" / "site-packages" / "kai"
    shutil.copytree(module_file("launcher"), folder / "launcher", ignore=shutil.ignore_patterns("__pycache__"))
    (folder / "__init__.py").write_text("")
    process, channel = start(folder / "launcher/shim.py", ["/bin/true"])
    assert isinstance(decode(channel.recv(9999)), Spawned)
    channel.close()
    assert process.communicate(timeout=15)[1] == b""


def test_its_folder_cannot_stand_in_for_the_standard_library(tmp_path: Path) -> None:
    folder = tmp_path / "kai"
    shutil.copytree(module_file("launcher"), folder / "launcher", ignore=shutil.ignore_patterns("__pycache__"))
    (folder / "__init__.py").write_text("")
    for name in ("json", "signal", "ctypes"):
        (tmp_path / f"{name}.py").write_text("raise SystemExit('not this one')")
    process, channel = start(folder / "launcher/shim.py", ["/bin/true"])
    assert isinstance(decode(channel.recv(9999)), Spawned)
    channel.close()
    assert process.communicate(timeout=15)[1] == b""


def test_it_stays_small_and_loads_little() -> None:
    process, channel = start(module_file("launcher/shim.py"), ["/bin/sleep", "1000"])
    assert isinstance(decode(channel.recv(9999)), Spawned)
    status = Path(f"/proc/{process.pid}/status").read_text().splitlines()
    kib = {line.split(":")[0]: int(line.split()[1]) for line in status if line.startswith("Rss")}
    assert kib["RssAnon"] < 8 * 1024
    channel.send(encode(Kill("r-1", 9, tree=True)))
    while not isinstance(decode(channel.recv(9999)), Gone):
        pass
    process.communicate(timeout=15)
    channel.close()


@pytest.mark.parametrize("module", ["dataclasses", "inspect", "asyncio", "socket", "subprocess", "pathlib", "logging"])
def test_heavy_modules_stay_out(module: str) -> None:
    package = str(module_file("launcher").parent.parent)
    code = f"import sys; sys.path.append({package!r}); import kai.launcher.keeper; print({module!r} in sys.modules)"
    said = subprocess.run([sys.executable, "-I", "-S", "-c", code], capture_output=True, text=True, check=True).stdout
    assert said == "False\n"
