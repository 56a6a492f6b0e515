"""MCP on the agents' face: every message is a request of its own, the tools and their rights those of the run.

The SDK costs a second and 40 MB to load: the first message of the first agent that speaks MCP waits for it.
"""

from collections.abc import Mapping
from typing import Any

from anyio import to_thread
from starlette.types import Receive, Scope, Send

from kai import __version__
from kai.api.answers import as_json, fault
from kai.api.requests import parse, pieces
from kai.catalog.tools import Tool
from kai.model.errors import KaiError
from kai.tools.door import AgentDoor
from kai.turns.runs import LiveRun

NAME = "kai"
_VERSION = "io.modelcontextprotocol/protocolVersion"  # in the envelope of a message since 2026-07-28
_INSTRUCTIONS = "What kai offers to the agent of this conversation: memory, earlier messages, the turn itself."
_FAILED = frozenset({"rejected", "conflict"})


async def answer(door: AgentDoor, live: LiveRun, cap_bytes: int, scope: Scope, receive: Receive, send: Send) -> None:
    """Answer one MCP message, the body. Raises `ApiError` for one that is too large or no JSON."""
    body = b"".join([piece async for piece in pieces(scope, receive, cap_bytes, "api.max_body_bytes")])
    headers = _headers(parse(body))
    manager = await to_thread.run_sync(_manager, door, live, cap_bytes)

    async def again() -> dict[str, Any]:
        return {"type": "http.request", "body": body, "more_body": False}

    async with manager.run():
        await manager.handle_request({**scope, "headers": headers}, again, send)


def _headers(message: Any) -> list[tuple[bytes, bytes]]:
    """What the SDK's HTTP transport wants to be told again: a pipe has nothing but the message."""
    found = {"host": NAME, "content-type": "application/json", "accept": "application/json"}
    params = message.get("params") if isinstance(message, dict) else None
    meta = params.get("_meta") if isinstance(params, dict) else None
    if isinstance(params, dict) and isinstance(meta, dict) and _VERSION in meta:
        found |= {"mcp-protocol-version": meta[_VERSION], "mcp-method": message.get("method")}
        found |= {"mcp-name": params["name"]} if "name" in params else {}
    return [(name.encode(), str(value).encode("latin-1", "replace")) for name, value in found.items()]


def _manager(door: AgentDoor, live: LiveRun, cap_bytes: int) -> Any:
    """A server for one message of one run: what it may call is looked up anew. Blocks while the SDK is loaded."""
    from mcp import types  # noqa: PLC0415 - loaded at first use
    from mcp.server.lowlevel import Server  # noqa: PLC0415
    from mcp.server.streamable_http_manager import StreamableHTTPSessionManager  # noqa: PLC0415

    async def listed(_: Any, __: Any) -> types.ListToolsResult:
        return types.ListToolsResult(tools=[types.Tool.model_validate(_row(tool)) for tool in await door.rows(live)])

    async def called(_: Any, params: types.CallToolRequestParams) -> types.CallToolResult:
        text, failed = await _call(door, live, params.name, params.arguments or {})
        return types.CallToolResult(content=[types.TextContent(type="text", text=text)], is_error=failed)

    server: Server[Any] = Server(
        NAME, version=__version__, instructions=_INSTRUCTIONS, on_list_tools=listed, on_call_tool=called
    )
    return StreamableHTTPSessionManager(server, json_response=True, stateless=True, max_request_body_size=cap_bytes)


def _row(tool: Tool) -> dict[str, Any]:
    hints = {"readOnlyHint": not tool.changes, "destructiveHint": False, "openWorldHint": False}
    return {"name": tool.name, "description": tool.summary, "inputSchema": tool.schema, "annotations": hints}


async def _call(door: AgentDoor, live: LiveRun, name: str, arguments: Mapping[str, Any]) -> tuple[str, bool]:
    """The answer as JSON text, and whether nothing came of it: a refusal is for the model to read."""
    try:
        said = await door.call(live, name, arguments)
    except KaiError as error:
        return f"{error.sentence} {error.hint}".strip(), True
    except Exception as error:  # noqa: BLE001 - the boundary of a request
        return fault(error, tool=name).sentence, True
    return as_json(said).decode(), said.get("outcome") in _FAILED
