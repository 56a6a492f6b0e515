"""A thousand messages wait for one agent when the daemon is killed halfway: each is answered once, in order."""

import re
from collections.abc import Callable
from pathlib import Path

import anyio
import pytest

from kai.client import Client
from tests.crash.storm import heard
from tests.e2e.house import House
from tests.e2e.served import say, served

pytestmark = [pytest.mark.anyio, pytest.mark.timeout(400)]
MESSAGES = 1000
Seen = Callable[[str, object], None]


async def until_waiting(client: Client, count: int) -> None:
    while (counts := (await client.status())["counts"])["turns_queued"] + counts["turns_live"] > count:  # noqa: ASYNC110
        await anyio.sleep(0.1)


async def test_a_thousand_queued_messages_survive_a_kill_halfway(tmp_path: Path, record_property: Seen) -> None:
    house = House(tmp_path, yaml="queue: {per_channel: 2000}")
    async with served(house) as (process, client):
        turns = []
        for number in range(MESSAGES):
            accepted = await say(client, f"token-{number}-", f"k{number}")
            turns.append(accepted.turn or "")
        waiting = accepted.queued_before
        grown = rss_mib(process.pid)
        await until_waiting(client, MESSAGES // 2)
        process.kill()
        process.wait()
    async with served(house) as (process, client):
        again = await say(client, "token-7-", "k7")
        assert (again.duplicate, again.turn) == (True, turns[7])
        await until_waiting(client, 0)
        states = [(await client.turn(turn))["state"] for turn in turns]
    asked = [int(re.findall(r"\d+", token)[0]) for token in heard(house.log)]
    assert asked == sorted(asked), "in order"
    assert len(asked) == len(set(asked)), "none twice"
    assert states.count("done") + states.count("interrupted") == MESSAGES
    assert states.count("interrupted") <= 1, "the one that ran"
    assert set(asked) >= {number for number, state in enumerate(states) if state == "done"}
    record_property(
        "seen",
        f"{MESSAGES} accepted ({waiting} waiting, {grown} MiB), kill halfway: {states.count('done')} answered once in "
        f"order, {states.count('interrupted')} owned up to",
    )


def rss_mib(pid: int) -> int:
    return int(Path(f"/proc/{pid}/statm").read_text().split()[1]) * 4096 // 2**20
