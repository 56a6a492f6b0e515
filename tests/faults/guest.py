"""What goes on inside the machine whose power is cut or whose clock jumps: ``python -m tests.faults.guest PART``."""

import json
import os
import subprocess
import sys
from contextlib import closing
from hashlib import sha256
from pathlib import Path

import anyio

from kai.model.messages import InboundMessage
from kai.store import backup, opening, restore
from tests.e2e.house import House, Kai

DISK = Path("/tmp/disk")
SHARE = Path("/tmp/share")
YAML = "queue: {per_channel: 10000}\nbackups: {keep: 100}"


class Acks:
    """One line for everything that was promised; it is on the host's disk when this returns."""

    def __init__(self) -> None:
        self._file = os.open(SHARE / "acks", os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o600)

    def add(self, kind: str, what: str) -> None:
        os.write(self._file, f"{kind} {what}\n".encode())
        os.fsync(self._file)


async def accept() -> None:
    """Take messages, files and backups, and promise each, until the power is cut."""
    acks = Acks()

    async def messages(kai: Kai, lane: int) -> None:
        for number in range(10**6):
            key = f"{lane}-{number}"
            await kai.client.receive(InboundMessage("", "shell", f"{lane}", "", key, f"FAKE:say=fine {key}"))
            acks.add("message", key)

    async def files(kai: Kai) -> None:
        for number in range(10**6):
            info = await kai.client.attach(os.urandom(20_000), f"{number}.bin", "application/x-test")
            acks.add("file", f"{info['ref']}:{info['sha256']}")

    async def backups(kai: Kai) -> None:
        while True:
            acks.add("backup", (await kai.client.backup())["name"])
            await anyio.sleep(1)

    async with House(DISK / "house", yaml=YAML).open() as kai, anyio.create_task_group() as tasks:
        for lane in range(3):
            tasks.start_soon(messages, kai, lane)
        tasks.start_soon(files, kai)
        tasks.start_soon(backups, kai)


def found() -> dict[str, object]:
    """What is there after the cut, as a daemon would find it."""
    state = DISK / "house" / "state"
    whole = []
    for path in backup.every(state):
        restore.check(path)
        whole.append(path.name)
    attached = {}
    with closing(opening.connect_to(state / "kai.db", 1)) as db:
        damage = db.execute("PRAGMA integrity_check").fetchone()[0]
        keys = [row[0] for row in db.execute("SELECT external_id FROM message WHERE external_id IS NOT NULL")]
        for row in db.execute("SELECT ref, path FROM attachment"):
            attached[row["ref"]] = sha256(Path(row["path"]).read_bytes()).hexdigest()
    return {"messages": keys, "files": attached, "backups": whole, "damage": damage}


async def count() -> None:
    told = await anyio.to_thread.run_sync(found)
    async with House(DISK / "house", yaml=YAML).open() as kai:  # and a daemon starts on it
        told["doctor"] = [one["name"] for one in await kai.client.doctor()]
    (SHARE / "found").write_text(json.dumps(told))


def jump(by: str) -> None:
    subprocess.run(["date", "-s", by], check=True, stdout=subprocess.DEVNULL)


async def clock() -> None:
    """Turns, a question and an idle session while the clock goes a day forward and two days back."""
    seen = []
    house = House(DISK / "house", yaml="limits: {ask_s: 900}", limits={"silence_s": 60.0, "turn_s": 600.0})
    async with house.open() as kai:
        await kai.ask("before")
        for by in ("+1 day", "-2 days", "+1 day"):
            slow = await kai.say("FAKE:slow=40,0.05")
            await kai.until(slow, "text")
            await anyio.to_thread.run_sync(jump, by)
            seen.append((await kai.end(slow))["state"])
            asked = await kai.say("FAKE:ask")
            ask = await kai.until(asked, "ask")
            await anyio.to_thread.run_sync(jump, by.translate(str.maketrans("+-", "-+")))
            await anyio.sleep(1)
            await kai.client.answer(ask["ask"], ask["choices"][0]["key"])
            seen.append((await kai.end(asked))["state"])
            await anyio.to_thread.run_sync(jump, by)
        history = await kai.client.history("main")
        turns = [await kai.client.turn(one["turn"]) for one in await kai.client.turns()]
        told = {
            "states": seen,
            "first": history[0]["text"],
            "order": [one["number"] for one in history],
            "sessions": len({one["dispatches"][0]["session"] for one in turns}),
        }
    (SHARE / "found").write_text(json.dumps(told))


if __name__ == "__main__":
    anyio.run({"accept": accept, "count": count, "clock": clock}[sys.argv[1]])
