"""What is printed can be read and steers no terminal."""

import pytest

from kai.commands.show import cell, facts, json_of, rows, table, when

COLUMNS = {"name": lambda row: row["name"], "is on": lambda row: row["on"]}


def test_columns_are_as_wide_as_their_widest_cell_in_columns_of_the_terminal(
    capsys: pytest.CaptureFixture[str],
) -> None:
    rows([{"name": "日本", "on": True}, {"name": "a", "on": False}], COLUMNS, as_json=False, nothing="")
    assert capsys.readouterr().out == "NAME  IS ON\n日本  yes\na     no\n"


def test_nothing_is_said_in_words_and_is_an_empty_list_in_json(capsys: pytest.CaptureFixture[str]) -> None:
    rows([], COLUMNS, as_json=False, nothing="Nobody yet.")
    rows([], COLUMNS, as_json=True, nothing="Nobody yet.")
    assert capsys.readouterr().out == "Nobody yet.\n[]\n"


def test_a_cell_is_short_harmless_and_never_empty() -> None:
    assert [cell(value) for value in ("", None, [], True, 0, ["a", "b"], {"a": 1, "b": ["c"]})] == [
        "-", "-", "-", "yes", "0", "a, b", "a 1, b c",
    ]  # fmt: skip
    assert cell("one\ntwo\x1b[31m three") == "one two three"
    assert len(cell("x" * 500)) == 60
    assert cell("x" * 500, limit=0) == "x" * 500


def test_facts_leave_out_what_says_nothing(capsys: pytest.CaptureFixture[str]) -> None:
    facts({"os_user": "ann", "zone": "", "text": "long"}, as_json=False, leave_out=("text",))
    facts({}, as_json=False)
    assert capsys.readouterr().out == "os user  ann\n"


def test_json_is_ascii(capsys: pytest.CaptureFixture[str]) -> None:
    json_of({"text": "\x9b2J ä"})
    assert capsys.readouterr().out.isascii()


def test_headings_are_words(capsys: pytest.CaptureFixture[str]) -> None:
    table(["idle_s"], [["1"]])
    assert capsys.readouterr().out == "IDLE S\n1\n"


def test_a_moment_is_local_time() -> None:
    assert when("2026-11-30T12:00:00+00:00")[:10] in {"2026-11-30", "2026-12-01"}
    assert when(None) == "-"
