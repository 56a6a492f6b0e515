"""From a manifest and choices to a launch."""

import sys
from pathlib import Path
from typing import Any

import pytest

from kai.model.backends import Can
from kai.model.errors import BadInputError, FailureKind, LaunchError
from kai.model.ids import RunId
from kai.processes.plan import ARGV_BYTES, LaunchPlanned, plan
from tests.processes.manifests import manifest


@pytest.fixture
def home(tmp_path: Path) -> Path:
    """A home with an `agent` that is installed."""
    program = tmp_path / ".local/bin/agent"
    program.parent.mkdir(parents=True)
    program.write_text("#!/bin/sh\n")
    program.chmod(0o700)
    return tmp_path


def planned(home: Path, changes: dict[str, Any] | None = None, **choices: Any) -> LaunchPlanned:
    values: dict[str, Any] = {
        "model": "",
        "effort": "",
        "permissions": "ask",
        "resume": "",
        "temporary": False,
        "workspace": Path("/work"),
        "os_user": "ann",
        "inherited": {},
    }
    return plan(
        manifest(**(changes or {})), run=RunId("r-1"), home=home, socket_path=Path("/s"), **{**values, **choices}
    )


def test_what_is_not_chosen_is_left_out(home: Path) -> None:
    spec = planned(home).spec
    assert spec.argv == (f"{home}/.local/bin/agent", "--json", '{"a": {}}', "--ask")
    assert (spec.run, spec.cwd, spec.user, spec.hold_s) == ("r-1", "/work", "ann", 0.0)
    assert spec.env["KAI_RUN"] == "r-1"
    assert spec.env["PATH"].startswith(f"{home}/.local/bin:")


def test_every_choice_has_its_arguments(home: Path) -> None:
    spec = planned(home, model="large", effort="high", permissions="bypass", resume="abc", temporary=True).spec
    assert spec.argv[3:] == (
        *("--resume", "abc", "--model=large", "--effort", "high"),
        *("--yes", "/backends/agent/policy.json", "--forget"),
    )
    assert spec.env["MODE"] == "all"


def test_a_value_is_never_filled_in_again(home: Path) -> None:
    assert planned(home, model="{session}", resume="{python}").spec.argv[3:6] == (
        "--resume",
        "{python}",
        "--model={session}",
    )


@pytest.mark.parametrize("choice", ["model", "effort", "resume"])
@pytest.mark.parametrize("value", ["--dangerously-skip-permissions", "-x", "a\nb", "a\0b"])
def test_a_choice_cannot_become_another_argument(home: Path, choice: str, value: str) -> None:
    with pytest.raises(BadInputError) as caught:
        planned(home, changes=None, **{choice: value})
    assert caught.value.field == {"resume": "session"}.get(choice, choice)


def test_a_program_that_is_not_installed_is_told_with_how_to_install_it(tmp_path: Path) -> None:
    with pytest.raises(LaunchError) as caught:
        planned(tmp_path)
    assert caught.value.kind is FailureKind.MISSING
    assert "agent is not installed for ann." in caught.value.sentence
    assert "looked in " in caught.value.detail
    assert caught.value.hint == "Install it with: npm i -g agent"
    with pytest.raises(LaunchError) as caught:
        planned(tmp_path, changes={"install": ""})
    assert caught.value.hint == ""


def test_a_variable_may_name_another_program(home: Path) -> None:
    other = home / "other"
    other.write_text("#!/bin/sh\n")
    other.chmod(0o700)
    assert planned(home, inherited={"KAI_AGENT": str(other)}).spec.argv[0] == str(other)
    with pytest.raises(LaunchError, match="KAI_AGENT names /nowhere, which is no program") as caught:
        planned(home, inherited={"KAI_AGENT": "/nowhere"})
    assert (caught.value.kind, caught.value.hint) == (FailureKind.MISSING, "")
    with pytest.raises(LaunchError, match="KAI_AGENT"):
        planned(home, inherited={"KAI_AGENT": "bin/agent"}, workspace=home / ".local")


def test_a_program_may_be_part_of_the_backend(home: Path) -> None:
    changes = {"launch": {"program": "{python}", "argv": ("-I", "{backend_dir}/agent.py")}}
    assert planned(home, changes=changes).spec.argv[:3] == (sys.executable, "-I", "/backends/agent/agent.py")


def test_a_script_that_only_starts_the_program_is_left_out_and_needs_no_interpreter(home: Path) -> None:
    (home / ".local/bin/agent").write_text("#!/usr/bin/env no-such-node\n")
    (home / ".local/native").mkdir()
    (home / ".local/native/agent").write_bytes(b"\x7fELF")
    (home / ".local/native/agent").chmod(0o700)
    launch = {"launch": {"native": ("../native/*",)}}
    assert planned(home, launch).spec.argv[0] == f"{home}/.local/native/agent"


