"""A terminal that shows a conversation as it grows: what is finished goes to the scrollback once and for good; only a
few lines below it, of what is still coming, are drawn anew.
"""

import shutil
import sys
import time
from collections.abc import Sequence
from typing import Protocol

from prompt_toolkit.application import get_app_or_none
from rich.console import Console, RenderableType
from rich.live import Live
from rich.text import Text

from kai.bridges.terminal.markdown import markdown, notice, question, tool_line
from kai.bridges.terminal.view import Rest, Row, Tool, ending
from kai.model.states import TurnState
from kai.text.blocks import Blocks
from kai.text.graphemes import cut
from kai.text.safe import safe

TAIL_LINES = 8
REDRAW_S = 0.08  # no eye sees more, and a slow line bears it


class Screen(Protocol):
    """Where to draw."""

    async def show(self, *what: RenderableType) -> None:
        """Add to the scrollback."""
        ...

    def tail(self, lines: Sequence[str]) -> None:
        """Draw what may still change, in place of what was drawn before."""
        ...


def _console() -> Console:
    return Console(file=sys.stdout, markup=False, highlight=False, emoji=False)


class LiveScreen:
    """A screen that nobody types on."""

    def __init__(self) -> None:
        self._console = _console()
        self._live: Live | None = None
        self._drawn_at = 0.0

    async def show(self, *what: RenderableType) -> None:
        self._console.print(*what, sep="\n")

    def tail(self, lines: Sequence[str]) -> None:
        if not lines:
            self._clear()
        elif time.monotonic() - self._drawn_at >= REDRAW_S:
            self._drawn_at = time.monotonic()
            if self._live is None:
                self._live = Live(console=self._console, auto_refresh=False, transient=True)
                self._live.start()
            self._live.update(Text("\n".join(lines), style="dim"), refresh=True)

    def _clear(self) -> None:
        # Gone while nothing is coming: whoever else writes here then, such as a shell, finds its line.
        if self._live is not None:
            self._live.stop()
            self._live = None


class PromptScreen:
    """The screen above a prompt: the prompt draws the tail as a part of itself, so that nothing flickers."""

    def __init__(self) -> None:
        self._console = _console()
        self.lines: tuple[str, ...] = ()

    async def show(self, *what: RenderableType) -> None:
        with self._console.capture() as printed:
            self._console.print(*what, sep="\n")
        app = get_app_or_none()
        if app is None or not app.is_running:
            sys.stdout.write(printed.get())
            sys.stdout.flush()
            return
        # In one breath, and not by prompt-toolkit's `in_terminal`: that hands the terminal back for a moment, in which
        # a Ctrl-D would be swallowed and a Backspace act on nothing.
        app.renderer.erase()
        app.output.write_raw(printed.get())
        app.output.flush()
        app.renderer.render(app, app.layout)

    def tail(self, lines: Sequence[str]) -> None:
        self.lines = tuple(lines)
        app = get_app_or_none()
        if app is not None:
            app.invalidate()


class ScreenView:
    """Shows a conversation on a screen: Markdown block by block, tools as dim lines."""

    def __init__(self, screen: Screen) -> None:
        self._screen = screen
        self._blocks = Blocks()
        self._rest = Rest()
        self._running: dict[str, Tool] = {}
        self._is_after_text = False

    async def text(self, turn: str, piece: str) -> None:
        self._rest.add(piece)
        blocks = self._blocks.feed(piece)
        self._draw()
        for block in blocks:
            await self._block(block)

    async def tool(self, turn: str, tool: Tool) -> None:
        await self._flush()
        self._running[tool.id] = tool
        if tool.ok is not None:
            del self._running[tool.id]
        self._draw()
        if tool.ok is not None:
            await self._line(tool_line(tool))

    async def ask(self, turn: str, question_: Row) -> None:
        await self._flush()
        await self._line(question(question_))

    async def notice(self, turn: str, text: str) -> None:
        await self._line(notice(text))

    async def state(self, turn: str, state: str) -> None:
        self._draw()

    async def end(self, turn: str, end: Row) -> None:
        blocks = self._blocks.feed(self._rest.take(end["text"]))
        tools, self._running = list(self._running.values()), {}
        self._screen.tail(())
        for block in filter(None, [*blocks, self._blocks.finish()]):
            await self._block(block)
        for tool in tools:
            await self._line(tool_line(tool))
        if end["state"] != TurnState.DONE:
            await self._line(notice(ending(end)))
        self._is_after_text = True  # a blank line before what comes next

    async def letter(self, heading: str, text: str) -> None:
        await self._line(notice(heading))
        await self._block(text)

    async def _flush(self) -> None:
        block = self._blocks.finish()
        self._draw()  # what goes to the scrollback must not stand below it, too
        if block:
            await self._block(block)

    async def _block(self, block: str) -> None:
        await self._screen.show(Text(), markdown(block))
        self._is_after_text = True

    async def _line(self, what: RenderableType) -> None:
        await self._screen.show(*([Text()] if self._is_after_text else []), what)
        self._is_after_text = False

    def _draw(self) -> None:
        width, height = shutil.get_terminal_size()
        room = min(TAIL_LINES, height // 3)
        tools = [tool_line(tool).plain for tool in self._running.values()]
        lines = safe(self._blocks.tail[-width * room :]).strip("\n").split("\n") + tools
        self._screen.tail([cut(line, width - 1) for line in lines if line][-room:])
