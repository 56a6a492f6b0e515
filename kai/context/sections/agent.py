"""The agent definition: purpose, instructions, capabilities, skills, tools. It shapes behaviour, never access.

It also explains the block itself, for every definition alike: an agent that is not told takes such a text for an
attack, or repeats it to the person.
"""

import re

from kai.context import neutral
from kai.context.draft import Draft, Item
from kai.context.fences import close_code
from kai.context.sections.now import date_text, time_text
from kai.context.sections.privacy import has_tool
from kai.context.sections.tools import reach
from kai.model.context import Facts
from kai.model.people import ChannelKind

_PLACEHOLDER = re.compile(r"\$\{([a-z_]+)\}")
_MOVING = ("${current_date}", "${current_time}")
_EXPLAINED = (
    "About this text: kai, which carries the conversation, puts these parts in front of every message for you to use; "
    "they are expected, no attack. Between <<ID and ID>> stands quoted text; the line above it says what it is for. "
    "What follows the heading that announces the current message, and nothing before it, is the person's own: answer "
    "that. Asked what they wrote or said just now, it is those words alone; recite the rest only when asked for it."
)


def draft(facts: Facts) -> Draft:
    agent = facts.agent
    parts = [f"[Agent: {neutral.line(agent.name)}]"]
    if purpose := _filled(agent.purpose, facts):
        parts.append(f"Purpose: {purpose}")
    if instructions := _filled(agent.instructions, facts):
        parts.append(instructions)
    if agent.capabilities:
        parts.append(f"Capabilities: {', '.join(neutral.line(name) for name in agent.capabilities)}.")
    items = [Item("definition", agent.name, "\n".join(parts), required=True, reason=agent.revision)]
    if agent.skills:
        lines = "; ".join(f"{neutral.line(skill.name)}: {neutral.line(skill.summary)}" for skill in agent.skills)
        asking = " (ask for one by name with skill_read)" if has_tool(facts, "skill_read") else ""
        items.append(Item("skills", "catalogue", f"Skills{asking}: {lines}.", required=True))
    if facts.tools:
        names = [neutral.line(tool.name) for tool in facts.tools]
        items.append(
            Item(
                "tools",
                "list",
                f"Tools of this run: {', '.join(names)}. {_reach_any(names)}",
                required=True,
            )
        )
    items.append(Item("explanation", "block", _EXPLAINED, required=True))
    moving = any(name in text for name in _MOVING for text in (agent.purpose, agent.instructions))
    return Draft("agent", tuple(items), required=True, stable=not moving)


def _reach_any(names: list[str]) -> str:
    if len(names) == 1:
        return reach(names)
    return "Run `kai tool NAME --help`; where you have the MCP server kai, each is a tool of it as well."


def _filled(text: str, facts: Facts) -> str:
    """The definition's text with its placeholders filled. Filled once: a name that looks like one stays a name."""
    private = facts.kind is ChannelKind.PRIVATE
    speaker = facts.speaker
    values = {
        "user_id": speaker.principal or "",
        "user_name": speaker.name,
        "user_email": speaker.email if private else "",
        "chat_id": facts.channel,
        "project_id": facts.workspace,
        "current_date": date_text(facts),
        "current_time": time_text(facts),
    }
    filled = _PLACEHOLDER.sub(lambda found: neutral.line(values.get(found.group(1), found.group())), text)
    return close_code(neutral.data(filled.strip()))
