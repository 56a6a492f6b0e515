"""The seam between kai and whatever starts runs: what to start, what a started run can do, how it ended."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Protocol

from kai.model.errors import KaiError
from kai.model.ids import RunId

PIECE_BYTES = 64 * 1024  # the capacity of a pipe: a bigger piece would only be held in memory


@dataclass(frozen=True, slots=True)
class LaunchSpec:
    """What to start. `argv[0]` is absolute, `env` is the whole environment, `user` "" means the daemon's own.

    `hold_s`: how long the run may go on after the daemon is gone (its pipes end with the daemon); 0 ends it at once.
    `limits`: resource limits by their name in `resource` without ``RLIMIT_`` (``NOFILE``, ``NPROC``, ``CORE``, ``AS``).
    """

    run: RunId
    argv: tuple[str, ...]
    env: dict[str, str]
    cwd: str
    user: str = ""
    hold_s: float = 0.0
    limits: dict[str, int] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Exit:
    """How the leader ended: `code` or `signal`, never both; both None when it can no longer be known.

    `out_of_memory` is True only when the kernel counted an out-of-memory kill in the run's memory group.
    """

    code: int | None
    signal: int | None = None
    out_of_memory: bool = False
    max_rss_bytes: int = 0


@dataclass(frozen=True, slots=True)
class Stats:
    """CPU seconds used by the whole tree so far (ended processes included), its live processes, their memory.

    `apart` has "pid age_s name" of those in another process group than the leader: every agent puts its tools there.
    """

    cpu_s: float
    processes: int
    rss_bytes: int
    apart: frozenset[str] = frozenset()


@dataclass
class TreeAliveError(KaiError):
    """Processes of a run cannot be ended. `reason` names them."""

    run: str
    reason: str

    @property
    def sentence(self) -> str:
        return f"The agent could not be stopped: {self.reason}."

    @property
    def hint(self) -> str:
        return "End them by hand, or ask whoever runs this machine."


class Run(Protocol):
    """A started agent: its pipes, its end, its tree. Whoever got it calls `aclose` in every case."""

    @property
    def run(self) -> RunId: ...

    @property
    def pid(self) -> int:
        """The leader: the agent itself, head of its own session and process group."""
        ...

    async def read(self) -> bytes:
        """The next 1 to 65,536 bytes of stdout, ``b""`` at its end. One reader at a time."""
        ...

    async def read_err(self) -> bytes:
        """As `read`, of stderr. It must be drained all the time, or the agent stops."""
        ...

    def write_at_once(self, data: bytes) -> int:
        """How many bytes of `data` the pipe took without a wait; what is left is for `write`, where a fault is told."""
        ...

    async def write(self, data: bytes) -> None:
        """Write all of `data` in pieces. Raises `SessionBrokenError` when the pipe is gone.

        A cancelled write leaves half a frame behind: the run must be closed then.
        """
        ...

    async def close_stdin(self) -> None:
        """Let the agent see the end of its input. Again: nothing happens."""
        ...

    async def wait(self) -> Exit:
        """The end of the leader, whatever still holds the pipes. Any number of waiters, any number of times."""
        ...

    async def signal(self, number: int) -> None:
        """Signal the leader's process group; nothing happens when it is gone."""
        ...

    async def kill_tree(self) -> int:
        """Kill every descendant (own sessions and double forks included) and return when none is left.

        Gives how many processes had to be killed. Raises `TreeAliveError` when some cannot be ended.
        """
        ...

    async def stats(self) -> Stats:
        """What the tree uses now; the last known figures once it is gone."""
        ...

    async def aclose(self) -> None:
        """Kill the tree, close every descriptor. Idempotent, shielded from cancellation."""
        ...


class Launcher(Protocol):
    """Starts runs. Every implementation passes the conformance suite under tests/processes."""

    @property
    def name(self) -> str: ...

    async def spawn(self, spec: LaunchSpec) -> Run:
        """Start it. Raises `LaunchError` that names who lacks what; then nothing is left behind."""
        ...

    async def claim(self, run: RunId, pipes: Sequence[int]) -> Run:
        """Take over a run that a former daemon left behind, by the daemon's ends of its stdin, stdout and stderr.

        They are the run's from here on, or closed. Raises `LaunchError` when there is no such run, or can be none.
        """
        ...

    @property
    def hold_s(self) -> float:
        """How long a run is held that a later daemon could `claim`; 0 where none can."""
        ...

    @property
    def problem(self) -> str:
        """Why no run can be started at this moment; empty when one can."""
        ...

    async def watch(self) -> None:
        """Keep `problem` true, for as long as the daemon lives. Returns at once where there is nothing to watch."""
        ...

    def run_of(self, pid: int) -> RunId | None:
        """The run of a process, by what it cannot change; None when it is of none. Blocks for milliseconds."""
        ...
