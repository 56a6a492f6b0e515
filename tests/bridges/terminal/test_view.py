"""The two plain ways to show a conversation."""

import io
import json

import pytest

from kai.bridges.terminal.view import JsonView, PlainView, Rest, Tool, question_lines
from kai.model.states import TurnState
from tests.fake_daemon import ask_row, end_row

pytestmark = pytest.mark.anyio


def test_a_tool_call_is_one_short_harmless_line() -> None:
    assert Tool("1", "read", "src/x.py", ok=True).line() == "read src/x.py"
    assert Tool("1", "run", "make\ntest", ok=False, detail="exit 2\nboom").line() == "run make test: failed exit 2 boom"
    assert len(Tool("1", "run", "x" * 5000, ok=False, detail="y" * 5000).line()) <= 202
    assert "\x1b" not in Tool("1", "run", "\x1b[2J", ok=False, detail="\x1b]0;x\x07").line()


def test_a_question_shows_the_whole_of_its_arguments_and_numbered_choices() -> None:
    long = "\n".join(f"line {number}" for number in range(500))
    lines = question_lines(ask_row(detail=long))
    assert lines[0] == "Run a command?"
    assert lines[1:501] == long.split("\n")
    assert lines[501:] == ["  1. Allow once", "  2. Allow always", "  3. Deny"]
    assert question_lines(ask_row(detail="Run a command?"))[1] == "  1. Allow once"


@pytest.mark.parametrize(
    ("streamed", "whole", "rest"),
    [
        (["Hel", "lo"], "Hello", ""),
        (["Hel"], "Hello", "lo"),
        ([], "Hello", "Hello"),
        (["Hello\n\n"], "Hello", ""),
        (["Draft"], "Final", "\n\nFinal"),
        (["Hello"], "", ""),
        (["Hello you,", " and"], "Hello\nyou,", ""),
    ],
)
def test_of_the_authoritative_text_only_what_is_missing_is_shown(streamed: list[str], whole: str, rest: str) -> None:
    missing = Rest()
    for piece in streamed:
        missing.add(piece)
    assert missing.take(whole) == rest
    assert missing.take("next") == "next"


async def test_plain_stdout_holds_the_answer_and_nothing_else() -> None:
    out, err = io.StringIO(), io.StringIO()
    view = PlainView(out, err)
    await view.state("t", "running")
    await view.tool("t", Tool("1", "read", "x"))
    await view.tool("t", Tool("1", "read", "x", ok=True))
    await view.text("t", "Hel\x1b[31m")
    await view.text("t", "lo")
    await view.notice("t", "New session.")
    await view.ask("t", ask_row())
    await view.letter("Answer to an earlier message:", "old")
    await view.end("t", end_row("Hel\x1b[31mlo"))
    assert out.getvalue() == "Hello\n"
    assert err.getvalue().startswith("· read x\nNew session.\nRun a command?\nrm -rf build\n  1. Allow once\n")
    assert err.getvalue().endswith("Answer to an earlier message:\nold\n")


async def test_plain_stderr_says_why_a_turn_did_not_end_well() -> None:
    out, err = io.StringIO(), io.StringIO()
    view = PlainView(out, err)
    await view.end("t", end_row("half", TurnState.FAILED, "It crashed."))
    await view.end("t", end_row("", TurnState.STOPPED, ""))
    await view.end("t", end_row("", TurnState.INTERRUPTED, "kai was restarted"))
    again = "kai was restarted. Nothing is sent again by itself; /retry runs it again.\n"
    assert (out.getvalue(), err.getvalue()) == ("half\n", f"It crashed.\nThe turn is stopped.\n{again}")


async def test_json_is_one_object_a_line_and_the_last_has_turn_state_and_text() -> None:
    out = io.StringIO()
    view = JsonView(out)
    await view.state("t-1", "running")
    await view.text("t-1", "a\nb\u2028\x9b")
    await view.tool("t-1", Tool("1", "read", "x", ok=True))
    await view.ask("t-1", ask_row())
    await view.notice("", "n")
    await view.letter("h", "l")
    await view.end("t-1", end_row("a\nb"))
    assert out.getvalue().isascii()
    rows = [json.loads(line) for line in out.getvalue().split("\n")[:-1]]
    assert [row["type"] for row in rows] == ["state", "text", "tool", "ask", "notice", "letter", "end"]
    assert {"turn_id": "t-1", "state": "done", "text": "a\nb"}.items() <= rows[-1].items()
    assert rows[4]["turn_id"] is None
