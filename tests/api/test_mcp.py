"""MCP on the agents' face: by the official client through the pump, by message, and by who has no business there."""

import json
import sys
from pathlib import Path
from typing import Any

import anyio
import httpx
import pytest
from anyio import to_thread

from kai.catalog.tools import TOOLS
from kai.turns.offering import PUMP
from tests.e2e.conftest import house, kai
from tests.e2e.house import Kai
from tests.tools.at_work import AtWork, at_work

__all__ = ["house", "kai"]
pytestmark = pytest.mark.anyio
ENVELOPE = {
    "io.modelcontextprotocol/protocolVersion": "2026-07-28",
    "io.modelcontextprotocol/clientInfo": {"name": "test", "version": "1"},
    "io.modelcontextprotocol/clientCapabilities": {},
}


async def token_file(run: AtWork) -> Path:
    file = await to_thread.run_sync(run.kai.daemon.parts.live_runs.token_file, run.live.run)
    assert file is not None
    return file


async def posted(run: AtWork, body: bytes | Any, token: str | None = None) -> httpx.Response:
    """One message on the agents' socket, with the run's token or another."""
    bearer = await anyio.Path(await token_file(run)).read_text() if token is None else token
    transport = httpx.AsyncHTTPTransport(uds=str(run.kai.daemon.parts.socket))
    async with httpx.AsyncClient(transport=transport, base_url="http://kai", timeout=15) as http:
        content = body if isinstance(body, bytes) else json.dumps(body).encode()
        headers = {"authorization": f"Bearer {bearer}", "content-type": "application/json"}
        return await http.post("/v1/mcp", content=content, headers=headers)


def message(method: str, number: int = 1, **params: Any) -> dict[str, Any]:
    return {"jsonrpc": "2.0", "id": number, "method": method, "params": params}


async def called(run: AtWork, name: str, **arguments: Any) -> dict[str, Any]:
    answer = await posted(run, message("tools/call", name=name, arguments=arguments))
    result: dict[str, Any] = answer.json()["result"]
    return result


async def test_the_official_client_talks_to_it_through_the_pump(kai: Kai) -> None:
    async with at_work(kai) as run:
        env = {"KAI_SOCKET": str(kai.daemon.parts.socket), "KAI_RUN_FILE": str(await token_file(run))}
        code = (
            "import anyio, json, sys\n"
            "from mcp import ClientSession\n"
            "from mcp.client.stdio import StdioServerParameters, stdio_client\n"
            "async def main():\n"
            f"    server = StdioServerParameters(command={sys.executable!r}, args={list(PUMP)!r}, env={env!r})\n"
            "    async with stdio_client(server) as (read, write), ClientSession(read, write) as session:\n"
            "        first = await session.initialize()\n"
            "        names = [tool.name for tool in (await session.list_tools()).tools]\n"
            "        saved = await session.call_tool('memory_save', {'text': 'the bins go out on Monday'})\n"
            "        print(json.dumps([first.server_info.name, names, saved.is_error, saved.content[0].text]))\n"
            "anyio.run(main)\n"
        )
        done = await anyio.run_process([sys.executable, "-c", code])
    name, names, failed, text = json.loads(done.stdout)
    assert (name, names, failed) == ("kai", [tool.name for tool in TOOLS], False)
    receipt = json.loads(text)
    assert receipt["outcome"] == "committed"
    (kept,) = await kai.client.memory("records", {})
    assert kept["record"] == receipt["record"]


async def test_every_message_stands_for_itself_in_both_eras_of_the_protocol(kai: Kai) -> None:
    """A daemon that was started anew knows no handshake of before."""
    async with at_work(kai) as run:
        old = (await posted(run, message("tools/list"))).json()["result"]["tools"]
        new = (await posted(run, message("tools/list", _meta=ENVELOPE))).json()["result"]["tools"]
        assert [one["name"] for one in old] == [one["name"] for one in new] == [tool.name for tool in TOOLS]
        assert [one["annotations"]["readOnlyHint"] for one in old] == [not tool.changes for tool in TOOLS]
        found = (await posted(run, message("server/discover", _meta=ENVELOPE))).json()["result"]
        assert found["supportedVersions"] == ["2026-07-28"]
        note = {"jsonrpc": "2.0", "method": "notifications/initialized"}
        assert (await posted(run, note)).status_code == 202


async def test_a_refusal_is_a_result_that_the_model_reads(kai: Kai) -> None:
    async with at_work(kai) as run:
        bad = await called(run, "memory_save", text="")
        assert (bad["isError"], bad["content"][0]["text"][:5]) == (True, "text:")
        unknown = await called(run, "nothing")
        assert unknown["isError"]
        refused = await called(run, "memory_forget", record="rec-none", base=1)
        assert refused["isError"]
        assert json.loads(refused["content"][0]["text"])["outcome"] == "rejected"
        fine = await called(run, "memory_search", query="x")
        assert not fine["isError"]


async def test_who_has_no_business_there_is_refused_before_the_message_is_read(kai: Kai) -> None:
    async with at_work(kai) as run:
        for token in ("x", "wrong"):
            assert (await posted(run, message("tools/list"), token)).status_code == 403
        await run.stop()
        await kai.client.memory("save", {"text": "x"})
        before = await anyio.Path(await token_file(run)).read_text()
        await kai.daemon.parts.pool.close(run.live.channel, "for the test")
        assert (await posted(run, message("tools/list"), before)).status_code == 403, "a token dies with its run"


@pytest.mark.parametrize(
    ("body", "status"),
    [(b"{", 400), (b"\xff", 400), (b"[]", 400), (b"7", 400), (b"{}", 400), (b'{"jsonrpc": "2.0", "id": 1}', 400)],
)
async def test_what_is_no_message_is_a_clear_error(kai: Kai, body: bytes, status: int) -> None:
    async with at_work(kai) as run:
        assert (await posted(run, body)).status_code == status
        deep = b'{"jsonrpc":"2.0","id":1,"method":"ping","params":' + b'{"a":' * 5_000 + b"1" + b"}" * 5_001
        assert (await posted(run, deep)).status_code == 400


async def test_a_message_that_is_too_large_is_not_read(kai: Kai) -> None:
    async with at_work(kai) as run:
        cap = kai.daemon.parts.config.settings.api.max_body_bytes
        assert (await posted(run, b"x" * (cap + 1))).status_code == 413


async def test_what_is_sent_of_persons_and_places_has_no_effect_over_mcp(kai: Kai) -> None:
    await kai.client.add_person("Bob")
    async with at_work(kai) as run:
        claims = {"principal": "p-x", "channel": "c-x", "mode": "x", "scope": "*"}
        plain = await called(run, "turn_show")
        assert await called(run, "turn_show", **claims) == plain
    rows = await kai.client.memory("audit", {"limit": "100"})
    assert [row["reason"] for row in rows if row["status"] == "denied"] == ["claimed: channel, mode, principal, scope"]
