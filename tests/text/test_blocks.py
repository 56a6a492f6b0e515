"""A block is shown once, whole, and as early as it is sure."""

from itertools import pairwise

from hypothesis import given
from hypothesis import strategies as st

from kai.text.blocks import LONGEST, Blocks

ANSWER = """# Title

One paragraph
of two lines.

- a list

  with a paragraph inside
- and an end

```py
x = 1

y = 2
```
Directly behind.

~~~
``` is no end
~~~

Last"""
WHOLE = [
    "# Title",
    "One paragraph\nof two lines.",
    "- a list\n\n  with a paragraph inside\n- and an end",
    "```py\nx = 1\n\ny = 2\n```",
    "Directly behind.",
    "~~~\n``` is no end\n~~~",
    "Last",
]


def blocks_of(pieces: list[str]) -> list[str]:
    blocks = Blocks()
    found = [block for piece in pieces for block in blocks.feed(piece)]
    rest = blocks.finish()
    return [*found, rest] if rest else found


def test_blocks_end_at_blank_lines_and_fences() -> None:
    assert blocks_of([ANSWER]) == WHOLE


@given(st.sets(st.integers(1, len(ANSWER) - 1)))
def test_however_the_text_is_cut_into_pieces_the_blocks_are_the_same(cuts: set[int]) -> None:
    edges = [0, *sorted(cuts), len(ANSWER)]
    assert blocks_of([ANSWER[a:b] for a, b in pairwise(edges)]) == WHOLE


@given(st.lists(st.text(st.sampled_from("a \n`~-"), max_size=8)))
def test_nothing_but_blank_lines_is_lost(pieces: list[str]) -> None:
    assert "".join("".join(blocks_of(pieces)).split()) == "".join("".join(pieces).split())


def test_a_paragraph_is_given_as_soon_as_the_next_begins() -> None:
    blocks = Blocks()
    assert blocks.feed("One.\n\n") == []
    assert blocks.feed("T") == ["One."]
    assert blocks.tail == "T"


def test_an_endless_block_is_shown_in_pieces_with_its_fence_closed_and_opened_again() -> None:
    line = "x" * 99 + "\n"
    found = blocks_of(["````py\n", *[line] * 1990, "````\n"])
    assert len(found) == 1990 * 100 // LONGEST + 1
    assert all(block.startswith("````py\nxx") and block.endswith("x\n````") for block in found)
    assert "".join(found).count("x") == 99 * 1990
