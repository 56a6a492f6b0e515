"""Whatever is killed in mid-turn: it is owned up to once, nothing of it is left, and the talk goes on."""

import os
import signal
import socket
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import anyio
import pytest

from kai.model.states import TurnState
from kai.model.turns import DeliveryKind
from tests.e2e.house import House
from tests.e2e.served import end_of, everything_owed, gone, processes_of, say, served, until_said

pytestmark = [pytest.mark.anyio, pytest.mark.timeout(60)]
Seen = Callable[[str, object], None]


async def test_a_daemon_killed_in_mid_turn(tmp_path: Path, record_property: Seen) -> None:
    house = House(tmp_path)
    async with served(house) as (process, client):
        first = await say(client, "FAKE:remember=pelican", "a")
        await end_of(client, first)
        await everything_owed(client, 0.3)
        cut = await say(client, "FAKE:escape FAKE:child FAKE:slow=2000,0.1", "b")
        await until_said(client, cut)
        assert len(processes_of(house)) >= 4
        process.kill()
        process.wait()
        seconds = await gone(house, 1.0)
    async with served(house) as (_, client):
        turn = await client.turn(cut.turn or "")
        assert turn["state"] == "interrupted"
        owed = await everything_owed(client)
        assert [one.turn_state for one in owed if one.turn == cut.turn] == [TurnState.INTERRUPTED]
        after = await say(client, "FAKE:recall", "c")
        await end_of(client, after)
        answers = [one.text for one in await everything_owed(client) if one.kind is DeliveryKind.ANSWER]
        assert answers == ["word: pelican"], "the same session goes on, and no answer comes twice"
    assert house.log.read_text().count("respond to this:]\\nFAKE:escape") == 1, "no agent was asked twice"
    record_property("seen", f"agents gone in {seconds:.2f} s, interrupted, told once, session resumed, nothing twice")


async def test_an_agent_killed_in_mid_stream(tmp_path: Path, record_property: Seen) -> None:
    house = House(tmp_path)
    async with served(house) as (_, client):
        accepted = await say(client, "FAKE:pid FAKE:escape FAKE:child FAKE:slow=2000,0.02", "a")
        said = await until_said(client, accepted, "chunk3")
        before = len(processes_of(house))
        leader = int(said.split("pid ")[1].split()[0])
        os.kill(leader, signal.SIGKILL)
        assert (await end_of(client, accepted))["state"] == "failed"
        turn = await client.turn(accepted.turn or "")
        assert turn["failure"] == "crash"
        assert turn["answer_text"].startswith(f"pid {leader} escaped")
        assert turn["incomplete"]
        with anyio.fail_after(2):
            while len(processes_of(house)) > 1:  # noqa: ASYNC110 - all but the daemon
                await anyio.sleep(0.02)
        again = await say(client, "still there?", "b")
        assert (await end_of(client, again))["state"] == "done"
    record_property("seen", f"failed (crash), partial kept and marked, {before - 1} processes gone, next is answered")


async def test_an_agent_that_hangs_is_ended_with_the_reason(tmp_path: Path, record_property: Seen) -> None:
    house = House(
        tmp_path, limits={"silence_s": 1.0, "first_output_s": 1.0, "stop_s": 0.5, "eof_s": 0.3, "term_s": 0.3}
    )
    async with house.open() as kai:
        began = anyio.current_time()
        turn = await kai.ask("FAKE:stubborn FAKE:nostop FAKE:child FAKE:silent")
        assert (turn["state"], turn["failure"]) == ("failed", "silent")
        assert "sign of life" in turn["reason"]
        seconds = anyio.current_time() - began
        await gone(house, 2.0)
        assert (await kai.ask("and now?"))["state"] == "done"
    record_property("seen", f"failed (silent) after {seconds:.1f} s at a limit of 1 s, tree gone, next is answered")


STUCK = """
import time
import anyio
from kai.cli import main
from kai.turns.live import LiveTurn
add = LiveTurn.add
def stuck(self, row, **fields):
    if row == "text":
        while True:
            time.sleep(0.1)
    add(self, row, **fields)
LiveTurn.add = stuck
main(["serve"])
"""


async def test_a_loop_that_is_stuck_beats_no_more_and_its_abort_shows_where(
    tmp_path: Path, record_property: Seen
) -> None:
    house = House(tmp_path)
    manager = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
    manager.bind(str(tmp_path / "notify"))
    manager.settimeout(2.0)
    own = {"NOTIFY_SOCKET": str(tmp_path / "notify"), "WATCHDOG_USEC": "600000"}
    with pytest.MonkeyPatch.context() as patch:
        for name, value in own.items():
            patch.setenv(name, value)
        async with served(house, argv=[sys.executable, "-c", STUCK]) as (process, client):
            accepted = await say(client, "hello", "a")
            assert accepted.turn
            await anyio.to_thread.run_sync(beats_end, manager)
            process.send_signal(signal.SIGABRT)  # what systemd does then
            await anyio.to_thread.run_sync(process.wait)
            assert process.returncode == -signal.SIGABRT
    manager.close()
    said = (tmp_path / "daemon.log").read_text()
    assert "Fatal Python error: Aborted" in said
    assert 'File "<string>", line 10 in stuck' in said
    async with served(house) as (_, client):
        assert (await client.turn(accepted.turn))["state"] == "interrupted"
    await gone(house, 2.0)
    record_property("seen", "no beat within 3 of them, SIGABRT, traceback with file and line, next start owns up")


def beats_end(manager: socket.socket) -> None:
    """Returns when no beat came for more than three of them."""
    while True:
        try:
            manager.recv(4096)
        except TimeoutError:
            return


async def test_what_a_killed_daemon_leaves_does_not_hinder_the_next(tmp_path: Path, record_property: Seen) -> None:
    house = House(tmp_path)
    async with served(house) as (process, client):
        await end_of(client, await say(client, "one", "a"))
        process.kill()
        process.wait()
    runtime = house.folders.runtime
    assert (runtime / "people.sock").exists()
    other = subprocess.Popen(["sleep", "100"])  # noqa: ASYNC220
    try:
        (house.folders.state / "kai.db.lock").write_text(f"{other.pid}\n")  # the pid passed on to somebody else
        async with served(house) as (_, client):
            assert (await end_of(client, await say(client, "two", "b")))["state"] == "done"
        assert other.poll() is None
    finally:
        other.kill()
        other.wait()
    record_property(
        "seen", "starts over the lock, the sockets and the pid of a killed daemon; a stranger's process is spared"
    )
