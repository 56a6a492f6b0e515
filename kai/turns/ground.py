"""What a daemon stands on as long as it runs, whether there is anything to do or not."""

from dataclasses import dataclass
from pathlib import Path

from anyio.abc import TaskGroup

from kai.clock import Clock
from kai.processes.launcher import Launcher
from kai.settings.where import Folders
from kai.store.database import Store
from kai.turns.config import Config


@dataclass(frozen=True, slots=True)
class Ground:
    """`tasks` lives as long as the daemon; `runs` is the folder of the wire files; `socket` the agents'."""

    folders: Folders
    config: Config
    store: Store
    clock: Clock
    launcher: Launcher
    tasks: TaskGroup
    runs: Path
    socket: Path
