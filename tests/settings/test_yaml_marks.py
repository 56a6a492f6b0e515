"""YAML without its surprises: what is doubtful is an error with its place, and nothing makes the reader raise."""

import pytest
import yaml
from hypothesis import given, settings
from hypothesis import strategies as st

from kai.settings import yaml_marks
from kai.settings.problems import Place
from kai.settings.yaml_marks import MAX_BYTES, MAX_DEPTH, MAX_NODES, Marked, dotted, parse


def _told(text: str) -> list[str]:
    return [str(problem) for problem in parse(text.encode(), "f.yaml").problems]


def test_plain_values_have_their_plain_types() -> None:
    text = (
        'a: text here\nb: 12\nc: -3.5\nd: true\ne: ~\nf: "012"\ng: [1, x]\nh: |\n  two\n  lines\ni: 2.1.332\nj: a.b\n'
    )
    marked = parse(text.encode(), "f.yaml")
    assert marked.problems == []
    assert marked.data == {
        "a": "text here", "b": 12, "c": -3.5, "d": True, "e": None, "f": "012", "g": [1, "x"],
        "h": "two\nlines\n", "i": "2.1.332", "j": "a.b",
    }  # fmt: skip


def test_every_key_and_value_knows_its_place() -> None:
    marked = parse(b"a:\n  b: 1\n  list:\n    - x\n    - yy: z\n", "f.yaml")
    assert marked.place(("a", "b")) == Place("f.yaml", 2, 6)
    assert marked.place(("a", "b"), at_key=True) == Place("f.yaml", 2, 3)
    assert marked.place(("a", "list", 1, "yy")) == Place("f.yaml", 5, 11)
    assert marked.place(("a", "gone", "deeper")) == Place("f.yaml", 2, 3)  # the nearest thing around it
    assert dotted(("a", "list", 1, "yy")) == "a.list[1].yy"


@pytest.mark.parametrize(
    "value",
    ["no", "No", "NO", "yes", "on", "off", "y", "n", "True", "FALSE", "0123", "0o17", "0x1F", "1_000", "10:00", "08:00",
     "190:20:30", "+5", ".5", "1.", "1e5", "6.8523e+5", ".inf", ".NaN", "2026-11-30", "Null", "<<", "=", "-0123",
     "9" * 30],
)  # fmt: skip
def test_what_readers_take_differently_demands_quotes_as_a_value_and_as_a_name(value: str) -> None:
    (told,) = _told(f"a: {value}\n")
    assert told.startswith("f.yaml:1:4: a: ")
    assert f'put it in quotes: "{value}"' in told
    assert any(f'"{value}"' in told for told in _told(f"{value}: 1\n"))
    assert _told(f'a: "{value}"\n"{value}": 1\n') == []


def test_a_boolean_in_other_words_is_shown_how_to_be_written() -> None:
    assert "or write false" in _told("a: no\n")[0]
    assert "or write true" in _told("a: On\n")[0]


@pytest.mark.parametrize("key", ["1", "true", "~", "1.5"])
def test_a_key_that_is_no_text_demands_quotes(key: str) -> None:
    (told,) = _told(f"{key}: x\n")
    assert "is not text" in told
    assert told.startswith("f.yaml:1:1: ")


def test_a_duplicate_key_names_both_lines() -> None:
    assert _told("a: 1\nb:\n  c: 1\n  c: 2\n") == ["f.yaml:4:3: b.c: 'c' is set twice (first in line 3)"]


@pytest.mark.parametrize("text", ["a:\n\tb: 1\n", "- a\n\t- b\n", "a: x\n\tb: 2\n", "a:\n  - 1\n\t- 2\n"])
def test_a_tab_in_the_indentation_is_named_as_such(text: str) -> None:
    (told,) = _told(text)
    assert "a tab in the indentation (indent with spaces)" in told
    assert told.startswith(f"f.yaml:{text.count(chr(10), 0, text.index(chr(9))) + 1}:")


def test_a_tab_inside_a_block_of_text_is_content() -> None:
    assert parse(b"a: |\n  x\n  \ty\n", "f").data == {"a": "x\n\ty\n"}


def test_a_syntax_error_has_its_place_and_says_what_to_look_at() -> None:
    assert _told("a: b: c\n")[0].startswith("f.yaml:1:5: this is not YAML that kai takes: mapping values")
    assert "needs quotes" in _told("a: b: c\n")[0]
    assert _told("a: 'x\n\n")[0].startswith("f.yaml:3:1:")


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("a: !!int '5'\n", "f.yaml:1:4: a: tags such as"),
        ("a: !!python/object/apply:os.system [x]\n", "f.yaml:1:4: a: tags such as"),
        ("a: 1\n---\nb: 2\n", "f.yaml:2:1: a second document begins here"),
        ("[a]: 1\n", "f.yaml:1:1: ?: a key must be text"),
        ("a: *b\n", "f.yaml:1:4: a: there is no finished anchor &b"),
        ("&a [*a]\n", "f.yaml:1:5: [0]: there is no finished anchor &a"),
        ("a: ok\nb: \x01\n", "f.yaml:2:4: the character U+0001"),
        ('a: "\\0"\n', "f.yaml:1:4: a: the character U+0000"),
    ],
)
def test_what_is_not_taken_is_told_with_its_place(text: str, told: str) -> None:
    assert _told(text)[0].startswith(told)


