"""A whole kai for a test: folders of its own, a daemon, a client that speaks as a person."""

import os
import sys
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import anyio

from kai.client import Client
from kai.daemon import Daemon, daemon
from kai.model.messages import Accepted, InboundMessage
from kai.model.turns import Delivery, Progress, Receipt, ReceiptOutcome
from kai.settings.where import Folders
from kai.turns.work import Work

FAKE_AGENT = Path(__file__).resolve().parents[1] / "fake_agent" / "__main__.py"
LIMIT_S = 15.0

FAKES = (("stream_json", "fake"), ("acp", "fake-acp"), ("app_server", "fake-codex"), ("pi_rpc", "fake-pi"))

FAKE_BACKEND = """\
title: Fake agent ({protocol})
protocol: {protocol}
launch:
  program: "{python}"
  argv: ["-I", "-S", {fake!r}, "--protocol", {protocol}, "--log", {log!r}, "--state", {state!r}]
  resume: {resume}
  model: ["--model", "{{model}}"]
  effort: ["--effort", "{{effort}}"]
  temporary: ["--temporary"]
can: {{resume: true, interrupt: true, steer: {steer}, set_model: {set_model}, temporary: {temporary}}}
options: {{model_by: set_model, effort_config: effort}}
version_argv: [{fake!r}, "--version"]
limits: {limits}
native_prefix: "/"
native_commands: [compact]
"""


@dataclass
class House:
    """Folders and how to start a daemon on them. `yaml` is kai.yaml; `limits` of the fake backends."""

    root: Path
    yaml: str = ""
    people: str = ""
    workspaces: str = ""
    limits: Mapping[str, float] = field(default_factory=dict)
    backend: str = "fake"
    set_model: bool = False  # the fake backends can change it in place
    python: str = "{python}"  # of the fake agents: other OS users may not be let to that of the tests
    agent: Path = FAKE_AGENT

    def __post_init__(self) -> None:
        (self.root / "sessions").mkdir(parents=True, exist_ok=True)
        self.folders = Folders(self.root / "config", self.root / "state", self.root / "run")
        for protocol, name in FAKES:
            folder = self.folders.config / "backends" / name
            folder.mkdir(parents=True, exist_ok=True)
            resume = '["--resume", "{session}"]' if protocol in ("stream_json", "pi_rpc") else "[]"
            limits = {"stop_s": 2.0, "eof_s": 0.5, "term_s": 0.5, **self.limits}
            (folder / "backend.yaml").write_text(
                FAKE_BACKEND.format(
                    protocol=protocol,
                    fake=str(self.agent),
                    python=self.python,
                    log=str(self.log),
                    state=str(self.root / "sessions"),
                    resume=resume,
                    limits=limits,
                    set_model=str(self.set_model).lower(),
                    steer=str(protocol in ("app_server", "pi_rpc")).lower(),
                    temporary=str(protocol != "acp").lower(),
                )
            )
        (self.folders.config / "kai.yaml").write_text(f"backend: {self.backend}\n{self.yaml}")
        if self.people:
            (self.folders.config / "people.yaml").write_text(self.people)
        if self.workspaces:
            (self.folders.config / "workspaces.yaml").write_text(self.workspaces)

    @property
    def log(self) -> Path:
        """Where the fake agents write what they receive."""
        return self.root / "fake.log"

    @property
    def environment(self) -> dict[str, str]:
        """For a daemon or a command as a process of its own."""
        names = {
            "KAI_CONFIG": self.folders.config,
            "KAI_STATE": self.folders.state,
            "KAI_RUNTIME": self.folders.runtime,
        }
        return {**os.environ, **{name: str(path) for name, path in names.items()}, "PYTHONUNBUFFERED": "1"}

    @asynccontextmanager
    async def open(self) -> AsyncIterator["Kai"]:
        """A daemon in this process, and a client."""
        async with daemon(self.folders) as serving, Client(serving.socket) as client:
            yield Kai(self, AtWork(serving, await serving.work()), client)

    def kai(self, *args: str) -> list[str]:
        """The command line of a ``kai`` process."""
        return [sys.executable, "-m", "kai", *args]


class AtWork:
    """A daemon whose work was begun: what is within, by its names."""

    def __init__(self, daemon: Daemon, work: Work) -> None:
        self.socket, self.drop_old = daemon.socket, daemon.drop_old
        self.parts, self.runner, self.lanes, self.door = work.parts, work.runner, work.lanes, work.door


@dataclass
class Kai:
    """A running daemon and a person's client to it."""

    house: House
    daemon: "AtWork"
    client: Client
    sent: int = 0

    async def say(
        self,
        text: str,
        *,
        thread: str = "",
        external_id: str = "",
        client: Client | None = None,
        temporary: bool = False,
    ) -> Accepted:
        """Hand in a message."""
        self.sent += 1
        key = external_id or f"x-{self.sent}"
        message = InboundMessage("", "shell", thread, "", key, text, temporary=temporary)
        return await (client or self.client).receive(message)

    async def end(self, accepted: Accepted) -> dict[str, Any]:
        """Wait for the end of a message's turn; gives the turn."""
        assert accepted.turn is not None
        with anyio.fail_after(LIMIT_S):
            async for event in self.client.events(accepted.turn):
                if event["type"] == "end":
                    break
        return await self.client.turn(accepted.turn)

    async def ask(self, text: str, **more: Any) -> dict[str, Any]:
        """Say something and wait for the end of its turn."""
        return await self.end(await self.say(text, **more))

    async def until(self, accepted: Accepted, kind: str, **fields: Any) -> dict[str, Any]:
        """Wait for an event of a running turn."""
        assert accepted.turn is not None
        with anyio.fail_after(LIMIT_S):
            async for event in self.client.events(accepted.turn):
                if event["type"] == kind and all(event.get(name) == value for name, value in fields.items()):
                    return event
                assert event["type"] != "end", f"ended before {kind}: {event}"
        raise AssertionError("unreachable")

    async def deliveries(self, count: int, *, receipts: bool = True) -> list[Delivery]:
        """The next `count` deliveries, each with its receipt."""
        got: list[Delivery] = []
        with anyio.fail_after(LIMIT_S):
            async for item in self.client.deliveries(idempotent=True):
                if isinstance(item, Progress):
                    continue
                got.append(item)
                if receipts:
                    await self.client.receipt(item.delivery, Receipt(ReceiptOutcome.SENT))
                if len(got) == count:
                    break
        return got
