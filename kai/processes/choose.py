"""Which launcher a daemon uses."""

import os
from pathlib import Path

from kai.processes.direct import DirectLauncher
from kai.processes.launcher import Launcher
from kai.processes.spawner import SpawnerLauncher
from kai.processes.sudo import SudoLauncher


def launcher(kind: str, socket: str) -> Launcher:
    """The launcher of that setting (``auto``, ``direct``, ``spawner``, ``sudo``). Looks for the socket: blocks."""
    match kind:
        case "sudo":
            return SudoLauncher()
        case "direct":
            return DirectLauncher()
        case "auto" if os.geteuid() == 0 or not os.access(socket, os.W_OK):  # the spawner serves no root
            return DirectLauncher()
    return SpawnerLauncher(Path(socket))
