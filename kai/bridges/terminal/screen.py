"""The conversation above a prompt: what is finished goes to the scrollback once and for good, block by block."""

# The prompt draws what is still coming as a part of itself.

import shutil
from collections.abc import Sequence

from markdown_it import MarkdownIt
from markdown_it.token import Token
from prompt_toolkit.application import get_app
from rich.console import Console, Group, RenderableType
from rich.markdown import Markdown
from rich.panel import Panel
from rich.text import Text

from kai.bridges.terminal.view import Row, ending, question_lines, rest_of, tool_line
from kai.model.states import TurnState
from kai.text.blocks import Blocks
from kai.text.graphemes import cut
from kai.text.safe import safe

TAIL_LINES = 8
_PARSER = MarkdownIt("commonmark", {"html": False}).enable(["strikethrough", "table"])
_SIGNS = {None: ("…", "dim"), True: ("·", "dim"), False: ("✗", "dim red")}


def markdown(text: str) -> RenderableType:
    """One block of an answer, which can only ever be shown. HTML is the text it is; a link shows where it leads."""
    made = Markdown("", hyperlinks=False, code_theme="ansi_dark")
    made.parsed = _harmless(_PARSER.parse(safe(text)))
    return made


def _harmless(tokens: list[Token]) -> list[Token]:
    """Once more after parsing: an entity such as ``&#27;`` has become the character it names."""
    for token in tokens:
        token.content = safe(token.content)
        token.attrs = {name: safe(str(value)) for name, value in token.attrs.items()}
        # In a chat a line is meant as a line.
        token.type = {"softbreak": "hardbreak"}.get(token.type, token.type)
        _harmless(token.children or [])
    return tokens


class ScreenView:
    """Shows a conversation; `tail` is what may still change."""

    def __init__(self) -> None:
        self.tail: list[str] = []
        self._console = Console(markup=False, highlight=False, emoji=False)
        self._blocks = Blocks()
        self._streamed: list[str] = []
        self._running: dict[str, Row] = {}
        self._is_after_text = False

    async def show(self, turn: str, row: Row) -> None:
        match row["type"]:
            case "text":
                self._streamed.append(row["text"])
                self._add(self._blocks.feed(row["text"]))
            case "tool":
                self._running[row["id"]] = row
                ended = [_tool(self._running.pop(row["id"]))] if row["ok"] is not None else []
                self._add([self._blocks.finish()], *ended)
            case "ask":
                title, *lines = question_lines(row)
                whole = Group(Text(title, style="bold"), *map(Text, lines))
                self._add([self._blocks.finish()], Panel(whole, title="question", title_align="left"))
            case "state":
                self._add([])
            case "notice":
                self._add([], _aside(row["text"]))
            case "letter":
                self._add([], _aside("Answer to what you asked before, or elsewhere:"))
                self._add([row["text"]])
            case "end":
                self._end(row)

    def _end(self, end: Row) -> None:
        blocks = self._blocks.feed(rest_of(end["text"], "".join(self._streamed)))
        unfinished = [_tool(tool) for tool in self._running.values()]
        self._running.clear()
        self._streamed.clear()
        why = [] if end["state"] == TurnState.DONE else [_aside(ending(end))]
        why += [_aside(end["below"])] if end.get("below") else []
        self._add([*blocks, self._blocks.finish()], *unfinished, *why)
        self._is_after_text = True  # a blank line before what comes next

    def _add(self, blocks: Sequence[str], *lines: RenderableType) -> None:
        """Move blocks and lines to the scrollback, blank lines around the blocks; draw the tail anew."""
        what: list[RenderableType] = []
        for block in filter(None, blocks):
            what += [Text(), markdown(block)]
            self._is_after_text = True
        if lines:
            what += [*([Text()] if self._is_after_text else []), *lines]
            self._is_after_text = False
        self.tail = self._coming()
        app = get_app()
        if not app.is_running:
            self._console.print(*what, sep="\n", end="\n" if what else "")
        elif not what:
            app.invalidate()
        else:
            # In one breath, and not by prompt-toolkit's `in_terminal`: that hands the terminal back for a moment, in
            # which a Ctrl-D would be swallowed and a Backspace act on nothing.
            with self._console.capture() as printed:
                self._console.print(*what, sep="\n")
            app.renderer.erase()
            app.output.write_raw(printed.get())
            app.output.flush()
            app.render_counter += 1  # else what is cached of the last drawing is drawn once more, and stays
            app.renderer.render(app, app.layout)

    def _coming(self) -> list[str]:
        width, height = shutil.get_terminal_size()
        room = min(TAIL_LINES, height // 3)
        coming = safe(self._blocks.tail[-width * room :]).split("\n")
        lines = [line for line in (*coming, *(_tool(tool).plain for tool in self._running.values())) if line.strip()]
        return [cut(line, width - 1) for line in lines[-room:]]


def _tool(tool: Row) -> Text:
    sign, style = _SIGNS[tool["ok"]]
    return Text(f"{sign} {tool_line(tool)}", style=style, no_wrap=True, overflow="ellipsis")


def _aside(text: str) -> Text:
    return Text(safe(text), style="dim italic")
