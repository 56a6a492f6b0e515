"""The daemon looking at itself."""

import sys
from pathlib import Path

import anyio
import pytest

from kai.model.errors import ApiError
from tests.e2e.house import House, Kai

pytestmark = pytest.mark.anyio


async def test_status_tells_what_runs_and_what_waits(kai: Kai) -> None:
    running = await kai.say("FAKE:slow=500,0.02")
    await kai.until(running, "text")
    await kai.say("waits")
    status = await kai.client.status()
    assert [one["turn"] for one in status["running"]] == [running.turn]
    assert status["sessions"][0]["busy"]
    assert status["counts"]["turns_queued"] == 1
    assert status["launcher"] == "direct"
    await kai.client.stop(running.turn or "")


async def test_a_backend_check_is_a_live_handshake(kai: Kai) -> None:
    checked = await kai.client.check_backend("fake-acp")
    assert checked["ready"]
    assert not checked["problem"]
    assert (await kai.client.status())["sessions"] == []


async def test_a_backend_that_is_not_installed_says_how_to_install_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PATH", "/usr/bin:/bin")
    async with House(tmp_path).open() as kai:
        checked = await kai.client.check_backend("opencode")
        assert not checked["ready"]
        assert "install" in checked["problem"]
        with pytest.raises(ApiError):
            await kai.client.check_backend("nonsense")


async def test_the_list_of_backends_tells_versions_and_abilities(kai: Kai) -> None:
    listed = {one["id"]: one for one in await kai.client.backends()}
    assert {"claude", "claude-agent-acp", "gemini", "opencode", "offline", "fake"} <= listed.keys()
    assert listed["fake"]["version"] == "9.9.9"
    assert listed["offline"]["program"]
    assert not listed["offline"]["problem"]


async def test_a_process_of_a_run_is_refused_on_the_peoples_face(kai: Kai) -> None:
    await kai.ask("hello")
    (live,) = kai.daemon.parts.pool.every()
    asked = [sys.executable, "-m", "kai", "--runtime", str(kai.house.folders.runtime), "turn", "list"]
    for mark, code in ((live.run, 1), ("r-that-is-starting", 1), ("", 0)):
        done = await anyio.run_process(asked, env={**kai.house.environment, "KAI_RUN": mark}, check=False)
        assert done.returncode == code, done.stderr
        assert ("run" in done.stderr.decode()) == bool(code)


AGENT = """\
title: Agent
protocol: acp
tried: false
launch: {{program: "{{python}}", argv: ["-c", {script!r}]}}
limits: {{start_s: 5}}
version_argv: ["--version"]
login: {{command: agent login, files: [.agent/no-such-login], env: [AGENT_KEY]}}
"""
DIES = "import sys; sys.exit('fatal: the licence ran out')"
REFUSES = (
    "import json, sys\nfor line in sys.stdin: print(json.dumps({'jsonrpc': '2.0', 'id': json.loads(line)['id'],"
    " 'error': {'code': -32000, 'message': 'Authentication required'}}), flush=True)"
)
ANSWERS = (
    "import json, sys\nfor line in sys.stdin: print(json.dumps({'jsonrpc': '2.0', 'id': json.loads(line)['id'],"
    " 'result': {'sessionId': 's'}}), flush=True)"
)


@pytest.mark.parametrize(
    ("script", "ready", "problem", "hint"),
    [
        (DIES, False, "ended before it was ready", "kai backend login agent"),
        (REFUSES, False, "not logged in, or its login expired", "kai backend login agent"),
        (ANSWERS, True, "Agent is not logged in here", "'kai backend login agent', or set AGENT_KEY for the daemon."),
    ],
)
async def test_a_check_names_what_is_wrong_and_the_mend(
    tmp_path: Path, script: str, ready: bool, problem: str, hint: str
) -> None:
    house = House(tmp_path)
    folder = house.folders.config / "backends/agent"
    await anyio.Path(folder).mkdir()
    await anyio.Path(folder / "backend.yaml").write_text(AGENT.format(script=script))
    async with house.open() as kai:
        checked = await kai.client.check_backend("agent")
    assert checked["ready"] is ready
    assert problem in checked["problem"]
    assert hint in checked["hint"]
    assert checked["notes"][-1].startswith("This manifest is untried")
    if script is DIES:
        assert checked["stderr"] == ["fatal: the licence ran out"]
