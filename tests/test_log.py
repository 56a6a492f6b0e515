"""What the log writes, and what it never does: stop the work."""

import json
import os
import subprocess
import sys
from datetime import datetime
from pathlib import Path

import pytest

from kai.log import Log
from kai.model.states import TurnState


def logged(capsys: pytest.CaptureFixture[str], level: str = "info", *, human: bool = False) -> list[str]:
    log = Log()
    log.set_up(level, human=human)
    log.debug("a.detail", n=1)
    log.info("turn.finished", turn="t-1", state=TurnState.DONE, where=Path("/x"), said="a\x1b[2Jb\ud800\nc")
    try:
        int("inside")
    except ValueError:
        log.exception("turn.broke")
    log.error("api.fault", exc_info=ZeroDivisionError("inside"))
    return capsys.readouterr().err.splitlines()


def test_a_program_gets_one_json_object_a_line(capsys: pytest.CaptureFixture[str]) -> None:
    rows = [json.loads(line) for line in logged(capsys)]
    assert [row["event"] for row in rows] == ["turn.finished", "turn.broke", "api.fault"]
    assert datetime.fromisoformat(rows[0].pop("timestamp")).tzinfo is not None
    assert rows[0] == {
        "event": "turn.finished",
        "level": "info",
        "turn": "t-1",
        "state": "done",
        "where": "/x",
        "said": "a\x1b[2Jb\ud800\nc",
    }
    assert "ValueError: invalid literal" in rows[1]["exception"]
    assert 'int("inside")' in rows[1]["exception"]
    assert rows[2]["exception"] == "ZeroDivisionError: inside"


def test_a_terminal_gets_lines_that_cannot_steer_it(capsys: pytest.CaptureFixture[str]) -> None:
    lines = logged(capsys, human=True)
    assert lines[0].endswith('info     turn.finished turn="t-1" state="done" where="/x" said="a\\u001b[2Jb\\ud800\\nc"')
    assert "ZeroDivisionError: inside" in lines
    assert "\x1b" not in "".join(lines)


@pytest.mark.parametrize(("level", "count"), [("debug", 4), ("info", 3), ("error", 2), ("critical", 0)])
def test_what_is_below_the_level_is_not_written(capsys: pytest.CaptureFixture[str], level: str, count: int) -> None:
    assert len([line for line in logged(capsys, level) if line.startswith("{")]) == count


def test_a_stderr_that_nobody_reads_stops_nothing() -> None:
    reading, writing = os.pipe()
    os.close(reading)
    code = "from kai.log import log; log.info('a.b'); print('still here')"
    done = subprocess.run([sys.executable, "-c", code], stdout=subprocess.PIPE, stderr=writing, text=True)
    os.close(writing)
    assert done.stdout == "still here\n"


STALLED = """
import sys, time
from kai.log import Log, log, set_up
set_up("info", human=False)
began = time.monotonic()
with log.apart():
    for number in range(40):
        for event in range(500):
            log.info(f"event.{event}", said="x" * 50)
    print(f"{time.monotonic() - began:.1f}", flush=True)
    sys.stdin.read(1)
    while log._waiting.qsize():
        time.sleep(0.01)
"""


def test_whoever_reads_stderr_may_stand_still_and_is_told_what_was_lost() -> None:
    with subprocess.Popen(
        [sys.executable, "-c", STALLED],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    ) as process:
        assert process.stdin
        assert process.stdout
        assert process.stderr
        assert float(process.stdout.readline()) < 5  # nobody has read a line so far
        process.stdin.write("x")
        process.stdin.close()
        rows = [json.loads(line) for line in process.stderr]
    (dropped,) = [row["lines"] for row in rows if row["event"] == "log.dropped"]
    assert len(rows) - 1 + dropped == 40 * 500
    assert len(rows) >= 10_000


def test_a_flood_of_one_event_is_counted_and_no_other_is_held_back(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    now = 0.0
    monkeypatch.setattr("time.monotonic", lambda: now)
    own = Log()
    own.set_up("info", human=False)
    for _ in range(3000):
        own.warning("api.crowded")
    own.info("turn.finished")
    now = 11.0
    own.warning("api.crowded")
    rows = [json.loads(line) for line in capsys.readouterr().err.splitlines()]
    assert len(rows) == 1002
    assert [row["event"] for row in rows[-2:]] == ["turn.finished", "api.crowded"]
    assert rows[-1]["left_out"] == 2000


def test_what_waits_is_written_before_the_end() -> None:
    code = "from kai.log import log\nwith log.apart():\n    [log.info('a.b', n=n) for n in range(900)]"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert len(done.stderr.splitlines()) == 900
