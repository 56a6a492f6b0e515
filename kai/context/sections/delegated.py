"""That another agent asks for this, what binds it, and what it is to give back."""

from kai.context import neutral
from kai.context.draft import Draft, Item
from kai.context.fences import close_code, fence_id, fenced
from kai.context.sections.privacy import has_tool
from kai.model.context import Facts

_NAME = "delegated"
_HEAD = (
    "[Delegated work, depth {depth}: the agent {caller} hands you ({me}) what follows, for {who}. "
    "The chain above you: {above}.]"
)
_RULES = (
    "Do it yourself: never delegate it to {me}, which is you, nor up that chain. Nobody can answer you in between; "
    "where something is missing, go on with what is sure and say what is not."
)
_BACK = (
    "Give back: findings; the evidence for each; the conditions under which they hold; gaps, what you did not find or "
    "could not check."
)


def draft(facts: Facts) -> Draft | None:
    work = facts.delegated
    if work is None:
        return None
    above = " > ".join(neutral.line(name) for name in work.lineage)
    me, caller = neutral.line(work.agent), neutral.line(work.lineage[-1])
    who = neutral.line(facts.speaker.name, 60)
    lines = [_HEAD.format(depth=work.depth, caller=caller, me=me, who=who, above=above), _RULES.format(me=me), _BACK]
    if work.refs:
        read = " (result_read)" if has_tool(facts, "result_read") else ""
        lines.append(f"Results handed over{read}: {', '.join(neutral.line(ref) for ref in work.refs)}.")
    items = [Item("delegation", work.delegation, "\n".join(lines), required=True)]
    if work.constraints:
        text = close_code(neutral.data(work.constraints))
        item = fenced(fence_id(work.constraints), "constraints that hold for this work", text)
        items.append(Item("constraints", work.delegation, item, required=True))
    return Draft(_NAME, tuple(items), required=True)
