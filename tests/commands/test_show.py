"""What is printed can be read and steers no terminal."""

from pathlib import Path
from threading import Event

import click
import pytest

from kai.commands import show
from kai.commands.show import cell, facts, json_of, lines, own_command, table, when


def test_a_table_is_as_wide_as_its_widest_cell_in_columns_of_the_terminal(capsys: pytest.CaptureFixture[str]) -> None:
    table(["name", "idle_s"], [["日本", "1"], ["a", "12"]])
    assert capsys.readouterr().out == "NAME  IDLE S\n日本  1\na     12\n"


def test_a_cell_is_short_harmless_and_never_empty() -> None:
    assert [cell(value) for value in ("", None, [], True, 0, ["a", "b"], {"a": 1, "b": ["c"]})] == [
        "-", "-", "-", "yes", "0", "a, b", "a 1, b c",
    ]  # fmt: skip
    assert cell("one\ntwo\x1b[31m three") == "one two three"
    assert len(cell("x" * 500, limit=60)) == 60
    assert cell("x" * 500, limit=0) == "x" * 500


def test_what_goes_into_a_pipe_is_not_cut_and_stays_on_its_line(monkeypatch: pytest.MonkeyPatch) -> None:
    assert cell("x" * 500 + "\ny") == "x" * 500 + " y"
    monkeypatch.setattr("sys.stdout.isatty", lambda: True, raising=False)
    assert len(cell("x" * 500)) == 60


def test_the_next_command_is_one_that_works_from_here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A newcomer has `.venv/bin/kai` alone, and is told to call `kai`."""
    made = tmp_path / ".venv/bin/kai"
    made.parent.mkdir(parents=True)
    made.touch(mode=0o755)
    monkeypatch.setattr("sys.executable", str(made.with_name("python")))
    monkeypatch.setenv("PATH", "/usr/bin")
    monkeypatch.chdir(tmp_path)
    assert own_command() == ".venv/bin/kai"
    monkeypatch.chdir("/")
    assert own_command() == str(made)
    monkeypatch.setenv("PATH", f"/usr/bin:{made.parent}")
    assert own_command() == "kai"
    other = tmp_path / "other/kai"
    other.parent.mkdir()
    other.touch(mode=0o755)
    monkeypatch.setenv("PATH", f"{other.parent}:{made.parent}")
    assert own_command() == str(made), "another kai answers to the name"


def test_facts_leave_out_what_says_nothing(capsys: pytest.CaptureFixture[str]) -> None:
    facts({"os_user": "ann", "zone": "", "text": "long"}, ("text",))
    facts({})
    assert capsys.readouterr().out == "os user  ann\n"


def test_json_is_ascii(capsys: pytest.CaptureFixture[str]) -> None:
    json_of({"text": "\x9b2J ä"})
    assert capsys.readouterr().out.isascii()


def test_lines_are_harmless(capsys: pytest.CaptureFixture[str]) -> None:
    lines(["a\x1b[2J", "b\u202e"])
    assert capsys.readouterr().out == "a\nb<U+202E>\n"


def test_a_moment_is_local_time() -> None:
    assert when("2026-11-30T12:00:00+00:00")[:10] in {"2026-11-30", "2026-12-01"}
    assert when(None) == "-"


def test_what_takes_long_says_so_and_what_does_not_says_nothing(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    with show.patience("It takes long"):
        pass
    monkeypatch.setattr(show, "PATIENCE_S", 0.0)
    told, echo = Event(), click.echo

    def tell(text: str, *, err: bool) -> None:
        echo(text, err=err)
        told.set()

    monkeypatch.setattr(click, "echo", tell)
    with show.patience("It takes longer"):
        assert told.wait(10)
    assert capsys.readouterr() == ("", "It takes longer\n")
