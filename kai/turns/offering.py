"""How the tools of a run are offered to its agent CLI over MCP: the pump that it starts, and what runs unasked."""

import json
import sys
from collections.abc import Sequence

from kai.model.ids import RunId
from kai.processes.environment import RUN_FILE, SOCKET
from kai.processes.marks import MARK
from kai.protocols.driver import McpServer
from kai.resources import module_file
from kai.turns.facts import route_tools
from kai.turns.parts import Parts
from kai.turns.route import Route

NAME = "kai"


def offered(parts: Parts, route: Route, run: RunId) -> tuple[McpServer, ...]:
    """The servers that a session of this route is given; none where the CLI has no MCP: it has ``kai tool``.

    Tools that only look are named as those to run unasked. Blocks.
    """
    if not route.manifest.can.mcp:
        return ()
    token = parts.live_runs.token_file(run, route.os_user)
    env = {MARK: run, SOCKET: str(parts.socket)} | ({RUN_FILE: str(token)} if token else {})  # some CLIs pass on none
    return (McpServer(NAME, sys.executable, PUMP, tuple(env.items()), looking(parts, route)),)


def looking(parts: Parts, route: Route) -> tuple[str, ...]:
    """The names of the run's tools that only look."""
    return tuple(tool.name for tool in route_tools(parts, route) if not tool.changes)


PUMP = ("-I", "-S", str(module_file("commands/mcp_pump.py")))


def fills(servers: Sequence[McpServer]) -> dict[str, str]:
    """What fills a manifest's group `mcp`, for CLIs that take servers as arguments. Without what changes with the run:
    the environment that they pass on has it, and arguments are seen by everybody.
    """
    if not servers:
        return {}
    # `alwaysLoad`: they are before the model at once, not behind a search for tools.
    given = {one.name: {"command": one.command, "args": list(one.args), "alwaysLoad": True} for one in servers}
    config = {"mcpServers": given}
    names = [f"mcp__{one.name}__{tool}" for one in servers for tool in one.unasked]
    return {"{mcp_config}": json.dumps(config, separators=(",", ":")), "{mcp_unasked}": ",".join(names)}
