"""The memory subsystem's state: the operator's intent, so that an outage never reads as "there are no memories"."""

from typing import assert_never

from kai.context.draft import Draft, fixed
from kai.context.sections.privacy import has_tool
from kai.model.context import Facts, MemoryMode
from kai.model.people import ChannelKind


def draft(facts: Facts) -> Draft:
    shared = facts.kind is ChannelKind.SHARED and facts.memory is not MemoryMode.TEMPORARY
    mode = MemoryMode.SHARED if shared else facts.memory
    return fixed("session.memory", "state", mode, f"[Memory subsystem: {_says(mode, facts)}]")


def _says(mode: MemoryMode, facts: Facts) -> str:
    match mode:
        case MemoryMode.ENABLED if facts.speaker.principal is None:
            return "enabled, but this run speaks for nobody: nothing is recalled or kept (denied: no_identity)."
        case MemoryMode.ENABLED if not has_tool(facts, "memory_save"):
            return (
                "enabled. Facts live in semantic memory. This run has no tool to change them: never claim that you "
                "did. The person keeps something with /remember TEXT and drops it with /forget TEXT."
            )
        case MemoryMode.ENABLED:
            return (
                "enabled. Facts live in semantic memory. To remember, correct or forget something the person asked "
                "for, use memory_save, memory_correct or memory_forget, and report only what the receipt says."
            )
        case MemoryMode.DISABLED:
            return (
                "disabled. Facts live in the file MEMORY.md named below. To remember, correct or forget something the "
                "person asked for, edit that file, and report only what you did."
            )
        case MemoryMode.SHARED:
            return "unavailable in shared channels."
        case MemoryMode.TEMPORARY:
            return "off for this conversation, at the person's wish. Nothing is recalled or kept."
        case MemoryMode.FAULT:
            return "enabled, but not reachable just now. Do not conclude that nothing is remembered."
        case _:
            assert_never(mode)
