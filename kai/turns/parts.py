"""All that the life of a turn needs, built once by the daemon and handed on."""

from dataclasses import dataclass, field
from datetime import tzinfo
from pathlib import Path

from kai.clock import Clock
from kai.memory.retrieval import Retriever
from kai.memory.vectors import Vectors
from kai.model.ids import ChannelId, TurnId
from kai.model.memory import MemoryReceipt
from kai.people.folders import PersonFolders
from kai.processes.errands import Errands
from kai.processes.launcher import Launcher
from kai.store.database import Store
from kai.turns.backends import Backends
from kai.turns.config import Config
from kai.turns.delegating import Delegating
from kai.turns.live import LiveTurns
from kai.turns.pool import Pool
from kai.turns.runs import Runs


@dataclass(frozen=True, slots=True)
class Parts:
    """`runs` is the folder of the wire files; `socket` the path of the agents' socket, told to runs."""

    store: Store
    clock: Clock
    config: Config
    backends: Backends
    folders: PersonFolders
    retriever: Retriever
    launcher: Launcher
    pool: Pool
    live: LiveTurns
    runs: Path
    live_runs: Runs
    socket: Path
    errands: Errands
    delegating: Delegating = field(default_factory=Delegating)
    vectors: Vectors | None = None  # None: memory is searched by words alone
    receipts: dict[TurnId, list[MemoryReceipt]] = field(default_factory=dict)  # of turns that have not ended
    open_tasks: set[ChannelId] = field(default_factory=set)  # channels that have one
    zone: str = "UTC"  # IANA name of the machine's own time zone
    zones: dict[str, tzinfo] = field(default_factory=dict)  # time zones that were loaded
