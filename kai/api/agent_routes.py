"""The table of the agents' face: every route is for the run that asks, and takes nobody else's part."""

from functools import partial
from typing import Any

from kai.api.answers import Forwarded
from kai.api.endpoint import Call, Parts, Route
from kai.api.requests import json_body
from kai.model.errors import BadInputError, DeniedError
from kai.tools.door import AgentDoor


async def whoami(call: Call) -> dict[str, Any]:
    return await door_of(call.parts).whoami(call.scope["kai.run"])


async def tools(call: Call) -> list[dict[str, Any]]:
    return await door_of(call.parts).tools(call.scope["kai.run"])


async def call_tool(call: Call) -> dict[str, Any]:
    arguments = await json_body(call.scope, call.receive, call.parts.max_body_bytes())
    if not isinstance(arguments, dict):
        raise BadInputError("body", "is no object")
    return await door_of(call.parts).call(call.scope["kai.run"], call.id, arguments)


async def speak_mcp(call: Call) -> Forwarded:
    from kai.api import mcp  # noqa: PLC0415 - loaded at first use

    live, cap_bytes = call.scope["kai.run"], call.parts.max_body_bytes()
    return Forwarded(partial(mcp.answer, door_of(call.parts), live, cap_bytes))


def door_of(parts: Parts) -> AgentDoor:
    """Raises `DeniedError` where no agent is let in."""
    if parts.agents is None:
        raise DeniedError("no agent is served here")
    return parts.agents


# `is_open`: no person is looked up; the face itself has let the run in.
AGENT_ROUTES = (
    Route("GET", "/v1/agent/whoami", whoami, "What the asking process is taken for.", is_open=True),
    Route("GET", "/v1/tools", tools, "The tools that this run may call.", is_open=True),
    Route("POST", "/v1/tools/{id}", call_tool, "Call a tool: its arguments are the body.", is_open=True),
    Route("POST", "/v1/mcp", speak_mcp, "One message of the Model Context Protocol.", is_open=True),
)
