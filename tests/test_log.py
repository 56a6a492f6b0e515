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
