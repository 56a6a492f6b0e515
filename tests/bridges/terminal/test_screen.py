"""What is finished stands in the scrollback once; what is still coming is drawn below it. It can only ever be shown."""

import io

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from rich.console import Console

from kai.bridges.terminal import screen
from kai.bridges.terminal.screen import ScreenView, markdown
from kai.bridges.terminal.view import Row
from kai.model.states import TurnState
from tests.fake_daemon import ask_row, end_row, text_row, tool_row

pytestmark = pytest.mark.anyio


def printed(text: str) -> str:
    """A block of Markdown, without the spaces that fill its lines."""
    out = io.StringIO()
    Console(file=out, width=60, markup=False, highlight=False, emoji=False).print(markdown(text))
    return "\n".join(line.rstrip() for line in out.getvalue().split("\n"))


def test_markdown_is_rendered() -> None:
    assert printed("**bold** and `code`") == "bold and code\n"


@pytest.mark.parametrize(
    "text", ["Use Vec<T> here", "<details>why</details>", "a <!-- b --> c", "some_name :smile:", "[x]"]
)
def test_what_looks_like_markup_of_another_kind_is_not_lost(text: str) -> None:
    assert printed(text).strip() == text


def test_a_link_shows_where_it_leads() -> None:
    assert "https://evil.example/x" in printed("[your bank](https://evil.example/x)")


def test_an_entity_cannot_name_a_control_character() -> None:
    assert "\u202e" not in printed("a&#x202e;b [x](http://a/&#x202e;) ![&#x202e;](b)\n\n# &#x202e;")
    assert "\x1b" not in printed("a&#27;[2Jb &#x9b;c [x](http://a/&#27;) ![&#27;](b)\n\n```\n&#27;\n```")


@settings(deadline=None)
@given(st.text(st.sampled_from("ab \n`*_<>&#27;x[]()|-\x1b\x9b\u202e!"), max_size=80))
def test_no_text_steers_the_terminal(text: str) -> None:
    assert not {"\x1b", "\x9b", "\u202e"} & set(printed(text))


class Paper:
    """A view, what it has printed for good, and what stands below that."""

    def __init__(self, capsys: pytest.CaptureFixture[str]) -> None:
        self._capsys, self.view = capsys, ScreenView()
        self.text = ""
        self.twice: list[str] = []

    async def show(self, *rows: Row) -> None:
        for row in rows:
            await self.view.show("t", row)
            added = "\n".join(line.rstrip() for line in self._capsys.readouterr().out.split("\n"))
            self.twice += [line for line in self.view.tail if line in added]
            self.text += added


@pytest.fixture
def paper(capsys: pytest.CaptureFixture[str]) -> Paper:
    return Paper(capsys)


async def test_a_block_goes_to_the_scrollback_when_it_is_finished(paper: Paper) -> None:
    await paper.show(text_row("One **bo"))
    assert (paper.text, paper.view.tail) == ("", ["One **bo"])
    await paper.show(text_row("ld**.\n\nTwo"))
    assert (paper.text, paper.view.tail) == ("\nOne bold.\n", ["Two"])
    await paper.show(end_row("One **bold**.\n\nTwo"))
    assert (paper.text, paper.view.tail) == ("\nOne bold.\n\nTwo\n", [])


async def test_nothing_stands_in_the_scrollback_and_below_it_at_once(paper: Paper) -> None:
    tool = tool_row("1", "read", "x")
    rows = (text_row("before the tool"), tool, {**tool, "ok": True}, text_row("a\n\nb\n\nc"), ask_row())
    await paper.show(*rows, text_row("after"), end_row("x"))
    assert paper.twice == []


async def test_a_tool_stands_below_while_it_runs_and_above_once_it_ended(paper: Paper) -> None:
    await paper.show(tool_row("1", "read", "x.py"))
    assert (paper.text, paper.view.tail) == ("", ["… read x.py"])
    await paper.show(tool_row("1", "read", "x.py", ok=True), tool_row("2", "run", "make", ok=False, detail="exit 2"))
    assert (paper.text, paper.view.tail) == ("· read x.py\n✗ run make: failed exit 2\n", [])


async def test_a_tool_that_never_ended_is_shown_at_the_end(paper: Paper) -> None:
    await paper.show(tool_row("1", "run", "make"), end_row("", TurnState.STOPPED, "Stopped."))
    assert (paper.text, paper.view.tail) == ("… run make\nStopped.\n", [])


async def test_a_question_shows_everything(paper: Paper) -> None:
    await paper.show(ask_row(detail="rm -rf [build]\x1b[0m"))
    assert all(part in paper.text for part in ("Run a command?", "rm -rf [build] ", "1. Allow once", "3. Deny"))


async def test_the_end_shows_what_was_not_streamed(paper: Paper) -> None:
    await paper.show(end_row("Whole answer."), text_row("Hal"), end_row("Half of it"))
    assert paper.text == "\nWhole answer.\n\nHalf of it\n"


async def test_one_turn_leaves_nothing_behind_for_the_next(paper: Paper) -> None:
    text = "```\nnever closed"
    await paper.show(text_row(text), end_row(text, TurnState.FAILED, "It crashed."))
    paper.text = ""
    await paper.show(text_row("fresh *start*\n\n"), end_row("fresh *start*"))
    assert paper.text == "\nfresh start\n"


async def test_only_a_few_lines_are_drawn_below_however_much_is_coming(paper: Paper) -> None:
    await paper.show(text_row("```\n" + "".join(f"line {number}\n" for number in range(1000))))
    assert len(paper.view.tail) <= screen.TAIL_LINES
    assert paper.view.tail[-1] == "line 999"
    await paper.show(text_row("x" * 10_000))
    assert max(map(len, paper.view.tail)) < 200


async def test_what_is_coming_is_harmless_too(paper: Paper) -> None:
    await paper.show(text_row("\x1b[2Jx\x9b\u202e"))
    assert paper.view.tail == ["x<U+202E>"]


async def test_a_letter_and_a_notice_are_set_apart(paper: Paper) -> None:
    await paper.show({"type": "letter", "text": "*old*"}, {"type": "notice", "text": "[b]New\x1b[31m session."})
    assert paper.text == "Answer to what you asked before, or elsewhere:\n\nold\n\n[b]New session.\n"


async def test_what_became_of_memory_stands_below_the_answer(paper: Paper) -> None:
    await paper.show(text_row("Noted."), {**end_row("Noted."), "below": "— Saved (rec-1).\x1b[2J"})
    assert paper.text == "\nNoted.\n\n— Saved (rec-1).\n"
