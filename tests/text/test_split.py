"""A long answer in parts: nothing lost, nothing broken, nothing over the limit."""

import html
import time
from collections.abc import Callable

import pytest
from hypothesis import given
from hypothesis import strategies as st
from markdown_it import MarkdownIt

from kai.text.graphemes import is_boundary
from kai.text.markup import Markup
from kai.text.split import MIN_LIMIT, Part, split
from kai.text.units import code_points, utf16_units


def escaped_units(text: str) -> int:
    """As Telegram counts a message in HTML."""
    return utf16_units(html.escape(text))


MEASURES: tuple[Callable[[str], int], ...] = (code_points, utf16_units, escaped_units)
NASTY = st.text(st.sampled_from("ab .\n`*_~[]()>-#&<\\é😀🇩🇪👨\u200d👩\u0301 "), max_size=600)

words = st.lists(st.sampled_from(["word", "a", "naïve", "👍🏽", "x<y", "end."]), min_size=1, max_size=12).map(" ".join)
inline = st.one_of(
    words,
    words.map(lambda text: f"**{text}**"),
    words.map(lambda text: f"*{text}*"),
    words.map(lambda text: f"`{text}`"),
    words.map(lambda text: f"[{text}](https://example.org/a_b)"),
)
paragraph = st.lists(inline, min_size=1, max_size=6).map(" ".join)
fence = st.lists(words, max_size=12).map(lambda lines: "```py\n" + "".join(f"{line}\n" for line in lines) + "```")
bullets = st.lists(inline, min_size=1, max_size=4).map(lambda items: "\n".join(f"- {item}" for item in items))
markdown = st.lists(paragraph | fence | bullets, min_size=1, max_size=6).map("\n\n".join)


def shown(text: str) -> str:
    """The letters that a reader sees, without white space."""
    pieces = [piece for token in MarkdownIt().parse(text) for piece in token.children or [token]]
    found = [piece.content for piece in pieces if piece.type in {"text", "code_inline", "fence", "code_block"}]
    return "".join("".join(found).split())


@pytest.mark.parametrize("size", MEASURES)
@given(text=NASTY | st.text(max_size=600), limit=st.integers(MIN_LIMIT, 200))
def test_sources_joined_are_the_text_and_every_part_is_within_the_limit(
    size: Callable[[str], int], text: str, limit: int
) -> None:
    parts = split(text, limit, size)
    assert "".join(part.source for part in parts) == text
    assert [part for part in parts if size(part.text) > limit] == []


@given(text=NASTY, limit=st.integers(MIN_LIMIT, 200))
def test_no_part_leaves_a_code_fence_open_or_ends_inside_a_character(text: str, limit: int) -> None:
    at = 0
    for part in split(text, limit):
        assert Markup(part.text).unclosed == ""
        at += len(part.source)
        assert is_boundary(text, at)


@given(text=markdown, limit=st.integers(120, 300))
def test_parts_rendered_one_by_one_show_what_the_whole_shows(text: str, limit: int) -> None:
    """Not one mark leaks into view, whatever span a cut went through."""
    assert "".join(shown(part.text) for part in split(text, limit)) == shown(text)


def test_a_short_text_is_one_part_as_it_is() -> None:
    assert split("Hello *you*.", 4096) == (Part("Hello *you*.", "Hello *you*."),)
    assert split("", 4096) == ()


def test_a_paragraph_end_is_taken_before_a_sentence_end_and_that_before_a_space() -> None:
    first = "One two three four five. Six seven eight nine ten."
    assert split(f"{first}\n\n{'word ' * 20}", 100)[0].text == first
    assert split(f"{first} {'word ' * 20}", 64)[0].text == first
    assert split("word " * 40, 64)[0].text == ("word " * 12).strip()


def test_a_word_longer_than_the_limit_is_cut_all_the_same() -> None:
    assert [len(part.text) for part in split("x" * 150, 64)] == [64, 64, 22]


def test_a_code_fence_longer_than_the_limit_is_closed_and_opened_again_with_its_language() -> None:
    code = "".join(f"line {number}\n" for number in range(600))
    parts = split(f"See:\n\n```python\n{code}```\nDone.", 1000)
    middle = [part.text for part in parts[1:-1]]
    assert len(middle) > 3
    assert all(text.startswith("```python\nline") and text.endswith("\n```") for text in middle)


def test_a_code_fence_that_fits_goes_whole_into_the_next_part() -> None:
    code = "```\n" + "x = 1\n" * 10 + "```"
    parts = split(f"{'Some words. ' * 5}\n\n{code}\n\nAfter.", 100)
    assert parts[1].text.startswith(code)


def test_a_code_fence_is_kept_whole_even_where_that_leaves_a_part_nearly_empty() -> None:
    code = "```\n" + "x = 1\n" * 12 + "```"
    assert [part.text for part in split(f"See:\n{code}\nDone. And more words.", 80)][:2] == ["See:", code]


def test_a_fence_the_agent_never_closed_is_closed() -> None:
    assert split("```\nx", 100)[0].text == "```\nx\n```"


def test_emphasis_that_is_cut_through_is_closed_and_opened_again() -> None:
    parts = split("**" + "word " * 30 + "end**", 64)
    assert all(part.text.startswith("**w") or part.text.startswith("**e") for part in parts)
    assert all(part.text.endswith("d**") for part in parts)


def test_a_link_is_not_cut_while_there_is_another_place() -> None:
    link = "[a b c](https://example.org/" + "x" * 40 + ")"
    assert [part.text for part in split(f"{'word ' * 8}{link}", 80)] == [("word " * 8).strip(), link]


def test_a_family_at_the_edge_goes_whole_into_the_next_part() -> None:
    family = "👨‍👩‍👧‍👦"
    parts = split("x" * 62 + family + "y", 64)
    assert [part.text for part in parts] == ["x" * 62, family + "y"]


def test_a_full_message_of_emoji_is_measured_in_the_unit_of_the_platform() -> None:
    assert len(split("😀" * 4096, 4096, code_points)) == 1
    assert len(split("😀" * 4096, 4096, utf16_units)) == 2


def test_the_size_is_taken_after_escaping() -> None:
    text = "word " * 817 + "&" * 10
    assert len(split(text, 4096, utf16_units)) == 1
    assert len(split(text, 4096, escaped_units)) == 2


def test_a_limit_with_no_room_for_a_fence_is_refused() -> None:
    with pytest.raises(ValueError, match="below 64"):
        split("x", 10)


@pytest.mark.parametrize("piece", ["[", "*a ", "`a``b```c", "![](", "\n", "> ", "```\n", '."""', "\u0301", "👩‍👧"])
def test_text_that_is_made_to_be_slow_is_not(piece: str) -> None:
    text = (piece * 60_000)[:60_000]
    began = time.process_time()
    parts = split(text, 4096, escaped_units)
    assert time.process_time() - began < 3
    assert "".join(part.source for part in parts) == text
