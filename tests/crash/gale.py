"""Every kind of fault at once, in thousands: daemons and agents killed, turns stopped, nonsense on every socket."""

import json
import os
import random
import signal
import socket
import subprocess
import time
from collections import Counter
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path

import anyio
from anyio import to_thread

from kai.client import Client
from kai.model.errors import ApiError, UnreachableError
from tests.crash.storm import Storm, Tally
from tests.crash.victim import POINTS

LIFE_S = 30.0  # of a daemon, at most
FINISH_S = 1.0  # for a bomb to go off when all else of this life is done
QUIET_S = 20.0  # for what is over to be gone
SHARES = {"daemon": 0.055, "agent": 0.05, "stop": 0.05, "noise": 0.05}  # the rest are frames and requests
AFTER = 0.05  # of all faults go at one daemon, which is then looked at for leaks
PATHS = ("/v1/messages", "/v1/turns/x/stop", "/v1/questions/x/answer", "/v1/use", "/v1/people", "/v1/nowhere", "/")
NOISE = ("FAKE:noise", "FAKE:unknown", "FAKE:noise FAKE:unknown FAKE:u2028", "FAKE:die", "FAKE:empty", "FAKE:stderr")


@dataclass
class Plan:
    """How many of each kind are still to come."""

    left: Counter[str] = field(default_factory=Counter)

    @classmethod
    def of(cls, faults: int, *but: str) -> "Plan":
        shares = {kind: max(1, round(faults * share)) for kind, share in SHARES.items() if kind not in but}
        frames = max(0, faults - sum(shares.values()))
        shares |= {"bytes": frames // 3, "half": frames // 3, "request": frames - 2 * (frames // 3)}
        return cls(Counter(shares))

    def slice(self, lives: int, dice: random.Random) -> list[str]:
        """What one life of a daemon gets, in some order: its share of all that is left, the kill apart."""
        kinds = [kind for kind, left in self.left.items() if kind != "daemon" for _ in range(-(-left // max(1, lives)))]
        dice.shuffle(kinds)
        return kinds


class Gale(Storm):
    """A storm with a bridge that behaves and everybody else who does not."""

    def __init__(self, root: Path, dice: random.Random) -> None:
        super().__init__(root, dice)
        self.plan = Plan()
        self.done: Counter[str] = Counter()
        self.leaked: Counter[str] = Counter()
        self.todo: list[str] = []
        self.noise = 0

    async def blow(self, faults: int) -> Tally:
        self.plan = Plan.of(round(faults * (1 - AFTER)))
        while sum(self.plan.left.values()) > 0:
            await self._life()
        await self._after(faults - sum(self.done.values()))
        await self._settle()
        return self.tally

    def _did(self, kind: str) -> None:
        self.done[kind] += 1
        self.plan.left[kind] = max(0, self.plan.left[kind] - 1)

    async def _life(self) -> None:
        """A daemon is started, harmed, and killed: by a bomb within, or from outside when its harms are done."""
        lives = self.plan.left["daemon"]
        self.todo = self.plan.slice(lives, self.dice)
        point = self.dice.choice([*POINTS, "none", "none", "none", "none"])
        victim = self._start(point, self.dice.randint(1, 5))
        try:
            with anyio.move_on_after(LIFE_S):
                await self._live_with(victim, point)
        finally:
            by_itself = victim.poll() is not None
            if not by_itself:
                victim.kill()
            await to_thread.run_sync(victim.wait)
        assert victim.returncode == -signal.SIGKILL, f"{point}: ended with {victim.returncode}"
        self._did("daemon")
        self.tally.kills[point if by_itself and point != "none" else "outside"] += 1
        self.tally.left += await self._left_behind()

    async def _live_with(self, victim: "subprocess.Popen[bytes]", point: str) -> None:
        async with Client(self.house.folders.runtime / "people.sock") as client:
            await self._until_up(client, victim)
            async with anyio.create_task_group() as tasks:
                tasks.start_soon(self._receive, client, victim)
                tasks.start_soon(self._send, client, victim, point)
                await self._harm_all(client, victim)
                if point != "none":
                    with anyio.move_on_after(FINISH_S):
                        while victim.poll() is None:  # noqa: ASYNC110 - another process's end
                            await anyio.sleep(0.01)
                victim.kill()
                tasks.cancel_scope.cancel()

    async def _harm_all(self, client: Client, victim: "subprocess.Popen[bytes]") -> None:
        """What needs something that runs goes beside what needs only the sockets."""
        slow = [kind for kind in self.todo if kind in ("agent", "stop", "noise")]
        quick = [kind for kind in self.todo if kind not in ("agent", "stop", "noise")]
        async with anyio.create_task_group() as tasks:
            for kinds in (slow, quick):
                tasks.start_soon(self._harm, kinds, client, victim)

    async def _harm(self, kinds: list[str], client: Client, victim: "subprocess.Popen[bytes]") -> None:
        harms = {"agent": self._kill_agent, "stop": self._stop_turn, "noise": self._noise}
        with suppress(UnreachableError):
            while kinds and victim.poll() is None:
                kind = kinds[-1]
                was_done = await (harms[kind](client) if kind in harms else self._nonsense(kind))
                if was_done and victim.poll() is None:
                    self._did(kind)
                    kinds.pop()

    async def _kill_agent(self, _: Client) -> bool:
        """One of the agents, busy or not."""
        agents = [pid for pid in self._processes() if is_agent(pid)]
        if not agents:
            await anyio.sleep(0.02)
            return False
        with suppress(ProcessLookupError):
            os.kill(self.dice.choice(agents), signal.SIGKILL)
            return True
        return False

    async def _stop_turn(self, client: Client) -> bool:
        """A turn that runs or waits; one that has ended since does not count."""
        ended = {one.turn for one in self.delivered.values() if one.turn_state is not None}
        live = [turn for turn in list(self.accepted.values())[-6:] if turn not in ended]
        if live:
            with suppress(ApiError):
                return bool(await client.stop(self.dice.choice(live)))
        self.words = self.words or "FAKE:slow=40"  # so that there is something to stop
        await anyio.sleep(0.02)
        return False

    async def _noise(self, _: Client) -> bool:
        """From the other side: an agent that misbehaves."""
        self.words, before = self.dice.choice(NOISE), self.count
        with anyio.move_on_after(2):
            while self.count == before:  # noqa: ASYNC110 - the sender takes it along
                await anyio.sleep(0.01)
        return self.count > before

    async def _nonsense(self, kind: str) -> bool:
        name = self.dice.choice(("people.sock", "people.sock", "agents.sock"))
        data = {"bytes": self._bytes, "half": self._half, "request": self._request}[kind]()
        refused = await to_thread.run_sync(throw, self.house.folders.runtime / name, data, kind == "half")
        if refused is None:
            raise UnreachableError(name, "the daemon is gone")
        return True

    def _bytes(self) -> bytes:
        return self.dice.randbytes(self.dice.choice((1, 17, 300, 5000, 70_000)))

    def _half(self) -> bytes:
        whole = self._request()
        return whole[: self.dice.randrange(len(whole))]

    def _request(self) -> bytes:
        """Something that is HTTP, and that no handler should like."""
        body = self.dice.choice(
            (
                b"[" * 10_000,
                b'{"a": 1, "a": 2}',
                b'{"chat": null, "external_id": 7}',
                json.dumps({"chat": "c", "external_id": "e", "text": "x", "uid": 0}).encode(),
                b'{"n": ' + b"9" * 5000 + b"}",
                b'{"text": "\xff\xfe\x00"}',
                self.dice.randbytes(2000),
                b"{}",
            )
        )
        method, path = self.dice.choice(("POST", "PUT", "DELETE", "PATCH", "BREW")), self.dice.choice(PATHS)
        length = len(body) if self.dice.random() < 0.8 else self.dice.choice((0, 10**9, 10**18))
        lines = (f"{method} {path} HTTP/1.1", "content-type: application/json", f"content-length: {length}")
        return "\r\n".join((*lines, "connection: close", "", "")).encode() + body

    # One daemon that is only harmed, and looked at before and after

    async def _after(self, faults: int) -> None:
        self.plan = Plan.of(faults, "daemon")
        self.todo = self.plan.slice(1, self.dice)
        victim = self._start("none", 0)
        try:
            path = (
                self.house.folders.runtime / "people.sock"
            )  # clients of their own: each keeps connections for a while
            async with Client(path) as client:
                await self._until_up(client, victim)
                before = await self._measured(client, victim)
            async with Client(path) as client, anyio.create_task_group() as tasks:
                tasks.start_soon(self._receive, client, victim)
                tasks.start_soon(self._send, client, victim, "none")
                await self._harm_all(client, victim)
                tasks.cancel_scope.cancel()
            async with Client(path) as client:
                after = await self._measured(client, victim, before)
            assert victim.poll() is None
        finally:
            victim.send_signal(signal.SIGTERM)
            await to_thread.run_sync(victim.wait)
        self.leaked += Counter({name: count - before[name] for name, count in after.items() if count > before[name]})
        self.tally.notes.append(f"before {dict(before)}, after {dict(after)}")
        self.tally.left += await self._left_behind()

    async def _measured(
        self, client: Client, victim: "subprocess.Popen[bytes]", bound: Counter[str] | None = None
    ) -> Counter[str]:
        """What the daemon holds when nothing runs, just after a turn; with `bound`, once it is no more than that."""
        found: Counter[str] = Counter()
        with anyio.move_on_after(QUIET_S * 3):
            while (await client.status())["running"]:  # noqa: ASYNC110 - another process's doing
                await anyio.sleep(0.05)
            turn = await client.receive(self._message("FAKE:say=quiet"))
            async for event in client.events(turn.turn or ""):
                if event["type"] == "end":
                    break
            self.accepted[f"q{self.noise}"] = turn.turn or ""
        end = anyio.current_time() + QUIET_S
        while anyio.current_time() < end:
            await anyio.sleep(0.2)
            found = await to_thread.run_sync(self._held, victim)
            if bound is not None and all(found[name] <= bound[name] for name in found):
                break
            if bound is None and anyio.current_time() > end - QUIET_S + 2:
                break
        return found

    def _held(self, victim: "subprocess.Popen[bytes]") -> Counter[str]:
        told = self.house.root / "held.json"
        told.unlink(missing_ok=True)
        victim.send_signal(signal.SIGUSR1)
        for _ in range(200):
            with suppress(OSError, ValueError):
                found: dict[str, int] = json.loads(told.read_text())
                runs = list((self.house.folders.runtime / "runs").iterdir())
                return Counter({**found, "run folders": len(runs), "processes": len(self._processes())})
            time.sleep(0.01)
        return Counter()

    @classmethod
    def sum(cls, gales: list["Gale"]) -> "Gale":
        """One that has counted what all of them did."""
        total = gales[0]
        for other in gales[1:]:
            total.done += other.done
            total.leaked += other.leaked
            total.tally.kills += other.tally.kills
            total.tally.notes += other.tally.notes
            for name in ("accepted", "lost", "twice", "left", "unknown"):
                setattr(total.tally, name, getattr(total.tally, name) + getattr(other.tally, name))
        return total

    def last_line(self) -> str:
        tally = self.tally
        return (
            f"storm: {sum(self.done.values())} faults, accepted {tally.accepted}, lost {tally.lost}, "
            f"twice {tally.twice}, left {tally.left}, leaked {sum(self.leaked.values())}"
        )


def is_agent(pid: int) -> bool:
    with suppress(OSError):
        argv = Path(f"/proc/{pid}/cmdline").read_bytes().split(b"\0")
        return any(part.endswith(b"fake_agent/__main__.py") for part in argv)
    return False


def throw(path: Path, data: bytes, lets_go: bool) -> bool | None:
    """Send it and read what comes, or let go at once. None when nobody listens any more."""
    with socket.socket(socket.AF_UNIX) as peer:
        peer.settimeout(5)
        try:
            peer.connect(str(path))
        except OSError:
            return None
        with suppress(OSError):
            peer.sendall(data)
            if lets_go:
                return True
            peer.shutdown(socket.SHUT_WR)
            while peer.recv(65_536):
                pass
    return True
