"""Runs as other users by sudo: the last resort, where no privileged process can be installed.

The keeper runs as the person's user, so it ends with the daemon and can kill its tree. What it cannot do: withstand the
agent, which is the same user and may kill its keeper, leaving behind what it wants; and the daemon needs a right in
sudoers to run Python as everybody, cannot give that up, and cannot have NoNewPrivileges.
"""

import os
import shutil
import subprocess
import sys
from collections.abc import Sequence

from anyio.to_thread import run_sync

from kai.launcher.passing import close_all
from kai.model.errors import LaunchError
from kai.model.ids import RunId
from kai.processes.direct import KeeperProcess, Keepers, keeper_argv, spawn_below
from kai.processes.guard import objection
from kai.processes.kept import KeptRun
from kai.processes.launcher import LaunchSpec


class SudoLauncher:
    """Starts runs by ``sudo -n -u USER -- python -I -S shim.py 0``; `keeper` are the words after ``--``, the last left
    out, which have to stand in sudoers; `sudo` is the program's path.
    """

    problem, hold_s = "", 0.0

    def __init__(self, *, keeper: Sequence[str] = (), sudo: str = "") -> None:
        self._keeper, self._sudo = keeper or keeper_argv(sys.executable), sudo or shutil.which("sudo")
        self._keepers = Keepers()

    @property
    def name(self) -> str:
        return "sudo"

    async def spawn(self, spec: LaunchSpec) -> KeptRun:
        """Start it. Raises `LaunchError`; then no process and no descriptor is left."""
        if not spec.argv:
            raise LaunchError("nothing", "no program is given")
        sudo = self._sudo
        if sudo is None:
            raise LaunchError(spec.argv[0], "sudo is not installed", remedy="Install it, or use the spawner.")
        if problem := await run_sync(objection, spec.user, spec.argv[0]):
            raise LaunchError(spec.argv[0], problem)

        def start(pipes: Sequence[int], control: int) -> KeeperProcess:
            argv = [sudo, "-n", "-u", spec.user, "--", *self._keeper, "0"]
            return KeeperProcess(argv, [control, subprocess.DEVNULL, words], control)

        words = os.memfd_create("words", os.MFD_CLOEXEC)  # sudo's own: it stays, and would keep a pipe from ending
        try:
            return await spawn_below(start, spec, self._keepers, passes=True)
        except LaunchError as error:
            if said := os.pread(words, 4096, 0).decode(errors="replace").strip():
                raise LaunchError(spec.argv[0], said.replace("\n", "; "), error.kind) from error
            raise
        finally:
            os.close(words)

    async def claim(self, run: RunId, pipes: Sequence[int]) -> KeptRun:
        """Always refused: a run's keeper is a child of its daemon."""
        close_all(list(pipes))
        raise LaunchError(run, "the sudo launcher keeps no run for a later daemon")

    async def watch(self) -> None:
        """Nothing of it can be lost."""

    def run_of(self, pid: int) -> RunId | None:
        """By its ancestors; an agent can escape that, as it may kill its keeper."""
        return self._keepers.run_of(pid)
