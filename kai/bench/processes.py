"""The processes that are measured: a daemon of kai on folders of its own, and the baseline's."""

import os
import re
import signal
import subprocess
import sys
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from kai.bench.raw import Connection, RawError

READY_S = 60.0
END_S = 30.0
_LOOK_EVERY_S = 0.001
_KIB = 1024


@dataclass(frozen=True, slots=True)
class House:
    """Folders of a daemon that is measured, below `root`."""

    root: Path

    @property
    def socket(self) -> Path:
        return self.root / "run" / "people.sock"

    @property
    def environment(self) -> dict[str, str]:
        """For a process that shall find these folders and nothing of the user's own."""
        own = {f"KAI_{name.upper()}": str(self.root / folder) for name, folder in _FOLDERS.items()}
        return {**plain_environment(), **own}

    def prepare(self, more: str = "") -> None:
        """Make the configuration: the bundled agent, and nothing asked; `more` are further lines of it."""
        folder = self.root / "config"
        folder.mkdir(mode=0o700, parents=True)
        (folder / "kai.yaml").write_text(f"backend: offline\npermissions: bypass\n{more}")


def plain_environment() -> dict[str, str]:
    """Our own, in which what was compiled is kept, as an installation has it: nothing is measured but its use."""
    return {name: value for name, value in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"}


_FOLDERS = {"config": "config", "state": "state", "runtime": "run"}
SERVE = (sys.executable, "-m", "kai", "serve")


@contextmanager
def process(argv: Sequence[str], environment: dict[str, str], log: Path) -> Iterator["subprocess.Popen[bytes]"]:
    """A process whose words go to the file `log`; ended by SIGTERM, and killed when it does not end."""
    with log.open("ab") as words:
        child = subprocess.Popen(argv, env=environment, stdin=subprocess.DEVNULL, stdout=words, stderr=words)
    try:
        yield child
    finally:
        child.send_signal(signal.SIGTERM)
        try:
            child.wait(END_S)
        except subprocess.TimeoutExpired:
            child.kill()
            child.wait()


@contextmanager
def daemon(house: House) -> Iterator["subprocess.Popen[bytes]"]:
    """A daemon on `house` that answers."""
    with process(SERVE, house.environment, house.root / "log") as child:
        until_ready(child, house.socket, house.root / "log")
        yield child


@contextmanager
def bare_server(root: Path, *more: str) -> Iterator[tuple["subprocess.Popen[bytes]", Path]]:
    """The baseline's server that answers, and its socket; `more` are further arguments of it."""
    socket, log = root / "bare.sock", root / "bare.log"
    argv = (sys.executable, "-m", "kai.bench.bare_server", str(socket), *more)
    with process(argv, plain_environment(), log) as child:
        until_ready(child, socket, log)
        yield child, socket
    socket.unlink(missing_ok=True)


def until_ready(child: "subprocess.Popen[bytes]", socket: Path, log: Path) -> None:
    """Return when ``/healthz`` answers on `socket`. Raises `RawError` when `child` ends before or it takes too long."""
    limit = time.monotonic() + READY_S
    while time.monotonic() < limit and child.poll() is None:
        try:
            with Connection(socket) as connection:
                connection.ask("GET", "/healthz")
                return
        except OSError:
            time.sleep(_LOOK_EVERY_S)
    raise RawError(f"{' '.join(map(str, child.args))} did not come up: {log.read_text(errors='replace')[-2000:]}")  # type: ignore[arg-type]


def pss_bytes(pid: int) -> int:
    """Memory of a process, what it shares with others counted in proportion."""
    rollup = Path(f"/proc/{pid}/smaps_rollup").read_text()
    found = re.search(r"^Pss:\s+(\d+) kB", rollup, re.MULTILINE)
    assert found is not None
    return int(found[1]) * _KIB
