"""How to reach the tools of this run: the same text for every backend, from the rows the server is made of."""

from collections.abc import Sequence

from kai.context import neutral
from kai.context.draft import Draft, fixed
from kai.model.context import Facts, ToolNotice


def draft(facts: Facts) -> Draft | None:
    notices = [
        _scheduling([tool for tool in facts.tools if tool.group == "scheduling"], facts.tools_over_mcp),
        _services([tool for tool in facts.tools if tool.group == "services"], facts.tools_over_mcp),
    ]
    text = "\n".join(notice for notice in notices if notice)
    return fixed("session.tools", "tools", "notices", text) if text else None


def reach(names: Sequence[str], over_mcp: bool) -> str:
    """How a tool is called: as a command, and over MCP where the run has that."""
    if not over_mcp:
        return f"Run `kai tool {names[0]} --help`."
    mcp = ", ".join(f"kai_{name}" for name in names)
    return f"Run `kai tool {names[0]} --help`; also offered as the MCP tool{'s' if len(names) > 1 else ''} {mcp}."


def _scheduling(tools: Sequence[ToolNotice], over_mcp: bool) -> str:
    names = [neutral.line(tool.name) for tool in tools]
    return f"[Scheduling API: {', '.join(names)}. {reach(names, over_mcp)}]" if names else ""


def _services(tools: Sequence[ToolNotice], over_mcp: bool) -> str:
    if not tools:
        return ""
    available = "; ".join(neutral.line(tool.summary, 1_000) for tool in tools)
    return f"[External services available: {available}. {reach([neutral.line(tool.name) for tool in tools], over_mcp)}]"
