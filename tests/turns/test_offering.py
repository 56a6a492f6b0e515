"""The tools of a run are offered to its CLI without anything that changes from run to run in its arguments."""

import json
from pathlib import Path

import pytest
from anyio import to_thread

from kai.protocols.driver import McpServer
from kai.turns.offering import PUMP, fills
from tests.e2e.house import House

pytestmark = pytest.mark.anyio


def test_the_arguments_name_the_pump_and_what_runs_unasked() -> None:
    server = McpServer("kai", "/py", ("-I", "pump.py"), (("KAI_RUN", "r-1"),), ("turn_show", "history_read"))
    filled = fills((server,))
    given = json.loads(filled["{mcp_config}"])["mcpServers"]["kai"]
    assert (given["command"], given["args"]) == ("/py", ["-I", "pump.py"])
    assert "r-1" not in json.dumps(filled)
    assert filled["{mcp_unasked}"] == "mcp__kai__turn_show,mcp__kai__history_read"
    assert fills(()) == {}


async def test_a_session_of_an_agent_with_mcp_is_given_the_server_of_its_run(tmp_path: Path) -> None:
    house = House(tmp_path, backend="fake-acp")
    manifest = house.folders.config / "backends/fake-acp/backend.yaml"
    manifest.write_text(manifest.read_text().replace("can: {", "can: {mcp: true, "))
    async with house.open() as kai:
        await kai.ask("hello")
        (live,) = kai.daemon.parts.live_runs._live.values()
        token = await to_thread.run_sync(kai.daemon.parts.live_runs.token_file, live.run)
    log = await to_thread.run_sync(house.log.read_text)
    asked = next(line for line in log.splitlines() if "session/new" in line)
    (server,) = json.loads(asked[asked.index("{") :])["params"]["mcpServers"]
    assert (server["name"], server["args"]) == ("kai", list(PUMP))
    env = {one["name"]: one["value"] for one in server["env"]}
    assert env == {
        "KAI_RUN": live.run,
        "KAI_SOCKET": str(kai.daemon.parts.socket),
        "KAI_RUN_FILE": str(token),
    }


async def test_an_agent_without_mcp_is_given_none(tmp_path: Path) -> None:
    house = House(tmp_path, backend="fake-acp")
    async with house.open() as kai:
        await kai.ask("hello")
    log = await to_thread.run_sync(house.log.read_text)
    assert '"mcpServers": []' in log or '"mcpServers":[]' in log
