"""The storm: a bridge that behaves, a daemon that is killed, and the count at the end."""

import os
import random
import signal
import subprocess
import sys
from collections import Counter
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import anyio

from kai.client import Client
from kai.model.errors import ApiError, UnreachableError
from kai.model.messages import InboundMessage
from kai.model.states import TurnState
from kai.model.turns import Progress, Receipt, ReceiptOutcome
from tests.crash.victim import POINTS
from tests.e2e.house import House

START_S = 60.0  # a slow machine is no fault
DEATH_S = 20.0
LEFT_S = 2.0  # after a kill, until nothing of it may be left
END_S = 120.0
OUTSTANDING = 3  # messages on their way: so that a kill meets the kind of turn it is meant for
WORDS = {"streaming": "FAKE:slow=6", "asking": "FAKE:ask", "sent": "FAKE:slow=2"}


@dataclass
class Tally:
    """What was counted."""

    kills: Counter[str] = field(default_factory=Counter)
    accepted: int = 0
    lost: int = 0
    twice: int = 0
    left: int = 0
    unknown: int = 0
    notes: list[str] = field(default_factory=list)

    @property
    def is_clean(self) -> bool:
        return not (self.lost or self.twice or self.left)

    def last_line(self) -> str:
        kills = sum(self.kills.values())
        return (
            f"crash: {kills} kills, accepted {self.accepted}, lost {self.lost}, twice {self.twice}, "
            f"left {self.left}, unknown {self.unknown}"
        )


