"""The rules that keep person-private things out, in one place. Each answer is the reason word of the disposition."""

from kai.model.context import Facts, MemoryMode
from kai.model.people import ChannelKind


def bars_memory(facts: Facts) -> str:
    """Why nothing remembered may stand here, or ``""``."""
    if facts.memory is MemoryMode.TEMPORARY:
        return "temporary"
    return "shared_channel" if facts.kind is ChannelKind.SHARED or facts.memory is MemoryMode.SHARED else ""


def bars_preferences(facts: Facts) -> str:
    """Why a person's preferences may not stand here, or ``""``. There is no preferences file for everybody."""
    return bars_memory(facts) or ("" if facts.speaker.principal else "no_identity")


def bars_work(facts: Facts) -> str:
    """Why no task and no result stands here, or ``""``. Who does delegated work is handed what it needs."""
    reason = "delegated" if facts.delegated else "bare" if facts.native_command else ""
    return reason or ("steered" if facts.steered else "") or bars_memory(facts)


def has_tool(facts: Facts, name: str) -> bool:
    """Whether this run may call the tool: the block names no way that does not exist."""
    return any(tool.name == name for tool in facts.tools)
