"""A machine of our own to cut the power of, or to change the clock of: User-Mode Linux on the files of this one."""

import os
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
INIT = """#!/bin/sh
export HOME=/root PATH=/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin LC_ALL=C.UTF-8 PYTHONDONTWRITEBYTECODE=1
mount -t proc proc /proc
mount -t sysfs sys /sys
mount -t tmpfs tmpfs /tmp
mkdir /tmp/disk /tmp/share
mount -t hostfs -o {share} none /tmp/share
mount -t ext4 /dev/ubda /tmp/disk || echo "no disk" >/tmp/share/failed
ip link set lo up
cd {checkout}
{python} -m tests.faults.guest {play} >/tmp/share/out 2>&1 || echo "failed: $?" >>/tmp/share/failed
umount /tmp/disk
halt -f -p
"""


def linux() -> str:
    """The program. Skips the test where it cannot be had."""
    cache = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "kai-uml"
    kept = cache / "usr/bin/linux.uml"
    if found := shutil.which("linux.uml") or (str(kept) if kept.is_file() else None):
        return found
    if os.geteuid():
        pytest.skip("only root can play a machine of its own here")
    cache.mkdir(parents=True, exist_ok=True)
    done = subprocess.run(["apt-get", "download", "-qq", "user-mode-linux"], cwd=cache, capture_output=True, text=True)
    package = next(cache.glob("user-mode-linux_*.deb"), None)
    if package is None:
        pytest.skip(f"User-Mode Linux cannot be had: {done.stderr.strip()[-200:] or 'no such package'}")
    subprocess.run(["dpkg", "-x", package, cache], check=True)
    package.unlink()
    return str(kept)


class Machine:
    """Boots again and again on the same disk. `share` is seen inside as ``/tmp/share``; what is written there stays."""

    def __init__(self, folder: Path) -> None:
        self._linux = linux()
        self.folder = folder
        self.share = folder / "share"
        self.share.mkdir()
        self._disk = folder / "disk.img"
        with self._disk.open("wb") as disk:
            disk.truncate(400 * 1024 * 1024)
        subprocess.run(["mkfs.ext4", "-q", "-F", self._disk], check=True)

    @contextmanager
    def on(self, play: str) -> Iterator["subprocess.Popen[bytes]"]:
        """A boot that plays one part of ``tests.faults.guest``; at the end its power is cut if it still runs."""
        init = self.folder / "init"
        init.write_text(INIT.format(share=self.share, checkout=ROOT, python=sys.executable, play=play))
        init.chmod(0o755)
        how = ["root=/dev/root", "rootfstype=hostfs", "rootflags=/", "ro", f"ubd0={self._disk}", "mem=768M"]
        how += [f"init={init}", "con=null", "con0=fd:0,fd:1", "quiet", f"umid=kai{os.getpid()}"]
        with (self.folder / f"console-{play}").open("wb") as console:
            machine = subprocess.Popen(
                [self._linux, *how], stdin=subprocess.DEVNULL, stdout=console, stderr=console, start_new_session=True
            )
        try:
            yield machine
        finally:
            cut_the_power(machine.pid)
            machine.wait()

    def runs_to_its_end(self, play: str, limit_s: float) -> None:
        with self.on(play) as machine:
            machine.wait(limit_s)
        failed = self.share / "failed"
        assert not failed.exists(), failed.read_text() + (self.share / "out").read_text()[-3000:]

    def until(self, machine: "subprocess.Popen[bytes]", condition: Callable[[], bool], limit_s: float) -> None:
        end = time.monotonic() + limit_s
        while not condition():
            assert time.monotonic() < end, (self.share / "out").read_text()[-3000:]
            assert machine.poll() is None, (self.share / "out").read_text()[-3000:]
            time.sleep(0.1)


def cut_the_power(pid: int) -> None:
    """All of the machine at once: nothing is written any more."""
    try:
        os.killpg(pid, signal.SIGKILL)
    except ProcessLookupError:
        return
