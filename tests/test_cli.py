"""The command itself: fast, and never a traceback."""

import errno
import getpass
import os
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

import click
import pytest
from click.testing import CliRunner

from kai import cli
from kai.model.errors import KaiError, UnknownThingError
from tests.fake_daemon import FakeDaemon

HEAVY = ("pydantic", "httpx", "rich", "prompt_toolkit", "anyio", "yaml", "starlette", "uvicorn")


def broken(monkeypatch: pytest.MonkeyPatch, error: BaseException) -> None:
    """``kai version`` raises `error`."""

    def fail() -> None:
        raise error

    monkeypatch.setattr(cli.LazyGroup, "get_command", lambda *_: click.Command("version", callback=fail))


def test_help_imports_nothing_heavy() -> None:
    code = f"import sys, kai.cli; kai.cli.run(['--help']); print([name for name in {HEAVY} if name in sys.modules])"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert "Commands:" in done.stdout
    assert done.stdout.endswith("[]\n")


def test_every_command_is_there_and_says_what_the_list_says() -> None:
    context = click.Context(cli.cli)
    for name, summary in cli.COMMANDS.items():
        command = cli.cli.get_command(context, name)
        assert command is not None
        assert command.help
        assert summary.endswith(".")
        if isinstance(command, click.Group):
            assert all(sub.help for sub in command.commands.values())
            listed = summary.partition(": ")[2]
            is_whole = "and more" not in listed
            assert not listed or not is_whole or all(sub in summary for sub in command.commands)


def test_every_file_of_a_command_is_a_command() -> None:
    files = {path.stem.replace("_", "-") for path in Path(cli.__file__).parent.joinpath("commands").glob("*.py")}
    parts = {
        "--init--",
        "backend-new",
        "mcp-pump",
        "connect",
        "show",
        "verb",
        "system-install",
        "system-steps",
        "system-upgrade",
        "system-policy",
        "probing",
        "provisioning",
    }
    assert files - parts == set(cli.COMMANDS)


def helps() -> dict[str, str]:
    """The help of every command and of every one below it."""
    context, found = click.Context(cli.cli), {}
    for name in cli.COMMANDS:
        command = cli.cli.get_command(context, name)
        below = command.commands if isinstance(command, click.Group) else {}
        for argv in ([name], *([name, sub] for sub in below)):
            shown = CliRunner().invoke(cli.cli, [*argv, "--help"])
            assert (shown.exit_code, shown.exception) == (0, None)
            found[" ".join(argv)] = shown.output
    return found


def test_help_of_every_command_can_be_shown_and_has_one_word_for_one_thing() -> None:
    for name, text in helps().items():
        assert "onversation" not in text or name == "channel", text  # what a channel is, is said there once
    for name in ("show", "set", "remove", "link"):
        assert f"person {name} [OPTIONS] PERSON" in helps()[f"person {name}"]


@pytest.mark.parametrize("wrapped", [0, 1, 2])
def test_what_the_system_refuses_is_a_sentence_however_deep_it_is_wrapped(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], wrapped: int
) -> None:
    error: Exception = OSError(errno.EROFS, os.strerror(errno.EROFS), "/var/lib/kai/x")
    for _ in range(wrapped):
        error = ExceptionGroup("unhandled errors in a TaskGroup", [error])
    broken(monkeypatch, error)
    assert cli.run(["version"]) == 1
    assert capsys.readouterr().err == "kai: /var/lib/kai/x: Read-only file system.\n"


def test_a_fault_of_kai_is_named_by_its_cause(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    broken(monkeypatch, ExceptionGroup("unhandled errors in a TaskGroup", [ZeroDivisionError("by nothing")]))
    assert cli.run(["version"]) == 1
    assert "ZeroDivisionError: by nothing" in capsys.readouterr().err


def test_an_unknown_command_is_wrong_use_and_names_the_nearest(capsys: pytest.CaptureFixture[str]) -> None:
    assert cli.run(["chatt"]) == 2
    assert "There is no command 'chatt'; did you mean 'chat'?" in capsys.readouterr().err
    assert cli.run(["xyzzy"]) == 2
    assert "'kai --help' lists them." in capsys.readouterr().err


@pytest.mark.parametrize(
    "args", [["--nonsense"], ["turn", "list", "--limit", "0"], ["turn", "nonsense"], ["context", "diff"]]
)
def test_wrong_use_is_exit_status_2(args: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    assert cli.run(args) == 2
    assert "Traceback" not in capsys.readouterr().err


def test_an_error_is_one_sentence_and_a_hint(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    broken(monkeypatch, UnknownThingError("person", "anm", "ann"))
    assert cli.run(["version"]) == 1
    assert capsys.readouterr() == ("", "kai: There is no person 'anm'.\n     Did you mean 'ann'?\n")


def test_an_error_that_a_task_group_wrapped_is_told_the_same(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    @dataclass
    class SmallError(KaiError):
        """It is small."""

    broken(monkeypatch, ExceptionGroup("tasks", [ExceptionGroup("inner", [SmallError()])]))
    assert cli.run(["version"]) == 1
    assert capsys.readouterr().err == "kai: It is small.\n"


def test_a_fault_of_kai_shows_no_traceback_unless_it_is_asked_for(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    broken(monkeypatch, ZeroDivisionError("oh"))
    monkeypatch.delenv("KAI_DEBUG", raising=False)
    assert cli.run(["version"]) == 1
    assert capsys.readouterr().err.startswith("kai: ZeroDivisionError: oh\n     This is a fault of kai; KAI_DEBUG=1")
    monkeypatch.setenv("KAI_DEBUG", "1")
    with pytest.raises(ZeroDivisionError):
        cli.run(["version"])


@pytest.mark.parametrize("error", [KeyboardInterrupt(), click.Abort()])
def test_an_interrupt_is_quiet(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], error: BaseException
) -> None:
    broken(monkeypatch, error)
    assert cli.run(["version"]) == 1
    assert "".join(capsys.readouterr()).strip() == ""


@pytest.mark.parametrize("args", [["version"], ["chat", "x"]])
def test_a_reader_that_went_away_is_no_fault(args: list[str], tmp_path: Path) -> None:
    reading, writing = os.pipe()
    os.close(reading)
    with FakeDaemon(tmp_path / "people.sock") as fake:
        fake.canned["GET", "/v1/people"] = (
            200,
            [{"name": "Me", "principal": "p", "os_user": getpass.getuser(), "is_you": True}],
        )
        argv = [sys.executable, "-m", "kai", "--runtime", str(tmp_path), "--state", str(tmp_path), *args]
        done = subprocess.run(
            argv, stdin=subprocess.DEVNULL, stdout=writing, stderr=subprocess.PIPE, text=True, check=False
        )
    os.close(writing)
    assert (done.returncode, done.stderr) == (1, "")


def test_a_terminal_that_cannot_show_a_sign_shows_a_question_mark() -> None:
    env = {"PATH": os.environ["PATH"], "PYTHONIOENCODING": "iso8859-1"}
    done = subprocess.run([sys.executable, "-m", "kai", "日"], env=env, capture_output=True, text=True, check=False)
    assert done.returncode == 2
    assert "There is no command '?'" in done.stderr
