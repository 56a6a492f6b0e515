"""Drives one row of the matrix: a kai, an agent A, and a conversation with each other backend B."""

import shutil
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import anyio
from anyio.to_thread import run_sync

from kai.client import Client
from kai.model.context import MARKER
from kai.model.errors import KaiError
from kai.model.messages import InboundMessage
from kai.model.people import Preference
from tests.matrix.evidence import Turn, added, arrived, holds, leaked, without_clock
from tests.real.agents import AGENTS
from tests.real.household import Household
from tests.stub_model import StubModel

OFFLINE = "offline"  # the bundled agent: no model, so it is asked what its prompt holds
BACKENDS = ("claude", "codex", "pi", "opencode", "gemini", "copilot", "hermes", OFFLINE)
REAL = {agent.backend: agent for agent in AGENTS}
TURN_S = 180.0
CONFIG = f"backend: {OFFLINE}\nsessions: {{max_live: 24}}\npermissions: bypass\n"


@dataclass
class Pair:
    """A conversation that begins with A and changes to B. `faults` empty: all of it is as it should be."""

    a: str
    b: str
    faults: list[str] = field(default_factory=list)
    talk: list[Turn] = field(default_factory=list)

    @property
    def title(self) -> str:
        return f"{self.a} to {self.b}"


def words(backend: str, text: str, answer: str) -> str:
    """A message that `backend` answers with `answer`."""
    return f"echo {answer}" if backend == OFFLINE else f"{text} STUB:say={answer};;"


