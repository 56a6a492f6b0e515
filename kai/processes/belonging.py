"""Which run a process belongs to, by what it cannot change: its control group, or whose descendant it is."""

import re
from collections.abc import Mapping
from pathlib import Path

from kai.launcher.tree import process
from kai.model.ids import RunId

UNKNOWN = RunId("unknown")  # surely in a run, and nobody can say in which
_GROUP = re.compile(r"^0::.*/runs/run-([A-Za-z0-9_-]+)$", re.MULTILINE)


def run_in_group(pid: int, groups: str) -> RunId | None:
    """By the process's control group. `groups`: the folder that has the runs' groups, where it is known. Blocks.

    Where other users' processes are hidden from us, the groups' own lists tell.
    """
    try:
        if found := _GROUP.search(Path(f"/proc/{pid}/cgroup").read_text()):
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
    while pid > 1:
        if not root and pid in keepers:
            return keepers[pid]
        found = process(pid)
        if root and found is not None and found.parent == root:
            return keepers.get(pid, UNKNOWN)
        pid = found.parent if found else 0
    return None


def _words(file: Path) -> list[str]:
    try:
        return file.read_text().split()
    except OSError:  # the run has just ended
        return []
