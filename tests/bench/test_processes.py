"""Processes that are measured come up, or say why not, and are gone afterwards."""

import json
import sqlite3  # noqa: TID251 - the baseline is looked at from outside
import sys
from pathlib import Path

import pytest

from kai.bench.processes import bare_server, plain_environment, process, pss_bytes, until_ready
from kai.bench.raw import Connection, RawError
from kai.bench.warm_turn import Side


def test_a_process_that_does_not_come_up_says_why(tmp_path: Path) -> None:
    log = tmp_path / "log"
    argv = (sys.executable, "-c", "raise SystemExit('no room')")
    with process(argv, plain_environment(), log) as child, pytest.raises(RawError, match="no room"):
        until_ready(child, tmp_path / "socket", log)


def test_the_bare_server_does_the_work_of_a_turn_and_no_other(tmp_path: Path) -> None:
    database, prompt = tmp_path / "bare.db", tmp_path / "prompt"
    prompt.write_text("echo the very prompt")
    with bare_server(tmp_path, str(database), str(prompt)) as (child, path):
        with Connection(path) as requests, Connection(path) as events:
            _, first = Side(requests, events).turn()
        assert pss_bytes(child.pid) > 5_000_000
    told = json.loads(first.partition(b"data: ")[2].partition(b"\n")[0])
    assert told["text"].endswith("the very prompt")
    db = sqlite3.connect(database)
    said = [row[0] for row in db.execute("SELECT text FROM said ORDER BY seq")]
    db.close()
    assert len(said) == 3  # the message, what the agent was given, what it answered
    assert said[1:] == [prompt.read_text(), told["text"]]
    assert child.returncode is not None
    assert not path.exists()
