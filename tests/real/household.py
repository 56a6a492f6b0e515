"""A whole kai as a person has it: a daemon in its own process, and the command line."""

import json
import os
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tests.real.agents import AGENTS, PATH, pids_with, processes_with
from tests.stub_model import StubModel

CHECKOUT = Path(__file__).parents[2]


@dataclass
class Household:
    """Folders, environment and commands of one kai. Homes of agents are below `root`, too.

    `url` points the agents elsewhere than at the stub.
    """

    root: Path
    model: StubModel
    url: str = ""
    is_subscribed: bool = False  # where an agent has subscriptions as well as keys, a person has the former

    def __post_init__(self) -> None:
        for folder in (self.home, self.root / "config"):
            folder.mkdir()
        for agent in AGENTS:
            agent.seed(self.home, self.url or self.model.url)

    @property
    def home(self) -> Path:
        return self.root / "home"

    @property
    def environment(self) -> dict[str, str]:
        folders = {f"KAI_{name.upper()}": str(self.root / name) for name in ("config", "state", "runtime")}
        pointed = {name: value for agent in AGENTS for name, value in agent.env(self.url or self.model.url).items()}
        if self.is_subscribed:
            del pointed["ANTHROPIC_API_KEY"]
            pointed["CLAUDE_CODE_OAUTH_TOKEN"] = "no-secret"
        own = {"HOME": str(self.home), "PATH": PATH, "LANG": "C.UTF-8", "PYTHONPATH": str(CHECKOUT)}
        return {**own, **folders, **pointed}

    @contextmanager
    def daemon(self) -> Iterator[subprocess.Popen[bytes]]:
        """``kai serve``, answering; ended with SIGTERM, and nothing of it is left."""
        with (self.root / "daemon.log").open("ab") as log:
            process = subprocess.Popen(
                [sys.executable, "-m", "kai", "serve"], env=self.environment, cwd="/", stdout=log, stderr=log
            )
            try:
                self._wait_until_it_answers(process)
                yield process
            finally:
                if process.poll() is None:
                    process.send_signal(signal.SIGTERM)
                try:
                    process.wait(60)
                except subprocess.TimeoutExpired:
                    process.kill()
                    process.wait()

    def _wait_until_it_answers(self, process: subprocess.Popen[bytes]) -> None:
        def answers() -> bool:
            assert process.poll() is None, self.log
            with socket.socket(socket.AF_UNIX) as client:
                return client.connect_ex(str(self.root / "runtime/people.sock")) == 0

        wait_for(answers)

    def kai(self, *args: str, code: int = 0) -> str:
        """Run ``kai ARGS`` and give its output; the exit status must be `code`."""
        done = subprocess.run(
            [sys.executable, "-m", "kai", *args], env=self.environment, cwd="/", capture_output=True, timeout=80
        )
        said = f"{done.stdout.decode()}\n{done.stderr.decode()}"
        assert done.returncode == code, f"kai {' '.join(args)}: exit {done.returncode}\n{said}\n{self.log}"
        assert "Traceback" not in said
        return done.stdout.decode()

    def json(self, *args: str) -> Any:
        return json.loads(self.kai(*args, "--json"))

    def chat(self, text: str, *flags: str) -> dict[str, Any]:
        """``kai chat TEXT --json``; the last object, with turn_id, state and text."""
        lines = self.kai("chat", *flags, "--json", text).splitlines()
        last: dict[str, Any] = json.loads(lines[-1])
        return last

    @contextmanager
    def talking(self, text: str) -> Iterator[subprocess.Popen[bytes]]:
        """``kai chat TEXT`` in a process of its own, for as long as the body runs."""
        argv = [sys.executable, "-m", "kai", "chat", "--json", text]
        with subprocess.Popen(
            argv, env=self.environment, cwd="/", stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
        ) as process:
            try:
                yield process
            finally:
                process.kill()

    @property
    def agents_left(self) -> tuple[str, ...]:
        """Live processes of this kai's agents."""
        return processes_with("KAI_SOCKET", str(self.root / "runtime/agents.sock"))

    @property
    def agent_pids(self) -> tuple[int, ...]:
        return pids_with("KAI_SOCKET", str(self.root / "runtime/agents.sock"))

    @property
    def log(self) -> str:
        path = self.root / "daemon.log"
        return path.read_text() if path.exists() else ""


def wait_for(condition: Callable[[], bool], limit_s: float = 30.0) -> None:
    """Wait for something in another process."""
    end = time.monotonic() + limit_s
    while not condition():
        assert time.monotonic() < end, "it did not come about"
        time.sleep(0.05)


def kill(process: subprocess.Popen[bytes]) -> None:
    """``kill -9``, and wait until it is gone."""
    os.kill(process.pid, signal.SIGKILL)
    process.wait(10)
