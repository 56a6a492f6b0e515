"""The interactive terminal, driven as a person drives it: on a terminal, key by key."""

import os
import stat
from collections.abc import Iterator
from contextlib import contextmanager
from functools import partial
from pathlib import Path

from kai.bridges.terminal.talk import history_in
from kai.model.states import TurnState
from kai.model.turns import DeliveryKind
from tests.fake_daemon import FakeDaemon, FakeTurn, ask_row, end_row, state_row, text_row
from tests.terminal import OnTerminal

RUNNING = "running; Ctrl-C stops it"


FIRST_TALK = f"""\
kai 0.1.0. Alt-Enter begins a new line, /help lists the commands, Ctrl-D leaves.
> first

On first.
> second

Queued: 1 before it.

And

╭─ question {"─" * 87}╮
│ {"Run a command?":96} │
│ {"rm -rf build":96} │
│ {"  1. Allow once":96} │
│ {"  2. Allow always":96} │
│ {"  3. Deny":96} │
╰{"─" * 98}╯
answer (1-3) > 3

on.

On second.

And off.
>
"""


def silent(turn: FakeTurn) -> None:
    """Nothing happens in a turn by itself."""


@contextmanager
def talking(fake: FakeDaemon, state: Path) -> Iterator[OnTerminal]:
    env = {"PATH": os.environ["PATH"], "HOME": str(state), "TERM": "xterm", "PROMPT_TOOLKIT_NO_CPR": "1"}
    argv = ["-m", "kai", "--runtime", str(fake.socket.parent), "--state", str(state), "chat"]
    with OnTerminal(argv, env=env) as terminal:
        terminal.wait(">")
        yield terminal


def test_a_conversation_with_queue_and_question_stands_in_the_scrollback_once_and_clean(
    fake: FakeDaemon, tmp_path: Path
) -> None:
    fake.on_message = lambda turn: fake.tell(turn.turn, state_row("running"), text_row(f"On **{turn.words}**.\n\nAnd"))
    with talking(fake, tmp_path) as terminal:
        terminal.type("first\r")
        terminal.wait("On first.")
        terminal.type("second\r")
        terminal.wait("Queued: 1 before it.")
        fake.tell("t-1", state_row("asking"), ask_row())
        terminal.wait("answer (1-3)")
        assert "rm -rf build" in terminal.text
        first = "On **first**.\n\nAnd on."
        fake.on_answer = lambda body: fake.tell("t-1", state_row("running"), text_row(" on."), end_row(first))
        terminal.type("3\r")
        terminal.wait("On second.")
        fake.tell("t-2", end_row("On **second**.\n\nAnd off."))
        terminal.wait("And off.")
        terminal.type("\x04")
        assert terminal.leave() == 0
    assert fake.said() == ["first", "second"]
    assert fake.unconfirmed() == []
    assert fake.bodies("POST", "/v1/questions/q-1/answer") == [{"choice": "c", "text": ""}]
    assert terminal.text == FIRST_TALK


def test_nothing_live_stays_on_the_screen_after_a_turn_nor_what_was_typed_ahead_meanwhile(
    fake: FakeDaemon, tmp_path: Path
) -> None:
    fake.on_message = silent
    with talking(fake, tmp_path) as terminal:
        for number, ahead in enumerate(("", "typed ahead"), start=1):
            terminal.type("go\r")
            fake.wait(partial(fake.turns.get, f"t-{number}"))
            fake.tell(f"t-{number}", state_row("running"), text_row(f"Coming {number}"))
            terminal.wait(f"Coming {number}\n{RUNNING}")
            terminal.type(ahead)
            terminal.wait(f"> {ahead}")
            fake.tell(f"t-{number}", end_row(f"Coming {number} and gone."))
            terminal.wait(f"and gone.\n> {ahead}".rstrip())
        terminal.type("\x15\x04")
        assert terminal.leave() == 0
    assert [line.strip() for line in terminal.text.splitlines()[1:] if line] == [
        *("> go", "Coming 1 and gone.", "> go", "Coming 2 and gone.", ">"),
    ]


def test_a_question_that_is_closed_already_leaves_the_prompt_with_the_refusal(fake: FakeDaemon, tmp_path: Path) -> None:
    fake.on_message = lambda turn: fake.tell(turn.turn, state_row("asking"), ask_row())
    problem = {"title": "Conflict", "detail": "It is closed already."}
    fake.canned["POST", "/v1/questions/q-1/answer"] = (409, problem)
    with talking(fake, tmp_path) as terminal:
        terminal.type("go\r")
        terminal.wait("answer (1-3)")
        terminal.type("1\r")
        terminal.wait("It is closed already.\nasking; Ctrl-C stops it\n>")
        terminal.type("\x04")
        assert terminal.leave() == 0


def test_text_of_several_lines_is_one_message_however_it_is_entered(fake: FakeDaemon, tmp_path: Path) -> None:
    with talking(fake, tmp_path) as terminal:
        terminal.type("ends in \\")
        terminal.type("\r")
        terminal.type("a backslash")
        terminal.type("\r")
        fake.wait(lambda: len(fake.turns) == 1)
        terminal.type("by key")
        terminal.type("\x1b\r")
        terminal.type("of one's own")
        terminal.type("\r")
        fake.wait(lambda: len(fake.turns) == 2)
        terminal.type("\x1b[200~pasted\r\n/quit\r\n\x1b[201~")
        terminal.type("\r")
        fake.wait(lambda: len(fake.turns) == 3)
        terminal.type("/quit\r")
        assert terminal.leave() == 0
    assert fake.said() == [
        "ends in \na backslash",
        "by key\nof one's own",
        "pasted\n/quit",
    ]