class Storm:
    """Sends messages with keys of their own, repeats those that were not acknowledged, gives receipts."""

    def __init__(self, root: Path, dice: random.Random) -> None:
        self.house = House(root, yaml="limits: {ask_s: 2}")
        self.dice = dice
        self.tally = Tally()
        self.unsent: dict[str, str] = {}  # external id → text: handed in, not acknowledged
        self.accepted: dict[str, str] = {}  # external id → turn
        self.delivered: dict[str, Any] = {}  # delivery id → delivery
        self.unreceipted: set[str] = set()
        self.last_number = 0  # it knows that it has received nothing yet
        self.count = 0
        self.words = ""  # of the next message, in place of what is usual

    async def run(self, kills: int) -> Tally:
        points = [POINTS[n % len(POINTS)] for n in range(kills)]
        self.dice.shuffle(points)
        for point in points:
            await self._kill(point)
        await self._settle()
        return self.tally

    # One kill

    async def _kill(self, point: str) -> None:
        victim = self._start(point, self.dice.randint(1, 3))
        try:
            with anyio.move_on_after(DEATH_S):
                await self._live_with(victim, point)
        finally:
            if victim.poll() is None:
                self.tally.notes.append(f"{point}: not reached, killed from outside")
                victim.kill()
            await anyio.to_thread.run_sync(victim.wait)
        assert victim.returncode == -signal.SIGKILL, f"{point}: ended with {victim.returncode}"
        self.tally.kills[point] += 1
        self.tally.left += await self._left_behind()

    def _start(self, point: str, count: int) -> "subprocess.Popen[bytes]":
        with (self.house.root / "daemon.log").open("ab") as log:
            return subprocess.Popen(
                [sys.executable, "-m", "tests.crash.victim", point, str(count)],
                env=self.house.environment,
                stdout=log,
                stderr=log,
                stdin=subprocess.DEVNULL,
            )

    async def _live_with(self, victim: "subprocess.Popen[bytes]", point: str) -> None:
        async with Client(self.house.folders.runtime / "people.sock") as client:
            await self._until_up(client, victim)
            async with anyio.create_task_group() as tasks:
                tasks.start_soon(self._receive, client, victim)
                tasks.start_soon(self._send, client, victim, point)
                while victim.poll() is None:  # noqa: ASYNC110 - another process's end
                    await anyio.sleep(0.02)
                tasks.cancel_scope.cancel()

    async def _until_up(self, client: Client, victim: "subprocess.Popen[bytes]") -> None:
        with anyio.fail_after(START_S):
            while victim.poll() is None:
                try:
                    await client.status()
                except UnreachableError:
                    await anyio.sleep(0.02)
                else:
                    return

    async def _send(self, client: Client, victim: "subprocess.Popen[bytes]", point: str) -> None:
        """What was not acknowledged first, then new messages, until the daemon is dead."""
        while victim.poll() is None:
            if not self.unsent and self._waiting() < OUTSTANDING:
                self.count += 1
                words = self.words or WORDS.get(point, self.dice.choice(["", "FAKE:slow=2"]))
                self.words = ""
                self.unsent[f"x{self.count}"] = f"{words} token-{self.count}-".strip()
            for external_id, text in list(self.unsent.items()):
                try:
                    accepted = await client.receive(self._message(text, external_id))
                except UnreachableError:
                    return
                except ApiError as error:
                    if error.status != 429:
                        raise
                    await anyio.sleep(0.1)
                    continue
                assert accepted.turn is not None
                if self.accepted.setdefault(external_id, accepted.turn) != accepted.turn:
                    self.tally.twice += 1
                del self.unsent[external_id]
            await anyio.sleep(self.dice.uniform(0, 0.15))

    def _message(self, text: str, external_id: str = "") -> InboundMessage:
        return InboundMessage("", "shell", "", "", external_id or f"q{self.dice.random()}", text)

    def _waiting(self) -> int:
        return len(self.accepted) - sum(item.turn_state is not None for item in self.delivered.values())

    async def _receive(self, client: Client, victim: "subprocess.Popen[bytes]") -> None:
        """A bridge that behaves: it goes on from the last number it knows, and gives every receipt."""
        with suppress(UnreachableError):
            for delivery in sorted(self.unreceipted):
                await self._receipt(client, delivery)
            async for item in client.deliveries(after=self.last_number):
                if isinstance(item, Progress):
                    continue
                if item.delivery in self.delivered:
                    self.tally.twice += 1
                self.delivered[item.delivery] = item
                self.last_number = item.number
                self.unreceipted.add(item.delivery)
                if item.ask is not None and self.dice.random() < 0.5:
                    with suppress(ApiError):
                        await client.answer(item.ask, item.choices[0].key)
                await self._receipt(client, item.delivery)

    async def _receipt(self, client: Client, delivery: str) -> None:
        await client.receipt(delivery, Receipt(ReceiptOutcome.SENT))
        self.unreceipted.discard(delivery)

    async def _left_behind(self) -> int:
        """Processes of the dead daemon that are still alive when they may no longer be."""
        with anyio.move_on_after(LEFT_S):
            while self._processes():  # noqa: ASYNC110 - other processes' ends
                await anyio.sleep(0.05)
        left = self._processes()
        for pid in left:
            with suppress(ProcessLookupError):
                os.kill(pid, signal.SIGKILL)
        return len(left)

    def _processes(self) -> list[int]:
        mark = os.fsencode(self.house.folders.runtime)
        found = []
        for entry in Path("/proc").iterdir():
            if not entry.name.isdigit():
                continue
            with suppress(OSError):
                state = (entry / "stat").read_text().rpartition(")")[2].split()[0]
                if state != "Z" and mark in (entry / "environ").read_bytes():
                    found.append(int(entry.name))
        return found

    # The end

    async def _settle(self) -> None:
        """A daemon that is left alone: every accepted message comes to its end, every delivery goes out."""
        victim = self._start("none", 0)
        try:
            async with Client(self.house.folders.runtime / "people.sock") as client:
                await self._until_up(client, victim)
                async with anyio.create_task_group() as tasks:
                    tasks.start_soon(self._receive, client, victim)
                    for external_id, text in list(self.unsent.items()):
                        accepted = await client.receive(self._message(text, external_id))
                        assert accepted.turn is not None
                        self.accepted.setdefault(external_id, accepted.turn)
                    states = await self._ends(client)
                    with anyio.move_on_after(10):
                        while not all(self._told(turn) for turn in states):  # noqa: ASYNC110 - waits for the bridge
                            await anyio.sleep(0.05)
                    tasks.cancel_scope.cancel()
        finally:
            victim.send_signal(signal.SIGTERM)
            await anyio.to_thread.run_sync(victim.wait)
        self._count(states)
        self.tally.left += await self._left_behind()

    async def _ends(self, client: Client) -> dict[str, TurnState]:
        states: dict[str, TurnState] = {}
        with anyio.move_on_after(END_S):
            for turn in self.accepted.values():
                async for event in client.events(turn):
                    if event["type"] == "ask":
                        with suppress(ApiError):
                            await client.answer(event["ask"], event["choices"][0]["key"])
                    if event["type"] == "end":
                        states[turn] = TurnState(event["state"])
        return states

    def _told(self, turn: str) -> int:
        return sum(item.turn == turn and item.turn_state is not None for item in self.delivered.values())

    def _count(self, states: dict[str, TurnState]) -> None:
        self.tally.accepted = len(self.accepted)
        told = Counter(heard(self.house.log))
        for external_id, turn in self.accepted.items():
            ends = self._told(turn)
            token = f"token-{external_id[1:]}-"
            if turn not in states or ends == 0:
                self.tally.lost += 1
                self.tally.notes.append(f"lost {external_id} {turn} {states.get(turn)}")
            if ends > 1 or told[token] > 1:
                self.tally.twice += 1
                self.tally.notes.append(f"twice {external_id} {turn}: told {ends}, heard {told[token]}")
            self.tally.unknown += states.get(turn) is TurnState.INTERRUPTED


def heard(log: Path) -> list[str]:
    """The token of every message that an agent was sent as the current one, in their order."""
    marker = "[User's current message - respond to this:]"
    tokens = []
    for line in log.read_text(errors="replace").splitlines():
        _, found, words = line.rpartition(marker)
        if found and "token-" in words:
            tokens.append("token-" + words.split("token-")[1].split("-")[0] + "-")
    return tokens
