"""Markdown, tool lines and questions as rich renders them. What an agent wrote can only ever be shown."""

from markdown_it import MarkdownIt
from markdown_it.token import Token
from rich.console import Group, RenderableType
from rich.markdown import Markdown
from rich.panel import Panel
from rich.text import Text

from kai.bridges.terminal.view import Row, Tool, question_lines
from kai.text.safe import safe

_PARSER = MarkdownIt("commonmark", {"html": False}).enable(["strikethrough", "table"])
_OUTCOME = {None: ("…", "dim"), True: ("·", "dim"), False: ("✗", "dim red")}


def markdown(text: str) -> RenderableType:
    """One block of an answer. HTML shows as the text it is, and a link shows where it leads."""
    made = Markdown("", hyperlinks=False, code_theme="ansi_dark")
    made.parsed = _harmless(_PARSER.parse(safe(text)))
    return made


def _harmless(tokens: list[Token]) -> list[Token]:
    """Once more after parsing: an entity such as ``&#27;`` has become the character it names."""
    for token in tokens:
        token.content = safe(token.content)
        token.attrs = {name: safe(str(value)) for name, value in token.attrs.items()}
        _harmless(token.children or [])
    return tokens


def tool_line(tool: Tool) -> Text:
    """A tool call in one dim line."""
    sign, style = _OUTCOME[tool.ok]
    return Text(f"{sign} {tool.line()}", style=style, no_wrap=True, overflow="ellipsis")


def question(asked: Row) -> RenderableType:
    """A question with the whole of what it is about, and its choices by number."""
    title, *rest = question_lines(asked)
    return Panel(Group(Text(title, style="bold"), *(Text(line) for line in rest)), title="question", title_align="left")


def notice(text: str) -> Text:
    """Something that kai itself says."""
    return Text(safe(text), style="dim italic")