class Row:
    """All pairs that begin with one agent, in a household of their own."""

    def __init__(self, model: StubModel, root: Path, a: str, others: Sequence[str], *, at_once: int) -> None:
        self.model = model
        self.household = Household(root, model)
        (root / "config/kai.yaml").write_text(CONFIG)
        self.pairs = [Pair(a, b) for b in others]
        self._at_once = at_once
        self._sent = 0

    async def run(self) -> list[Pair]:
        state, saved = self.household.root / "state", self.household.root / "saved"
        async with self._daemon() as client:
            await self._each(self._begin, client)
            # Nothing runs now: what is on the disk is what a direct start finds.
            await run_sync(shutil.copytree, state, saved)
            await self._each(self._switch, client)
        await run_sync(shutil.rmtree, state)
        await run_sync(saved.rename, state)
        async with self._daemon() as client:
            await self._each(self._directly, client)
        return self.pairs

    @asynccontextmanager
    async def _daemon(self) -> AsyncIterator[Client]:
        running = self.household.daemon()
        await run_sync(running.__enter__)
        try:
            async with Client(self.household.root / "runtime/people.sock", answer_s=TURN_S) as client:
                yield client
        finally:
            with anyio.CancelScope(shield=True):
                await run_sync(running.__exit__, None, None, None)

    async def _each(self, step: Any, client: Client) -> None:
        """One step for every pair that is sound so far; a few at once."""
        limiter = anyio.CapacityLimiter(self._at_once)

        async def one(pair: Pair) -> None:
            async with limiter:
                try:
                    with anyio.fail_after(TURN_S):
                        await step(client, pair)
                except (KaiError, TimeoutError, AssertionError) as error:
                    pair.faults.append(f"{step.__name__.strip('_')}: {error or type(error).__name__}")

        async with anyio.create_task_group() as tasks:
            for pair in self.pairs:
                if not pair.faults:
                    tasks.start_soon(one, pair)

    async def _begin(self, client: Client, pair: Pair) -> None:
        """Two turns on A; in the second one it uses a tool, where it has any."""
        said = words(pair.a, f"the chest of {pair.title} stands in the cellar", f"noted, a cellar ({pair.title})")
        pair.talk.append(await self._turn(client, pair, pair.a, said))
        tool = "echo it is blue" if pair.a == OFFLINE else f"what of {pair.title}? STUB:bash=echo it is blue;;"
        pair.talk.append(await self._turn(client, pair, pair.a, tool))
        assert pair.talk[0].marks & pair.talk[1].marks, "A did not keep its session for two turns"
        assert "it is blue" in pair.talk[1].answer, pair.talk[1].answer
        assert pair.talk[1].tools or pair.a == OFFLINE, "A used no tool"

    async def _switch(self, client: Client, pair: Pair) -> None:
        """One turn on B, and back to A."""
        before = list(pair.talk)
        on_b = await self._turn(client, pair, pair.b, _question(pair))
        pair.talk.append(on_b)
        pair.faults += [f"on {pair.b}: {fault}" for fault in self._sound(on_b, before)]
        back = await self._turn(
            client, pair, pair.a, words(pair.a, f"and the key of {pair.title}?", "upstairs"), ask=True
        )
        pair.faults += [f"back on {pair.a}: {fault}" for fault in self._sound(back, pair.talk)]

    async def _directly(self, client: Client, pair: Pair) -> None:
        """The same question to B in a kai that has only read of A: and what every backend would be given."""
        on_b, asked = pair.talk[2], _question(pair)
        for backend in BACKENDS:
            await client.use(Preference(backend=backend), channel=pair.title)
            seen = (await client.preview(asked, pair.title))["text"]
            if without_clock(seen) != without_clock(on_b.block):
                pair.faults.append(f"the block for {backend} differs from the one that {pair.b} was given")
        direct = await self._turn(client, pair, pair.b, asked)
        pair.faults += [f"directly on {pair.b}: {fault}" for fault in self._sound(direct, pair.talk[:2])]
        if without_clock(direct.block) != without_clock(on_b.block):
            pair.faults.append(f"the block differs from that of a direct start of {pair.b}")
        pair.faults += [f"beside the block {fault}" for fault in added(on_b, direct)]

    def _sound(self, turn: Turn, before: Sequence[Turn]) -> list[str]:
        agent = REAL.get(turn.backend)
        others = [one for one in before if one.backend != turn.backend]
        return [
            *arrived(turn, adds=bool(agent and agent.adds)),
            *holds(turn.block, before),
            *leaked(turn, others),
        ]

    async def _turn(self, client: Client, pair: Pair, backend: str, asked: str, *, ask: bool = False) -> Turn:
        """One message and all that came of it."""
        await client.use(Preference(backend=backend), channel=pair.title, begin=True)
        seen = len(self.model.requests())
        turn = await self._say(client, pair, "count" if ask and backend == OFFLINE else asked)
        assert turn["backend"] == backend, f"it went to {turn['backend']}"
        shown = await client.context(turn["turn"])
        assert (await client.verify(turn["turn"]))["ok"], "what was written is not what is shown"
        told = {}
        if backend == OFFLINE and turn["text"] == "count":
            for section in shown["sections"]:
                told[section["name"]] = (await self._say(client, pair, f"show {section['name']}"))["answer_text"]
        requests = [
            one for one in self.model.requests()[seen:] if one.offers_tools and one.places(f"{MARKER}\n{turn['text']}")
        ]
        return Turn(backend, turn["text"], turn["answer_text"], shown, tuple(requests), told, tuple(turn["tool_lines"]))

    async def _say(self, client: Client, pair: Pair, text: str) -> dict[str, Any]:
        self._sent += 1
        message = InboundMessage("", "matrix", pair.title, "", f"x-{self._sent}-{pair.title}", text)
        accepted = await client.receive(message)
        assert accepted.turn is not None, accepted.reply
        async for event in client.events(accepted.turn):
            if event["type"] == "end":
                break
        turn = await client.turn(accepted.turn)
        assert turn["state"] == "done", f"{turn['state']}: {turn['reason']}"
        return turn


def _question(pair: Pair) -> str:
    return "count" if pair.b == OFFLINE else f"what of the chest of {pair.title}? STUB:say=blue, in the cellar;;"
