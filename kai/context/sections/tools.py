"""How to reach the tools of this run: the same text for every backend, from the rows the server is made of."""

from collections.abc import Sequence

from kai.context import neutral
from kai.context.draft import Draft, fixed
from kai.model.context import Facts, ToolNotice


def draft(facts: Facts) -> Draft | None:
    notices = [
        _scheduling([tool for tool in facts.tools if tool.group == "scheduling"]),
        _services([tool for tool in facts.tools if tool.group == "services"]),
    ]
    text = "\n".join(notice for notice in notices if notice)
    return fixed("session.tools", "tools", "notices", text) if text else None


def reach(names: Sequence[str]) -> str:
    """How a tool is called: as a command, and over MCP. The same words for every backend, those without MCP too."""
    return f"Run `kai tool {names[0]} --help`; where you have the MCP server kai, it has {', '.join(names)} as well."


def _scheduling(tools: Sequence[ToolNotice]) -> str:
    names = [neutral.line(tool.name) for tool in tools]
    return f"[Scheduling API: {', '.join(names)}. {reach(names)}]" if names else ""


def _services(tools: Sequence[ToolNotice]) -> str:
    if not tools:
        return ""
    available = "; ".join(neutral.line(tool.summary, 1_000) for tool in tools)
    return f"[External services available: {available}. {reach([neutral.line(tool.name) for tool in tools])}]"
