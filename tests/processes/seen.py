"""What a test can see of processes and descriptors, from outside of kai."""

import os
import threading
import time
from collections.abc import Callable
from pathlib import Path

import anyio

LIMIT_S = 10.0


def is_alive(pid: int) -> bool:
    """A zombie is dead: where these tests run, nobody may collect orphans in time."""
    try:
        stat = Path(f"/proc/{pid}/stat").read_text()
    except (FileNotFoundError, ProcessLookupError):
        return False
    return stat.rpartition(")")[2].split()[0] not in "ZX"


def descriptors() -> set[str]:
    """Open descriptors of this process, with what they are."""
    found = set()
    for entry in Path("/proc/self/fd").iterdir():
        try:
            target = str(entry.readlink())
            if "onnxruntime" not in target:  # opened whenever it likes, by a library that another test has loaded
                found.add(f"{entry.name} {target}")
        except FileNotFoundError:  # the listing's own
            continue
    return found


def own_children() -> set[int]:
    """Children of this process, zombies included."""
    found = set()
    for entry in Path("/proc").iterdir():
        if entry.name.isdigit():
            try:
                parent = (entry / "stat").read_text().rpartition(")")[2].split()[1]
            except (FileNotFoundError, ProcessLookupError):
                continue
            if int(parent) == os.getpid():
                found.add(int(entry.name))
    return found


def threads() -> set[str]:
    """Threads of kai: not the idle workers of the event loop, which are shared and end with it, nor the test's own."""
    return {name for thread in threading.enumerate() if not (name := thread.name).startswith(("AnyIO", "pytest_"))}


async def eventually(condition: Callable[[], object], limit_s: float = LIMIT_S) -> float:
    """Wait until `condition()` holds; gives the seconds that took. Fails after `limit_s`."""
    start = time.monotonic()
    while not condition():
        assert time.monotonic() - start < limit_s, f"not within {limit_s} s"
        await anyio.sleep(0.005)
    return time.monotonic() - start


def pids_in(folder: Path) -> dict[str, int]:
    """Agents in these tests tell their pids by files named for what they are."""
    return {file.name: int(text) for file in folder.iterdir() if (text := file.read_text().strip())}