def test_ctrl_c_stops_the_turn_first_and_leaves_then(fake: FakeDaemon, tmp_path: Path) -> None:
    fake.on_message = lambda turn: fake.tell(turn.turn, state_row("running"))
    with talking(fake, tmp_path) as terminal:
        terminal.type("typed and taken back")
        terminal.type("\x03")
        terminal.type("go\r")
        terminal.wait(RUNNING)
        terminal.type("\x03")
        terminal.wait("Stopped.")
        terminal.type("\x03")
        assert terminal.leave() == 0
    assert terminal.text.count("Stopped") == 1
    assert fake.said() == ["go"]
    assert fake.bodies("POST", "/v1/turns/t-1/stop") == [{}]


def test_at_an_empty_prompt_ctrl_c_says_how_to_leave_and_the_next_one_does(fake: FakeDaemon, tmp_path: Path) -> None:
    with talking(fake, tmp_path) as terminal:
        terminal.type("\x03")
        terminal.wait("Ctrl-C once more leaves, and so does Ctrl-D.")
        terminal.type("\x03")
        assert terminal.leave() == 0
    assert "Traceback" not in terminal.text


def test_leaving_while_a_turn_runs_says_that_it_goes_on(fake: FakeDaemon, tmp_path: Path) -> None:
    fake.on_message = lambda turn: fake.tell(turn.turn, state_row("running"))
    with talking(fake, tmp_path) as terminal:
        terminal.type("go\r")
        terminal.wait(RUNNING)
        terminal.type("/exit\r")
        assert terminal.leave() == 0
    assert "The turn goes on; its answer is here when you come back." in terminal.text


def test_a_restart_of_the_daemon_is_said_and_what_was_typed_meanwhile_arrives(fake: FakeDaemon, tmp_path: Path) -> None:
    with talking(fake, tmp_path) as terminal:
        terminal.type("before\r")
        fake.wait(lambda: not fake.unconfirmed() and fake.turns)
        fake.stop()
        terminal.wait("The connection to the daemon is lost")
        terminal.type("meanwhile\r")
        fake.start()
        terminal.wait("Connected again.")
        fake.wait(lambda: fake.said() == ["before", "meanwhile"])
        terminal.type("\x04")
        assert terminal.leave() == 0


def test_what_is_owed_is_shown_at_the_start(fake: FakeDaemon, tmp_path: Path) -> None:
    fake.owe(DeliveryKind.ANSWER, "An *old* answer.", turn=None, turn_state=TurnState.DONE)
    with talking(fake, tmp_path) as terminal:
        terminal.wait("An old answer.")
        fake.wait(lambda: not fake.unconfirmed())
        terminal.type("\x04")
        assert terminal.leave() == 0


def test_a_refusal_is_told_with_what_to_do(fake: FakeDaemon, tmp_path: Path) -> None:
    problem = {"title": "Too many", "detail": "20 messages are waiting already.", "hint": "Wait for an answer."}
    fake.canned["POST", "/v1/messages"] = (429, problem)
    with talking(fake, tmp_path) as terminal:
        terminal.type("go\r")
        terminal.wait("20 messages are waiting already. Wait for an answer.")
        terminal.type("\x04")
        assert terminal.leave() == 0


def test_slash_commands_go_to_the_daemon_and_their_replies_are_shown(fake: FakeDaemon, tmp_path: Path) -> None:
    reply = {"message": None, "turn": None, "channel": "c-main", "reply": "Commands: \x1b[31m/stop"}
    fake.canned["POST", "/v1/messages"] = (202, reply)
    with talking(fake, tmp_path) as terminal:
        terminal.type("/help\r")
        terminal.wait("Commands: /stop")
        terminal.type("\x04")
        assert terminal.leave() == 0
    assert fake.bodies("POST", "/v1/messages")[0]["text"] == "/help"


def test_what_was_typed_is_kept_where_nobody_else_reads_it_and_comes_back(fake: FakeDaemon, tmp_path: Path) -> None:
    state = tmp_path / "state"
    with talking(fake, state) as terminal:
        terminal.type("remember me\r")
        fake.wait(lambda: fake.turns)
        terminal.type("\x04")
        assert terminal.leave() == 0
    assert stat.S_IMODE((state / "terminal_history").stat().st_mode) == 0o600
    with talking(fake, state) as terminal:
        terminal.type("\x1b[A")
        terminal.wait("remember me")
        terminal.type("\r")
        fake.wait(lambda: fake.said() == ["remember me"] * 2)


def test_history_that_cannot_be_kept_lasts_as_long_as_the_talk(tmp_path: Path) -> None:
    (tmp_path / "target").touch()
    (tmp_path / "link").symlink_to(tmp_path / "target")
    history = history_in(tmp_path / "link")
    history.store_string("x")
    assert (tmp_path / "target").read_text() == ""


def test_bytes_that_are_no_text_are_sent_and_kept_mended(fake: FakeDaemon, tmp_path: Path) -> None:
    with talking(fake, tmp_path) as terminal:
        terminal.type_bytes(b"na\xefve\r")
        fake.wait(lambda: fake.said() == ["na\ufffdve"])
        terminal.type("\x04")
        assert terminal.leave() == 0
    assert "+na\ufffdve\n" in (tmp_path / "terminal_history").read_text()
