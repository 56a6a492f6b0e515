"""``kai backend new``, against real processes: the offline agent, the fake agent, and programs that are no agents."""

import sys
from pathlib import Path

import pytest

from kai.catalog.manifests import load
from kai.clock import SystemClock
from kai.model.backends import ProtocolName
from kai.protocols.driver import DriverSetup
from kai.protocols.registry import driver_for
from kai.resources import folder
from tests.commands.conftest import Kai
from tests.protocols.transcripts import Replay

FAKE = Path(__file__).parents[1] / "fake_agent/__main__.py"
OFFLINE = folder("backends") / "offline/agent.py"


WAITING = "Waiting for its handshake, 60 seconds at most…"


def test_a_program_that_only_echoes_is_known_for_what_it_is(kai: Kai, made: Path) -> None:
    status, _, err = kai("backend", "new", "mine", "--program", "cat")
    assert status == 1
    assert "cat only writes back what it is sent: it is no agent that speaks ACP" in err
    assert not made.exists()


def test_while_it_waits_for_the_handshake_it_says_so(kai: Kai, made: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("kai.commands.show.PATIENCE_S", 0.0)
    status, _, err = kai(
        "backend", "new", "mine", "--program", sys.executable, "--", "-c", "import time; time.sleep(1)"
    )
    assert status == 1
    assert WAITING in err


@pytest.fixture
def made(tmp_path: Path) -> Path:
    return tmp_path / "c/backends/mine"


def test_an_agent_becomes_a_folder_that_loads_and_a_transcript_that_replays(kai: Kai, made: Path) -> None:
    status, out, err = kai("backend", "new", "mine", "--program", sys.executable, "--", "-I", "-S", str(OFFLINE))
    assert (status, err.replace(f"{WAITING}\n", "")) == (0, "")
    assert "It calls itself kai offline agent 1.0.0." in out
    manifest = load(folder("backends"), made.parent)["mine"]
    assert manifest.launch.program == sys.executable
    assert manifest.launch.argv == ("-I", "-S", str(OFFLINE))
    assert manifest.version_min == ""  # the interpreter's is none of the agent's
    readme = (made / "README.md").read_text()
    assert "| 1.0.0 |" in readme
    assert f"{SystemClock().now():%Y-%m-%d} | handshake" in readme
    assert "## Quirks" in readme
    driver = driver_for(DriverSetup(manifest, "/cwd"))
    story = Replay(driver, ProtocolName.ACP).run(made / "handshake.jsonl")
    assert story[0].startswith("ready: resumed=False version='kai-offline 1.0.0'")
    assert "$CWD" in (made / "handshake.jsonl").read_text()


def test_with_a_prompt_the_answer_is_told_and_its_session_taken_up(
    kai: Kai, made: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("MY_KEY", "a-sekret")
    argv = ["--", str(FAKE), "--protocol", "acp", "--state", str(made.parents[1])]
    status, out, _ = kai("backend", "new", "mine", "--program", sys.executable, "--env", "MY_KEY", "--prompt", *argv)
    assert status == 0
    assert "It answered: echo: Answer with this one word: hello." in out
    assert "says yes, it did" in out
    manifest = load(folder("backends"), made.parent)["mine"]
    assert manifest.can.resume
    assert (manifest.launch.pass_env, manifest.login.env) == (("MY_KEY",), ("MY_KEY",))
    assert "a-sekret" not in "".join(file.read_text() for file in made.iterdir())


def test_a_program_that_is_not_there_or_no_agent_leaves_nothing_and_says_what_to_try(kai: Kai, made: Path) -> None:
    status, _, err = kai("backend", "new", "mine", "--program", "no-such-agent")
    assert (status, "no-such-agent is not installed" in err) == (1, True)
    says = ["--", "-c", "print('Welcome to the agent')"]
    status, _, err = kai("backend", "new", "mine", "--program", sys.executable, *says)
    assert status == 1
    assert "did not answer as an ACP agent does" in err
    assert "It wrote 'Welcome to the agent'" in err
    assert "kai backend new ID -- acp" in err
    assert not made.exists()


WANTS_A_LOGIN = """
import json, sys
for line in sys.stdin:
    ask = json.loads(line)
    answer = {"result": {"agentInfo": {"name": "shy"}}} if ask["method"] == "initialize" else {
        "error": {"code": -32000, "message": "Authentication required"}}
    print(json.dumps({"jsonrpc": "2.0", "id": ask["id"], **answer}), flush=True)
"""


def test_an_agent_that_wants_a_login_is_written_down_and_says_so(kai: Kai, made: Path) -> None:
    status, out, _ = kai("backend", "new", "mine", "--program", sys.executable, "--", "-c", WANTS_A_LOGIN)
    assert status == 1
    assert "It gave no session: The agent is not logged in" in out
    assert "kai backend check mine" in out
    assert (made / "backend.yaml").exists()


@pytest.mark.parametrize(("name", "words"), [("Mine", "no backend's id"), ("gemini", "already"), ("mine", "already")])
def test_an_id_that_is_none_or_taken_is_refused_before_anything_is_tried(
    kai: Kai, made: Path, name: str, words: str
) -> None:
    made.mkdir(parents=True)
    status, _, err = kai("backend", "new", name, "--program", "no-such-agent")
    assert (status, words in err) == (1, True)
