"""What is finished stands in the scrollback once; what is still coming is drawn below it."""

from collections.abc import Sequence

import pytest
from rich.console import RenderableType

from kai.bridges.terminal import screen
from kai.bridges.terminal.screen import LiveScreen, PromptScreen, ScreenView
from kai.bridges.terminal.view import Tool
from kai.model.states import TurnState
from tests.bridges.terminal.test_markdown import printed
from tests.fake_daemon import ask_row, end_row

pytestmark = pytest.mark.anyio


class Paper:
    """A screen that keeps what was shown for good, and what stands below it."""

    def __init__(self) -> None:
        self.shown = ""
        self.below: list[str] = []
        self.twice: list[str] = []

    async def show(self, *what: RenderableType) -> None:
        added = "".join(printed(one) for one in what)
        self.twice += [line for line in self.below if line and line in added]
        self.shown += added

    def tail(self, lines: Sequence[str]) -> None:
        self.below = list(lines)


@pytest.fixture
def paper() -> Paper:
    return Paper()


async def test_a_block_goes_to_the_scrollback_when_it_is_finished(paper: Paper) -> None:
    view = ScreenView(paper)
    await view.text("t", "One **bo")
    assert (paper.shown, paper.below) == ("", ["One **bo"])
    await view.text("t", "ld**.\n\nTwo")
    assert (paper.shown, paper.below) == ("\nOne bold.\n", ["Two"])
    await view.end("t", end_row("One **bold**.\n\nTwo"))
    assert (paper.shown, paper.below) == ("\nOne bold.\n\nTwo\n", [])


async def test_nothing_stands_in_the_scrollback_and_below_it_at_once(paper: Paper) -> None:
    view = ScreenView(paper)
    await view.text("t", "before the tool")
    await view.tool("t", Tool("1", "read", "x"))
    await view.tool("t", Tool("1", "read", "x", ok=True))
    await view.text("t", "a\n\nb\n\nc")
    await view.ask("t", ask_row())
    await view.text("t", "after")
    await view.end("t", end_row("x"))
    assert paper.twice == []


async def test_a_tool_stands_below_while_it_runs_and_above_once_it_ended(paper: Paper) -> None:
    view = ScreenView(paper)
    tool = Tool("1", "read", "x.py")
    await view.tool("t", tool)
    assert (paper.shown, paper.below) == ("", ["… read x.py"])
    tool.ok = True
    await view.tool("t", tool)
    assert (paper.shown, paper.below) == ("· read x.py\n", [])


async def test_a_tool_that_never_ended_is_shown_at_the_end(paper: Paper) -> None:
    view = ScreenView(paper)
    await view.tool("t", Tool("1", "run", "make"))
    await view.end("t", end_row("", TurnState.STOPPED, "Stopped."))
    assert (paper.shown, paper.below) == ("… run make\nStopped.\n", [])


async def test_the_end_shows_what_was_not_streamed(paper: Paper) -> None:
    view = ScreenView(paper)
    await view.end("t", end_row("Whole answer."))
    await view.text("t2", "Hal")
    await view.end("t2", end_row("Half of it"))
    assert paper.shown == "\nWhole answer.\n\nHalf of it\n"


async def test_one_turn_leaves_nothing_behind_for_the_next(paper: Paper) -> None:
    view = ScreenView(paper)
    await view.text("t", "```\nnever closed")
    await view.end("t", end_row("```\nnever closed", TurnState.FAILED, "It crashed."))
    paper.shown = ""
    await view.text("t2", "fresh *start*\n\n")
    await view.end("t2", end_row("fresh *start*"))
    assert paper.shown == "\nfresh start\n"


async def test_only_a_few_lines_are_drawn_below_however_much_is_coming(paper: Paper) -> None:
    view = ScreenView(paper)
    await view.text("t", "```\n" + "".join(f"line {number}\n" for number in range(1000)))
    assert len(paper.below) <= screen.TAIL_LINES
    assert paper.below[-1] == "line 999"
    await view.text("t", "x" * 10_000)
    assert max(map(len, paper.below)) < 200


async def test_what_is_coming_is_harmless_too(paper: Paper) -> None:
    await ScreenView(paper).text("t", "\x1b[2Jx\x9b\u202e")
    assert paper.below == ["x<U+202E>"]


async def test_a_letter_and_a_notice_are_set_apart(paper: Paper) -> None:
    view = ScreenView(paper)
    await view.letter("Answer to an earlier message:", "*old*")
    await view.notice("", "New session.")
    assert paper.shown == "Answer to an earlier message:\n\nold\n\nNew session.\n"


async def test_a_live_screen_leaves_only_what_is_finished(capsys: pytest.CaptureFixture[str]) -> None:
    view = ScreenView(LiveScreen())
    await view.text("t", "coming")
    await view.text("t", " along\n\n")
    await view.end("t", end_row("coming along"))
    assert "coming along" in capsys.readouterr().out


async def test_a_prompt_screen_hands_its_lines_to_the_prompt(capsys: pytest.CaptureFixture[str]) -> None:
    below = PromptScreen()
    below.tail(["one", "two"])
    assert below.lines == ("one", "two")
    await below.show("for good")
    assert capsys.readouterr().out == "for good\n"
