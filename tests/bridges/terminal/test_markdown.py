"""What an agent wrote is rendered, and can only ever be shown."""

import io

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from rich.console import Console, RenderableType

from kai.bridges.terminal.markdown import markdown, notice, question, tool_line
from kai.bridges.terminal.view import Tool
from tests.fake_daemon import ask_row


def printed(what: RenderableType, *, colour: bool = False) -> str:
    out = io.StringIO()
    Console(file=out, width=60, force_terminal=colour, markup=False, highlight=False, emoji=False).print(what)
    return "\n".join(line.rstrip() for line in out.getvalue().split("\n"))


def test_markdown_is_rendered() -> None:
    assert printed(markdown("**bold** and `code`")) == "bold and code\n"
    assert "│" in printed(markdown("| a | b |\n|---|---|\n| 1 | 2 |")) or "1" in printed(
        markdown("| a |\n|---|\n| 1 |")
    )


@pytest.mark.parametrize(
    "text", ["Use Vec<T> here", "<details>why</details>", "a <!-- b --> c", "snake_case_name :smile:", "[x]"]
)
def test_what_looks_like_markup_of_another_kind_is_not_lost(text: str) -> None:
    assert printed(markdown(text)).strip() == text


def test_a_link_shows_where_it_leads() -> None:
    assert "https://evil.example/x" in printed(markdown("[your bank](https://evil.example/x)"))


def test_an_entity_cannot_name_a_control_character() -> None:
    assert "\x1b" not in printed(markdown("a&#27;[2Jb &#x9b;c [x](http://a/&#27;) ![&#27;](b)\n\n```\n&#27;\n```"))


@settings(deadline=None)
@given(st.text(st.sampled_from("ab \n`*_<>&#27;x[]()|-\x1b\x9b\u202e!"), max_size=80))
def test_no_text_steers_the_terminal(text: str) -> None:
    shown = printed(markdown(text))
    assert not {"\x1b", "\x9b", "\u202e"} & set(shown)


def test_a_tool_line_tells_how_it_ended() -> None:
    assert printed(tool_line(Tool("1", "read", "x"))) == "… read x\n"
    assert printed(tool_line(Tool("1", "read", "x", ok=True))) == "· read x\n"
    assert printed(tool_line(Tool("1", "read", "x", ok=False, detail="gone"))) == "✗ read x: failed gone\n"


def test_a_question_shows_everything() -> None:
    shown = printed(question(ask_row(detail="rm -rf [build]\x1b[0m")))
    assert all(part in shown for part in ("Run a command?", "rm -rf [build]", "1. Allow once", "3. Deny"))


def test_a_notice_is_shown_as_it_is() -> None:
    assert printed(notice("[bold]\x1b[31mx")) == "[bold]x\n"
