"""Which run a process belongs to, by what it cannot change: its control group, or whose descendant it is."""

import os
import re
from collections.abc import Mapping
from pathlib import Path

from kai.launcher.tree import process
from kai.model.ids import RunId

UNKNOWN = RunId("unknown")  # surely in a run, and nobody can say in which
_GROUP_FILE = "/proc/{}/cgroup"
_TRIES = 3
_TICK_S = 1 / os.sysconf("SC_CLK_TCK")
_GROUP = re.compile(r"^0::.*/runs/run-([A-Za-z0-9_-]+)$", re.MULTILINE)


def run_in_group(pid: int, groups: str) -> RunId | None:
    """By the process's control group. `groups`: the folder that has the runs' groups, where it is known. Blocks.

    Where other users' processes are hidden from us, the groups' own lists tell.
    """
    try:
        if found := _GROUP.search(Path(_GROUP_FILE.format(pid)).read_text()):
            return RunId(found[1])
    except OSError:
        for listing in Path(groups).glob("run-*/cgroup.procs") if groups else ():
            if str(pid) in _words(listing):
                return RunId(listing.parent.name.removeprefix("run-"))
    return None


def run_below(pid: int, keepers: Mapping[int, RunId], root: int = 0) -> RunId | None:
    """By its ancestors: a keeper has every process of its run below it, orphans too. Blocks.

    `root` is a process whose children are all keepers, also those that `keepers` does not know yet; 0: there is none.
    """
    for _ in range(_TRIES):  # a parent that ends during the look has left its children to the keeper
        above: int | None = pid
        while above is not None and above > 1:
            if not root and above in keepers:
                return keepers[above]
            found = process(above)
            if root and found is not None and found.parent == root:
                return keepers.get(above, UNKNOWN)
            above = found.parent if found else None
        if above is not None:
            return None
    return None


def began_after(pid: int, at_s: float) -> bool:
    """Whether the process began later than `at_s` (seconds since boot): its pid was another's then. Blocks."""
    try:
        fields = Path(f"/proc/{pid}/stat").read_bytes().rpartition(b")")[2].split()
    except OSError:
        return False  # hidden, or gone: others see to that
    return int(fields[19]) * _TICK_S > at_s + _TICK_S


def _words(file: Path) -> list[str]:
    try:
        return file.read_text().split()
    except OSError:  # the run has just ended
        return []
