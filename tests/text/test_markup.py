"""Where markup begins and ends."""

import pytest

from kai.text.markup import Markup

SPANS = {
    "fence": ("a\n```py\nx\n```\nb", ["```py\nx\n```"]),
    "fence in a fence of another kind": ("~~~\n```\n~~~\n", ["~~~\n```\n~~~"]),
    "longer fence": ("````\n```\n````", ["````\n```\n````"]),
    "fence in a quote": ("> ```\n> x\n> ```", ["> ```\n> x\n> ```"]),
    "fence that never closes": ("```\nx", ["```\nx"]),
    "ticks with text behind do not close": ("```\nx\n``` y\n```", ["```\nx\n``` y\n```"]),
    "inline code": ("a `b * c` d", ["`b * c`"]),
    "code of two ticks": ("``a ` b``", ["``a ` b``"]),
    "strong": ("a **b c** d", ["**b c**"]),
    "emphasis in strong": ("**a *b* c**", ["**a *b* c**", "*b*"]),
    "underscores in a word": ("snake_case_name", []),
    "lone underscore": ("a _ b _c", []),
    "list markers": ("* a\n* b\n", []),
    "emphasis ends with its list item": ("* *a\n* b*\n", []),
    "emphasis ends with its paragraph": ("*a\n\nb*", []),
    "escaped": (r"\*a\*", [r"\*", r"\*"]),
    "link": ("see [a b](http://x/(y)) z", ["[a b](http://x/(y))"]),
    "address with underscores": ("http://x/_a_b_ c", ["http://x/_a_b_"]),
    "struck": ("~~a b~~", ["~~a b~~"]),
}


@pytest.mark.parametrize(("text", "found"), SPANS.values(), ids=list(SPANS))
def test_spans_are_found_as_a_renderer_would(text: str, found: list[str]) -> None:
    assert [text[span.start : span.end] for span in Markup(text).spans] == found


def test_a_position_knows_the_spans_around_it_outermost_first() -> None:
    text = "**a *b c* d** e"
    around = Markup(text).around(text.index(" c"))
    assert [span.opening for span in around] == ["**", "*"]
    assert Markup(text).around(text.index(" e")) == ()


def test_a_fence_left_open_names_what_closes_it() -> None:
    assert Markup("> ~~~~x\n> a").unclosed == "> ~~~~"
    assert Markup("~~~\na\n~~~").unclosed == ""


def test_fences_are_listed_by_where_they_begin() -> None:
    text = "```\na\n```\n\n```\nb\n```\n"
    assert [span.start for span in Markup(text).fences(1, len(text))] == [text.rindex("```\nb")]
