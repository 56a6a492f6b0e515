"""Control groups, one a run: the whole tree ends by one write, limits hold, and no process can leave its own.

Version 2 only. Where the machine has none, or none that may be written, everything goes on by the process tree alone.
"""

import os
from contextlib import suppress

from kai.launcher.messages import RefusedError

OWN_NAME = "kai-spawner"
_CONTROLLERS = ("memory", "pids", "cpu")


class Group:
    """The group of one run. No method raises: a group that is gone has no processes."""

    def __init__(self, path: str) -> None:
        self.path = path

    def join(self) -> None:
        """Put this process into it. Raises `OSError`."""
        _write(f"{self.path}/cgroup.procs", "0")

    def pids(self) -> list[int]:
        return [int(pid) for pid in lines(f"{self.path}/cgroup.procs")]

    def kill(self) -> list[int]:
        """Kill all that is in it, whoever forks meanwhile; gives who was there."""
        there = self.pids()
        with suppress(OSError):
            _write(f"{self.path}/cgroup.kill", "1")
        return there

    def oom_kills(self) -> int:
        """How many of its processes the kernel has killed for lack of memory."""
        for line in lines(f"{self.path}/memory.events"):
            if line.startswith("oom_kill "):
                return int(line.split()[1])
        return 0

    def remove(self) -> bool:
        """False while something is left in it."""
        try:
            os.rmdir(self.path)  # noqa: PTH106
        except FileNotFoundError:
            pass
        except OSError:
            return False
        return True


class Groups:
    """`root`: the folder of the runs' groups, "" where there are none."""

    def __init__(self, base: str = "", *, is_ours: bool = False) -> None:
        self.root = f"{base}/runs" if base else ""
        self._base, self._is_ours = base, is_ours

    def make(self, run: str, limits: dict[str, int]) -> Group | None:
        """The group of a run that is about to start; None where there can be none. Raises `RefusedError`."""
        if not self.root:
            return None
        group = Group(f"{self.root}/run-{run}")
        try:
            _make(group.path)
        except FileExistsError:
            raise RefusedError("bad", "there is a control group of that name already") from None
        except OSError:
            return None
        for name, file in (("memory_bytes", "memory.max"), ("pids", "pids.max")):
            if name in limits:
                with suppress(OSError):  # the machine has no such controller: doctor says so
                    _write(f"{group.path}/{file}", str(limits[name]))
        return group

    def clear(self) -> None:
        """End what a former spawner left behind."""
        for name in _listed(self.root):
            group = Group(f"{self.root}/{name}")
            group.kill()
            group.remove()

    def close(self) -> None:
        """Remove the folders that were made for this spawner alone."""
        if self._is_ours:
            self.clear()
            for folder in (self.root, self._base):
                with suppress(OSError):
                    os.rmdir(folder)  # noqa: PTH106


def prepare() -> Groups:
    """The groups of this process's runs: below its own group, which the service manager has delegated to it.

    A process in the root group (a container, a test) makes a folder of its own there instead and stays where it is.
    """
    mount = _mount()
    own = next((line[3:] for line in lines("/proc/self/cgroup") if line.startswith("0::")), "")
    if not mount or not own:
        return Groups()
    is_root = own == "/"
    base = f"{mount}/{OWN_NAME}-{os.getpid()}" if is_root else mount + own
    groups = Groups(base, is_ours=is_root)
    try:
        for folder in (base, groups.root):
            with suppress(FileExistsError):
                _make(folder)
        if is_root:
            _clear_dead(mount)
        else:  # a group with members may not hand controllers on
            with suppress(FileExistsError):
                _make(f"{base}/supervisor")
            _write(f"{base}/supervisor/cgroup.procs", "0")
    except OSError:
        groups.close()
        return Groups()
    for controller in _CONTROLLERS:
        for folder in (base, groups.root):
            with suppress(OSError):
                _write(f"{folder}/cgroup.subtree_control", f"+{controller}")
    groups.clear()
    return groups


def _make(folder: str) -> None:
    """Everybody may look into it: where processes are hidden from the daemon, it finds them here."""
    os.mkdir(folder)  # noqa: PTH102
    os.chmod(folder, 0o755)  # noqa: PTH101, S103 - it holds nothing but pids


def _clear_dead(mount: str) -> None:
    for name in _listed(mount):
        pid = name.removeprefix(f"{OWN_NAME}-")
        if pid != name and not os.path.exists(f"/proc/{pid}"):  # noqa: PTH110
            Groups(f"{mount}/{name}", is_ours=True).close()


def _mount() -> str:
    """Where version 2 is mounted, "" when nowhere."""
    for line in lines("/proc/self/mountinfo"):
        before, _, after = line.partition(" - ")
        if after.startswith("cgroup2 "):
            return before.split()[4]
    return ""


def lines(path: str) -> list[str]:
    """Of a file of the kernel's; none when it cannot be read."""
    try:
        with open(path) as file:  # noqa: PTH123
            return file.read().splitlines()
    except OSError:
        return []


def _listed(folder: str) -> list[str]:
    try:
        return [entry.name for entry in os.scandir(folder) if entry.is_dir(follow_symlinks=False)] if folder else []
    except OSError:
        return []


def _write(path: str, text: str) -> None:
    file = os.open(path, os.O_WRONLY | os.O_CLOEXEC | os.O_NOFOLLOW)
    try:
        os.write(file, text.encode())
    finally:
        os.close(file)
