"""The two plain ways to show a conversation."""

import io
import json
from typing import Any

import pytest

from kai.bridges.terminal.view import PlainView, question_lines, rest_of, show_json, tool_line
from kai.model.states import TurnState
from tests.fake_daemon import ask_row, end_row, state_row, text_row, tool_row

pytestmark = pytest.mark.anyio
NOTICE = {"type": "notice", "text": "New session."}
LETTER = {"type": "letter", "text": "old"}


def test_a_tool_call_is_one_short_harmless_line() -> None:
    assert tool_line(tool_row("1", "read", "src/x.py", ok=True)) == "read src/x.py"
    failed = tool_row("1", "run", "make\ntest", ok=False, detail="exit 2\nboom")
    assert tool_line(failed) == "run make test: failed exit 2 boom"
    assert len(tool_line(tool_row("1", "run", "x" * 5000, ok=False, detail="y" * 5000))) <= 202
    assert "\x1b" not in tool_line(tool_row("1", "run", "\x1b[2J", ok=False, detail="\x1b]0;x\x07"))


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
        ("Hello", "Hello", ""),
        ("Good", "Good day", " day"),
        ("", "Hello", "Hello"),
        ("Hello\n\n", "Hello", ""),
        ("Draft", "Final", "\n\nFinal"),
        ("Hello", "", ""),
        ("Hello you, and", "Hello\nyou,", ""),
    ],
)
def test_of_the_authoritative_text_only_what_is_missing_is_shown(streamed: str, whole: str, rest: str) -> None:
    assert rest_of(whole, streamed) == rest


async def test_plain_stdout_holds_the_answer_and_nothing_else() -> None:
    out, err = io.StringIO(), io.StringIO()
    view = PlainView(out, err)
    rows: list[dict[str, Any]] = [
        state_row("running"), tool_row("1", "read", "x"), tool_row("1", "read", "x", ok=True), text_row("Good\x1b[31m"),
        text_row(" day"), NOTICE, ask_row(), LETTER, end_row("Good\x1b[31m day"), text_row("next\n"), end_row("next"),
    ]  # fmt: skip
    for row in rows:
        await view.show("t", row)
    assert out.getvalue() == "Good day\nnext\n"
    assert err.getvalue().startswith("· read x\nNew session.\nRun a command?\nrm -rf build\n  1. Allow once\n")
    assert err.getvalue().endswith("  3. Deny\nold\n")


async def test_on_a_terminal_what_happens_meanwhile_has_a_line_of_its_own() -> None:
    class Terminal(io.StringIO):
        def isatty(self) -> bool:
            return True

    terminal = Terminal()
    view = PlainView(terminal, terminal)
    for row in (text_row("half"), NOTICE, text_row(" way"), end_row("half way")):
        await view.show("t", row)
    assert terminal.getvalue() == "half\nNew session.\n way\n"


async def test_plain_stderr_says_why_a_turn_did_not_end_well() -> None:
    out, err = io.StringIO(), io.StringIO()
    view = PlainView(out, err)
    await view.show("t", end_row("half", TurnState.FAILED, "It crashed."))
    await view.show("t", end_row("", TurnState.STOPPED, ""))
    await view.show("t", end_row("", TurnState.INTERRUPTED, "kai was restarted"))
    again = "kai was restarted. Nothing is sent again by itself; /retry runs it again.\n"
    assert (out.getvalue(), err.getvalue()) == ("half\n", f"It crashed.\nThe turn is stopped.\n{again}")


async def test_json_is_one_object_a_line_and_the_last_has_turn_state_and_text(
    capsys: pytest.CaptureFixture[str],
) -> None:
    for row in (
        state_row("running"),
        text_row("a\nb\u2028\x9b"),
        tool_row("1", "read", "x"),
        ask_row(),
        end_row("a\nb"),
    ):
        await show_json("t-1", row)
    await show_json("", NOTICE)
    out = capsys.readouterr().out
    assert out.isascii()
    rows = [json.loads(line) for line in out.split("\n")[:-1]]
    assert [row["type"] for row in rows] == ["state", "text", "tool", "ask", "end", "notice"]
    assert {"turn_id": "t-1", "state": "done", "text": "a\nb"}.items() <= rows[4].items()
    assert rows[5]["turn_id"] is None


async def test_what_became_of_memory_is_told_beside_the_answer() -> None:
    out, err = io.StringIO(), io.StringIO()
    view = PlainView(out, err)
    await view.show("t", {**end_row("Noted."), "below": "— Saved (rec-1).\x1b[2J"})
    assert (out.getvalue(), err.getvalue()) == ("Noted.\n", "— Saved (rec-1).\n")