def test_an_alias_stands_for_its_value() -> None:
    marked = parse(b"a: &list [1, 2]\nb: *list\n", "f")
    assert marked.data == {"a": [1, 2], "b": [1, 2]}
    assert marked.place(("b", 0)) == Place("f", 2, 4)


def test_aliases_of_aliases_end_at_a_bound() -> None:
    bomb = "a0: &a0 [x,x,x,x,x,x,x,x,x]\n" + "".join(
        f"a{n}: &a{n} [{','.join(f'*a{n - 1}' for _ in range(9))}]\n" for n in range(1, 12)
    )
    assert [f"{MAX_NODES:,}" in told for told in _told(bomb)] == [True]


def test_depth_and_size_are_bounded() -> None:
    (told,) = _told("[" * (MAX_DEPTH + 5) + "]" * (MAX_DEPTH + 5))
    assert told.startswith(f"f.yaml:1:{MAX_DEPTH + 2}: this is not YAML that kai takes: more than {MAX_DEPTH} levels")
    assert len(_told("[" * 100_000)) == 1
    assert "bytes" in _told("#" * (MAX_BYTES + 1))[0]
    assert _told("#" * MAX_BYTES) == []


def test_a_file_that_is_not_utf_8_is_told_at_its_first_wrong_byte() -> None:
    (problem,) = parse("ä: 1\nb: ".encode() + b"\xff\n", "f").problems
    assert (problem.line, problem.column) == (2, 4)
    assert "UTF-8" in problem.message
    assert parse(b"\xef\xbb\xbfa: 1\n", "f").data == {"a": 1}


@pytest.mark.parametrize("text", ["", "# nothing\n", "---\n", "~\n", "\n\n"])
def test_an_empty_file_is_an_empty_mapping(text: str) -> None:
    marked = parse(text.encode(), "f")
    assert (marked.data, marked.problems) == ({}, [])


def test_a_problem_covers_what_lies_below_it() -> None:
    marked = Marked("f", {"a": {"b": 1}})
    marked.add(("a",), "wrong")
    assert marked.is_bad(("a", "b"))
    assert not marked.is_bad(("c",))


def test_without_libyaml_the_same_is_read(monkeypatch: pytest.MonkeyPatch) -> None:
    texts = ["a: {b: [1, x]}\n", "a: no\n", "a:\n\tb: 1\n", 'a: "\\uD800"\n', 'a: "\\UFFFFFFFF"\n', "a: 1\na: 2\n"]
    fast = [parse(text.encode(), "f") for text in texts]
    monkeypatch.setattr(yaml_marks, "_Loader", yaml.SafeLoader)
    slow = [parse(text.encode(), "f") for text in texts]
    for one, other in zip(fast, slow, strict=True):
        assert bool(one.problems) == bool(other.problems)
        assert one.problems or one.data == other.data


_yaml_signs = st.text(alphabet=st.sampled_from(list("ab01:-?{}[],&*#|>'\"%@`!~ \n\t.=<_ \u2028ä\0")), max_size=60)


@given(
    st.one_of(
        _yaml_signs.map(str.encode),
        st.binary(max_size=200),
        st.text(max_size=80).map(lambda t: t.encode("utf-8", "surrogatepass")),
    )
)
def test_no_bytes_make_the_reader_raise(source: bytes) -> None:
    marked = parse(source, "f")
    assert all(problem.file == "f" and problem.message for problem in marked.problems)


_printable = st.text(
    st.characters(min_codepoint=32, max_codepoint=0x2FFF, exclude_characters="\x7f"), max_size=12
).filter(lambda text: all(sign.isprintable() for sign in text))
_trees = st.recursive(
    _printable,
    lambda inner: st.one_of(st.lists(inner, max_size=4), st.dictionaries(_printable, inner, max_size=4)),
    max_leaves=12,
)


@given(st.dictionaries(_printable, _trees, max_size=4))
@settings(max_examples=40)
def test_quoted_text_reads_back_as_it_was_written(tree: dict[str, object]) -> None:
    marked = parse(yaml.safe_dump(tree, allow_unicode=True, default_style='"').encode(), "f")
    assert marked.problems == []
    assert marked.data == tree
