"""Which launcher a daemon uses. Each is imported when it is chosen: a daemon holds one of them."""

import os
from pathlib import Path

from kai.processes.launcher import Launcher


def launcher(kind: str, socket: str) -> Launcher:
    """The launcher of that setting (``auto``, ``direct``, ``spawner``, ``sudo``). Looks for the socket: blocks."""
    if kind == "sudo":
        from kai.processes.sudo import SudoLauncher  # noqa: PLC0415

        return SudoLauncher()
    # The spawner serves no root.
    if kind == "direct" or (kind == "auto" and (os.geteuid() == 0 or not os.access(socket, os.W_OK))):
        from kai.processes.direct import DirectLauncher  # noqa: PLC0415

        return DirectLauncher()
    from kai.processes.spawner import SpawnerLauncher  # noqa: PLC0415

    return SpawnerLauncher(Path(socket))
