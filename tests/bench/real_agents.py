"""What kai adds to a turn of a real agent CLI: ``python -m tests.bench.real_agents [--pairs N] [BACKEND …] [--json]``.

Each CLI answers from a stub model that says 20 tokens at once. Through kai a turn is timed at the client, from the POST
to the event that delivers the answer; the baseline is the same CLI, same version, same prompt bytes, driven by its bare
protocol. Beside it: the first turn of a cold session, and the memory of the process tree.
"""

import argparse
import getpass
import json
import shutil
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import asdict, dataclass
from pathlib import Path

from kai.bench.figures import Figure, paired
from kai.bench.processes import pss_bytes
from kai.bench.raw import Connection, RawError
from kai.model.ids import RunId
from kai.processes.plan import plan
from tests.bench.bare_agent import BareAgent, tree_pss_bytes
from tests.real.agents import AGENTS, RealAgent
from tests.real.household import Household
from tests.stub_model import StubModel

WORDS = "STUB:say=one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen sixteen"
TO_REACH = 1.10
WARM_UP = 3
COLD_PAIRS = 5
MIB = 1024 * 1024
ANSWER = b'"kind":"answer"'


@dataclass
class ThroughKai:
    """A person's client of a daemon whose only backend is the one that is measured."""

    house: Household
    requests: Connection
    events: Connection
    stack: ExitStack
    sent: int = 0

    def turn(self) -> tuple[float, str]:
        """Seconds of one turn, and the exact text that its agent was sent."""
        self.sent += 1
        self._stay_connected()
        body = json.dumps({"chat": "bench", "external_id": f"x-{self.sent}", "text": WORDS}).encode()
        began = time.perf_counter()
        self.requests.send("POST", "/v1/messages", body)
        self.requests.answer()
        event = self.events.event(ANSWER)
        seconds = time.perf_counter() - began
        line = next(line for line in event.split(b"\n") if line.startswith(b"data: ") and ANSWER in line)
        owed = json.loads(line[6:])
        assert "fifteen sixteen" in owed["text"], owed
        self.requests.ask("POST", f"/v1/deliveries/{owed['delivery']}/receipt", b'{"outcome": "sent"}')
        return seconds, json.loads(self.requests.ask("GET", f"/v1/turns/{owed['turn']}/context"))["text"]

    def _stay_connected(self) -> None:
        """A bare turn on a busy machine may take longer than kai keeps an idle connection."""
        with suppress(OSError, RawError):
            self.requests.ask("GET", "/healthz")
            return
        self.requests = self.stack.enter_context(Connection(self.house.root / "runtime/people.sock"))
        self.requests.ask("GET", "/v1/status")  # who we are is looked up at the first question

    def begin_anew(self) -> None:
        """The next turn starts a process."""
        self._stay_connected()
        body = json.dumps({"chat": "bench", "external_id": f"new-{self.sent}", "text": "/new"}).encode()
        self.requests.ask("POST", "/v1/messages", body)


@contextmanager
def through_kai(root: Path, agent: RealAgent, model: StubModel) -> Iterator[ThroughKai]:
    root.mkdir()
    house = Household(root, model)
    choice = f"backend: {agent.backend}\npermissions: bypass\n"
    (root / "config/kai.yaml").write_text(choice)
    house.kai("serve", "--help")  # compiled before anything is timed
    with house.daemon():
        if agent.model:
            house.kai("use", agent.backend, "--model", agent.model)
        socket = root / "runtime/people.sock"
        with ExitStack() as stack:
            requests, events = (stack.enter_context(Connection(socket)) for _ in range(2))
            events.send("GET", "/v1/deliveries")
            events.until(b"\r\n\r\n")
            yield ThroughKai(house, requests, events, stack)


def bare(root: Path, agent: RealAgent, model: StubModel) -> BareAgent:
    """The CLI as kai starts it, in a home of its own."""
    home, work = root / "home", root / "work"
    for folder in (home, work):
        folder.mkdir(parents=True, exist_ok=True)
    agent.seed(home, model.url)
    planned = plan(
        agent.manifest,
        run=RunId("r-bare"),
        model=agent.model,
        effort="",
        permissions="bypass",
        resume="",
        temporary=False,
        workspace=work,
        os_user=getpass.getuser(),
        home=home,
        socket_path=root / "no.sock",
        inherited=agent.inherited(model.url),
    )
    return BareAgent(agent.manifest.protocol, planned.spec.argv, dict(planned.spec.env), work)


