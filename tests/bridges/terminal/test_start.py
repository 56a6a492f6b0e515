"""Without a prompt: what goes to stdout, what to stderr, and the exit status. As a script sees it."""

import json
import os
import signal
import subprocess
import sys
from pathlib import Path

from kai.model.states import TurnState
from kai.model.turns import DeliveryKind
from tests.fake_daemon import FakeDaemon, ask_row, end_row, state_row, text_row, tool_row
from tests.terminal import OnTerminal


def started(fake: FakeDaemon, *args: str) -> "subprocess.Popen[str]":
    argv = [sys.executable, "-m", "kai", "--runtime", str(fake.socket.parent), "--state", str(fake.socket.parent / "s")]
    pipe = subprocess.PIPE
    return subprocess.Popen([*argv, "chat", *args], stdin=pipe, stdout=pipe, stderr=pipe, text=True, env=environment())


def environment() -> dict[str, str]:
    return {"PATH": os.environ["PATH"], "HOME": "/nonexistent", "TERM": "xterm", "LANG": "C.UTF-8"}


def ran(fake: FakeDaemon, *args: str, given: str = "") -> tuple[int, str, str]:
    """Exit status, stdout, stderr."""
    process = started(fake, *args)
    out, err = process.communicate(given, timeout=15)
    return process.returncode, out, err


def test_one_message_prints_its_answer_and_nothing_else_on_stdout(fake: FakeDaemon) -> None:
    rows = (
        state_row("running"),
        tool_row("1", "read", "x"),
        tool_row("1", ok=True),
        text_row("It **is**\n"),
        text_row("so"),
    )
    fake.on_message = lambda turn: fake.tell(turn.turn, *rows, end_row("It **is**\nso"))
    fake.owe(DeliveryKind.NOTICE, "An old notice.")
    status, out, err = ran(fake, "is", "it", "so?")
    assert (status, out) == (0, "It **is**\nso\n")
    assert sorted(err.splitlines()) == ["An old notice.", "· read x"]
    assert fake.said() == ["is it so?"]
    assert sorted(fake.receipts()) == ["d-1", "d-2"]


def test_json_of_stdin_is_one_object_a_line_and_a_failed_turn_is_exit_status_1(fake: FakeDaemon) -> None:
    fake.on_message = lambda turn: fake.tell(
        turn.turn, text_row("half"), end_row("half", TurnState.FAILED, "It crashed.")
    )
    status, out, err = ran(fake, "--json", "-", given="over\nstdin\n")
    rows = [json.loads(line) for line in out.splitlines()]
    assert (status, err, fake.said()) == (1, "", ["over\nstdin\n"])
    assert rows[-1] == {
        "type": "end", "turn_id": "t-1", "state": "failed", "text": "half", "reason": "It crashed.", "failure": None,
    }  # fmt: skip


def test_lines_of_a_pipe_are_messages_in_order_and_the_end_of_the_pipe_is_the_end(fake: FakeDaemon) -> None:
    fake.on_message = lambda turn: fake.tell(turn.turn, end_row(f"to {turn.words}"))
    assert ran(fake, given="one\n\ntwo\nthree") == (0, "to one\nto two\nto three\n", "")
    assert fake.unconfirmed() == []


def test_the_first_interrupt_stops_the_turn_and_the_next_leaves(fake: FakeDaemon) -> None:
    fake.on_message = lambda turn: fake.tell(turn.turn, text_row("half"))
    process = started(fake, "go")
    assert process.stdout is not None
    assert process.stdout.read(4) == "half"
    process.send_signal(signal.SIGINT)
    assert process.wait(15) == 1
    assert fake.bodies("POST", "/v1/turns/t-1/stop") == [{}]
    assert "Traceback" not in process.communicate()[1]

    def answers_no_stop(method: str, path: str) -> None:
        fake.canned[method, path] = (200, {"state": "running", "sentence": "Asked to stop."})

    answers_no_stop("POST", "/v1/turns/t-2/stop")
    process = started(fake, "go")
    assert process.stdout is not None
    assert process.stdout.read(4) == "half"
    process.send_signal(signal.SIGINT)
    fake.wait(lambda: fake.bodies("POST", "/v1/turns/t-2/stop"))
    process.send_signal(signal.SIGINT)
    assert process.wait(15) == 1
    assert "Traceback" not in process.communicate()[1]


def test_on_a_terminal_the_answer_streams_and_a_question_is_answered_there(fake: FakeDaemon, tmp_path: Path) -> None:
    fake.on_message = lambda turn: fake.tell(turn.turn, tool_row("1", "read", "x.py"), tool_row("1", ok=True))
    argv = ["-m", "kai", "--runtime", str(fake.socket.parent), "--state", str(tmp_path), "chat", "go"]
    with OnTerminal(argv, env=environment()) as terminal:
        terminal.wait("· read x.py")
        fake.tell("t-1", text_row("Hello **you**, "), ask_row())
        terminal.wait("answer >")
        fake.on_answer = lambda body: fake.tell("t-1", state_row("running"), end_row("Hello **you**, done."))
        terminal.type("2\r")
        assert terminal.leave() == 0
    shown = [line for line in terminal.text.split("\n") if line and line[:2] != "  "]
    assert shown == [
        "· read x.py",
        "Hello **you**,",
        "Run a command?",
        "rm -rf build",
        "answer > 2",
        "Hello **you**, done.",
    ]
    assert fake.bodies("POST", "/v1/questions/q-1/answer") == [{"choice": "b", "text": ""}]
