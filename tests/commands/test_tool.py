"""``kai tool`` is the table of tools as commands, on the agents' socket."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from kai.catalog.tools import TOOLS
from tests.commands.conftest import Kai
from tests.fake_daemon import FakeDaemon


@pytest.fixture
def agents(fake: FakeDaemon, folders: list[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> FakeDaemon:
    monkeypatch.setenv("KAI_SOCKET", str(Path(folders[-1]) / "people.sock"))
    (tmp_path / "token").write_text("s3cret\n")
    monkeypatch.setenv("KAI_RUN_FILE", str(tmp_path / "token"))
    return fake


def test_every_tool_of_the_table_is_a_command_with_its_help(kai: Kai) -> None:
    status, out, _ = kai("tool", "--help")
    assert status == 0
    for tool in TOOLS:
        assert f"\n  {tool.name}" in out
        status, told, _ = kai("tool", tool.name, "--help")
        assert status == 0
        assert all(f"--{one.name}" in told for one in tool.arguments)


def test_outside_of_a_run_it_says_for_whom_it_is(kai: Kai, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("KAI_SOCKET", raising=False)
    status, out, err = kai("tool", "turn_show")
    assert (status, out) == (1, "")
    assert "for agents that kai has started" in err


def test_a_socket_that_nobody_answers_on_is_told(kai: Kai, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("KAI_SOCKET", str(tmp_path / "none.sock"))
    status, _, err = kai("tool", "turn-show")
    assert status == 1
    assert "none.sock" in err
    assert "Traceback" not in err


def test_an_unknown_tool_is_wrong_use(kai: Kai) -> None:
    assert kai("tool", "nothing")[0] == 2


def test_it_starts_without_what_takes_long_to_load() -> None:
    code = "import sys, kai.commands.tool; print([m for m in ('httpx', 'anyio', 'pydantic') if m in sys.modules])"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, env=dict(os.environ))
    assert done.stdout == "[]\n", done.stderr


def test_arguments_go_as_json_and_the_token_in_a_header_alone(kai: Kai, agents: FakeDaemon) -> None:
    agents.canned["POST", "/v1/tools/history_search"] = 200, {"messages": [], "found": 0}
    status, out, _ = kai("tool", "history-search", "the", "pump", "--limit", "3")
    assert (status, json.loads(out)) == (0, {"messages": [], "found": 0})
    asked = agents.asked[-1]
    assert asked.body == {"query": "the pump", "limit": 3}
    assert asked.headers["authorization"] == "Bearer s3cret"
    assert "s3cret" not in asked.path + str(asked.query) + str(asked.body) + out


def test_what_is_printed_cannot_steer_a_terminal(kai: Kai, agents: FakeDaemon) -> None:
    agents.canned["POST", "/v1/tools/turn_show"] = 200, {"person": "\x1b[2Jx\u202e"}
    _, out, _ = kai("tool", "turn-show")
    assert out.isascii()
    assert "\x1b" not in out