def measure(root: Path, agent: RealAgent, pairs: int) -> list[Figure]:
    """A warm turn, a cold one, and memory."""
    with StubModel() as model, through_kai(root / "kai", agent, model) as kai:
        texts = [kai.turn()[1] for _ in range(WARM_UP)]
        with bare(root / "bare", agent, model) as other:

            def one_of_bare() -> float:
                began = time.perf_counter()
                other.turn(texts[-1])
                return time.perf_counter() - began

            def one_of_kai() -> float:
                seconds, text = kai.turn()
                texts.append(text)
                return seconds

            for _ in range(WARM_UP):
                one_of_bare()
            warm = _interleaved(pairs, one_of_kai, one_of_bare)
            memory = (_of_runs(kai.house), tree_pss_bytes(other.pid, pss_bytes))
        cold = _interleaved(COLD_PAIRS, lambda: _cold_kai(kai), lambda: _cold_bare(root, agent, model, texts[-1]))
    added = [ours - theirs for ours, theirs in warm]
    against = f"{agent.backend} {agent.pinned} driven by its bare protocol"
    return [
        paired(
            f"turn_{agent.backend}",
            [(ours * 1000, theirs * 1000) for ours, theirs in warm],
            to_reach=TO_REACH,
            unit="ms",
            against=against,
            more={"added_ms": sorted(added)[len(added) // 2] * 1000, "prompt_bytes": len(texts[-1].encode())},
        ),
        paired(f"start_{agent.backend}", cold, to_reach=TO_REACH, unit="s", against=f"{against}: spawn to answer"),
        paired(
            f"memory_{agent.backend}",
            [(memory[0] / MIB, memory[1] / MIB)],
            to_reach=TO_REACH,
            unit="MiB",
            against=f"{against}: the tree after the same turns (PSS)",
        ),
    ]


def _interleaved(number: int, ours: Callable[[], float], theirs: Callable[[], float]) -> list[tuple[float, float]]:
    found = []
    for at in range(number):
        if at % 2:
            second = theirs()
            found.append((ours(), second))
        else:
            first = ours()
            found.append((first, theirs()))
    return found


def _cold_kai(kai: ThroughKai) -> float:
    kai.begin_anew()
    return kai.turn()[0]


def _cold_bare(root: Path, agent: RealAgent, model: StubModel, text: str) -> float:
    began = time.perf_counter()
    with bare(root / "bare", agent, model) as one:
        one.turn(text)
        return time.perf_counter() - began


def _of_runs(house: Household) -> int:
    """Memory of all processes of kai's agents, their keeper with them."""
    return sum(pss_bytes(pid) for pid in house.agent_pids)


def main(argv: list[str]) -> int:
    parser = argparse.ArgumentParser(prog="tests.bench.real_agents", description=__doc__)
    parser.add_argument("backends", nargs="*", metavar="BACKEND")
    parser.add_argument("--pairs", type=int, default=50)
    parser.add_argument("--json", action="store_true")
    options = parser.parse_args(argv)
    figures: list[Figure] = []
    for agent in AGENTS:
        if not agent.has_model or (options.backends and agent.backend not in options.backends):
            continue  # `kai bench` measures the one without a model
        if not agent.is_installed:
            print(f"{agent.backend}: skipped, {agent.program} is not installed (scripts/install-agents --all)")
            continue
        root = Path(tempfile.mkdtemp(prefix="kai-bench-"))
        try:
            for figure in measure(root, agent, options.pairs):
                figures.append(figure)
                if not options.json:
                    print(_line(figure), flush=True)
        finally:
            shutil.rmtree(root, ignore_errors=True)
    if options.json:
        print(json.dumps([{**asdict(figure), "is_reached": figure.is_reached} for figure in figures], indent=2))
    return 0 if all(figure.is_reached for figure in figures) else 1


def _line(figure: Figure) -> str:
    over = "" if figure.is_reached else "  over"
    more = f"  +{figure.more['added_ms']:.1f} ms, {figure.pairs} pairs" if figure.more else f"  {figure.pairs} pairs"
    return (
        f"{figure.name:<26} {figure.value:>9.2f} {figure.baseline:>9.2f} {figure.unit:<4} {figure.ratio:>5.2f}  "
        f"{figure.low:.2f} to {figure.high:.2f}{more}{over}"
    )


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
