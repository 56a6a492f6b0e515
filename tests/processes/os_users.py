"""OS users for a test, made and removed by it; and a privileged spawner with a policy for them."""

import ctypes
import itertools
import json
import os
import pwd
import re
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest

from kai.processes.spawner import SpawnerLauncher

needs_root = pytest.mark.skipif(os.geteuid() != 0, reason="only root can make OS users")
SHIM = Path(__file__).resolve().parents[2] / "kai/launcher/shim.py"
PYTHON = "/usr/bin/python3"  # one that every user may run: the tests' own may lie in root's home
PROGRAMS = ["/bin/sh", "/bin/cat", "/bin/true", "/bin/pwd", "/usr/bin/env", "/bin/sleep", PYTHON]
_numbers = itertools.count()
_libc = ctypes.CDLL(None)


def _try(*command: str) -> None:
    """Another test may hold the lock of the user database at this moment."""
    for _ in range(100):
        done = subprocess.run(command, capture_output=True, text=True)
        if done.returncode == 0 or "lock" not in done.stderr:
            break
        time.sleep(0.05)
    assert done.returncode == 0, done.stderr


def sweep() -> None:
    """Remove what tests left behind that were killed themselves."""
    for entry in pwd.getpwall():
        if (found := re.fullmatch(r"kait(\d+)x\d+", entry.pw_name)) and not Path(f"/proc/{found[1]}").exists():
            _remove(entry)
    for folder in Path("/var/lib").glob("kai-test-*"):
        if not Path(f"/proc/{folder.name.split('-')[2]}").exists():
            for process in Path("/proc").glob("[0-9]*/cmdline"):
                with suppress(OSError):
                    if f"{folder}/".encode() in process.read_bytes():
                        os.kill(int(process.parent.name), signal.SIGKILL)
            shutil.rmtree(folder, ignore_errors=True)


def _remove(entry: pwd.struct_passwd) -> None:
    for left in _of_user(entry.pw_uid):
        os.kill(left, signal.SIGKILL)
    _try("userdel", "--force", entry.pw_name)
    shutil.rmtree(entry.pw_dir, ignore_errors=True)
    Path(f"/var/mail/{entry.pw_name}").unlink(missing_ok=True)


@contextmanager
def os_user(*options: str) -> Iterator[pwd.struct_passwd]:
    """A user with a home folder (0700) of its own."""
    name = f"kait{os.getpid()}x{next(_numbers)}"
    _try("useradd", "--create-home", "--user-group", "--shell", "/bin/sh", *options, name)
    try:
        entry = pwd.getpwnam(name)
        Path(entry.pw_dir).chmod(0o700)
        yield entry
    finally:
        _remove(entry)


def _of_user(uid: int) -> list[int]:
    found = []
    for entry in Path("/proc").iterdir():
        try:
            if entry.name.isdigit() and entry.stat().st_uid == uid:
                found.append(int(entry.name))
        except OSError:
            continue
    return found


@contextmanager
def root_folder() -> Iterator[Path]:
    """A folder that is root's all the way up, which everybody may enter: unlike pytest's own."""
    path = Path(tempfile.mkdtemp(prefix=f"kai-test-{os.getpid()}-", dir="/var/lib"))
    path.chmod(0o755)
    try:
        yield path
    finally:
        shutil.rmtree(path)


@dataclass
class Spawner:
    """A spawner of its own process. `folder` is root's."""

    folder: Path
    policy: dict[str, Any]
    process: subprocess.Popen[str] = field(init=False)

    def __post_init__(self) -> None:
        self.write(self.policy)
        self.start()

    @property
    def socket(self) -> Path:
        return self.folder / "spawner.sock"

    @property
    def file(self) -> Path:
        return self.folder / "spawner.json"

    def write(self, policy: Any) -> None:
        """Put another policy in place, as an installer does."""
        new = self.folder / "new.json"
        new.write_text(policy if isinstance(policy, str) else json.dumps(policy))
        new.chmod(0o644)
        new.rename(self.file)

    def start(self) -> None:
        command = [
            sys.executable,
            "-I",
            "-S",
            str(SHIM),
            "spawner",
            "--policy",
            str(self.file),
            "--socket",
            str(self.socket),
        ]
        self.process = subprocess.Popen(command, stderr=subprocess.PIPE, text=True)
        give_up_at = time.monotonic() + 15
        while not self.socket.exists() or self.socket.stat().st_mode & 0o777 != 0o660:
            assert self.process.poll() is None, self.process.communicate()
            assert time.monotonic() < give_up_at
            time.sleep(0.01)

    def end(self, number: int = signal.SIGTERM) -> str:
        """End it; what it said."""
        if self.process.poll() is None:
            self.process.send_signal(number)
        said = self.process.communicate(timeout=15)[1]
        self.socket.unlink(missing_ok=True)
        return said


@contextmanager
def spawner(daemon_user: str, users: list[str], programs: list[str], **more: Any) -> Iterator[Spawner]:
    with root_folder() as folder:
        policy = {"daemon_user": daemon_user, "users": users, "programs": programs, "min_uid": 1000, **more}
        one = Spawner(folder, policy)
        try:
            yield one
        finally:
            one.end()


def _as_thread(gid: int, uid: int) -> None:
    """Effective ids of this thread alone: the C library would change those of every thread, tests' own among them."""
    setresuid, setresgid = {"x86_64": (117, 119), "aarch64": (147, 149)}[os.uname().machine]
    order = ((setresgid, gid), (setresuid, uid)) if uid else ((setresuid, uid), (setresgid, gid))
    for number, value in order:
        assert _libc.syscall(number, -1, value, -1) == 0


class AsDaemon(SpawnerLauncher):
    """Connects as the daemon's user, which the test is not."""

    def __init__(self, path: Path, who: pwd.struct_passwd) -> None:
        super().__init__(path)
        self._who = who

    def dial(self) -> socket.socket:
        _as_thread(self._who.pw_gid, self._who.pw_uid)
        try:
            return super().dial()
        finally:
            _as_thread(0, 0)


@dataclass
class Machine:
    """A machine with a daemon's user, two persons and a spawner."""

    daemon: pwd.struct_passwd
    alice: pwd.struct_passwd
    bob: pwd.struct_passwd
    spawner: Spawner


@contextmanager
def a_machine(programs: list[str], **more: Any) -> Iterator[Machine]:
    sweep()
    with ExitStack() as held:
        daemon, alice, bob = (held.enter_context(os_user()) for _ in range(3))
        one = held.enter_context(spawner(daemon.pw_name, [alice.pw_name, bob.pw_name], programs, **more))
        own = [str(one.folder / f"programs/{name}") for name in ("agent", "agent/agent")]
        one.write({**one.policy, "programs": [*programs, *own]})
        yield Machine(daemon, alice, bob, one)


class ForAlice:
    """What the suite of the launchers is told where runs are Alice's. The module has a fixture `machine`."""

    @pytest.fixture
    def user(self, machine: Machine) -> str:
        return machine.alice.pw_name

    @pytest.fixture
    def home(self, machine: Machine) -> str:
        return machine.alice.pw_dir

    @pytest.fixture
    def tmp_path(self, machine: Machine) -> Iterator[Path]:
        """The person's own."""
        path = Path(machine.alice.pw_dir) / "work"
        path.mkdir()
        os.chown(path, machine.alice.pw_uid, machine.alice.pw_gid)
        yield path
        shutil.rmtree(path)

    @pytest.fixture
    def programs(self, machine: Machine) -> Iterator[Path]:
        path = machine.spawner.folder / "programs"
        path.mkdir()
        yield path
        shutil.rmtree(path)