@pytest.mark.parametrize("line", ["#!/usr/bin/env node", "#!/usr/bin/env -S node --flag", "#! /usr/bin/env  node"])
def test_a_script_without_its_interpreter_is_told_before_it_exits_127(home: Path, line: str) -> None:
    """Kind of F173: the shim of an npm CLI is found, and node is not."""
    (home / ".local/bin/agent").write_text(line.replace("node", "no-such-node") + "\n")
    with pytest.raises(LaunchError, match="needs no-such-node, which is not installed for ann") as caught:
        planned(home)
    assert caught.value.kind is FailureKind.MISSING
    node = home / ".nvm/versions/node/v22.1.0/bin/no-such-node"
    node.parent.mkdir(parents=True)
    node.write_text("")
    node.chmod(0o700)
    assert planned(home).spec.argv[0] == f"{home}/.local/bin/agent"


@pytest.mark.parametrize("content", [b"", b"#!/usr/bin/env", b"\x7fELF\xff\xfe", b"\xff" * 300])
def test_other_programs_are_not_guessed_about(home: Path, content: bytes) -> None:
    (home / ".local/bin/agent").write_bytes(content)
    assert planned(home).spec.argv[0] == f"{home}/.local/bin/agent"


def test_a_program_that_cannot_be_read_is_not_guessed_about(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*_: object, **__: object) -> None:
        raise PermissionError

    monkeypatch.setattr(Path, "open", refuse)
    assert planned(home).spec.argv


def test_context_never_goes_by_the_command_line(home: Path) -> None:
    """Kind of F44: other users can read arguments, and long ones are refused by the system."""
    with pytest.raises(LaunchError, match=f"where {ARGV_BYTES:,} are allowed"):
        planned(home, changes={"launch": {"argv": ("x" * 70_000,)}})


def test_temporary_mode_is_refused_where_the_backend_would_remember(home: Path) -> None:
    with pytest.raises(LaunchError) as caught:
        planned(home, changes={"can": Can()}, temporary=True)
    assert caught.value.kind is FailureKind.UNSUPPORTED


@pytest.mark.parametrize(
    ("os_user", "permissions", "quirks", "told"),
    [
        ("root", "bypass", ("root_bypass_needs_sandbox",), True),
        ("root", "ask", ("root_bypass_needs_sandbox",), False),
        ("root", "bypass", (), False),
        ("nobody", "bypass", ("root_bypass_needs_sandbox",), False),
        ("no-such-user", "bypass", ("root_bypass_needs_sandbox",), False),
    ],
)
def test_a_cli_that_refuses_root_without_questions_is_told_of_a_sandbox(
    home: Path, os_user: str, permissions: str, quirks: tuple[str, ...], told: bool
) -> None:
    result = planned(home, changes={"quirks": quirks}, os_user=os_user, permissions=permissions)
    assert (result.spec.env.get("IS_SANDBOX") == "1") is told
    assert bool(result.notes) is told


def test_notes_of_the_environment_are_kept(home: Path) -> None:
    (home / ".agent").mkdir()
    (home / ".agent/auth.json").write_text('{"token": "x"}')
    assert "ann's own login" in planned(home, inherited={"AGENT_KEY": "x"}).notes[0]


def test_the_daemons_own_environment_is_the_default(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("AGENT_URL", "http://stub")
    assert planned(home, inherited=None).spec.env["AGENT_URL"] == "http://stub"


def test_servers_go_along_where_the_backend_takes_them_as_arguments(home: Path) -> None:
    group = {"launch": {"mcp": ("--mcp-config", "{mcp_config}", "--allowedTools={mcp_unasked}")}}
    fills = {"{mcp_config}": '{"mcpServers":{"kai":{"args":["{model}"]}}}', "{mcp_unasked}": "a,b"}
    argv = planned(home, group, mcp=fills, model="m").spec.argv
    assert argv[-3:] == ("--mcp-config", '{"mcpServers":{"kai":{"args":["{model}"]}}}', "--allowedTools=a,b")
    assert "--mcp-config" not in planned(home, group).spec.argv


def test_a_gate_learns_which_tools_only_look(home: Path) -> None:
    assert planned(home, looks=("turn_show", "history_read")).spec.env["KAI_LOOKS"] == "turn_show,history_read"
    assert "KAI_LOOKS" not in planned(home).spec.env
