"""Every limit of the door. Times in seconds, sizes in bytes."""

import resource
from dataclasses import dataclass


def _connections() -> int:
    """Far below the limit of open files: accepting must never take what the store or a run needs."""
    soft, _ = resource.getrlimit(resource.RLIMIT_NOFILE)
    return 256 if soft == resource.RLIM_INFINITY else max(4, min(256, soft // 4))


@dataclass(frozen=True, slots=True)
class ApiLimits:
    """One connection holds one request at a time."""

    connections: int = 0  # of each socket; 0: a quarter of the limit of open files, at most 256
    head_s: float = 10.0  # from the first byte of a request (or the connect) to the end of its headers
    head_bytes: int = 64 * 1024
    body_s: float = 60.0  # a whole body
    idle_s: int = 75  # between two requests
    stuck_s: float = 30.0  # a peer that does not read what was written to it
    pipelined: int = 8  # requests sent ahead of their answers
    heartbeat_s: float = 15.0  # between two signs of life on a stream
    stop_s: float = 3.0  # for requests to end when the daemon stops

    @property
    def most_connections(self) -> int:
        return self.connections or _connections()

    @property
    def most_of_one_uid(self) -> int:
        """So that one person's runaway program cannot lock the others out."""
        return max(1, self.most_connections * 3 // 4)
