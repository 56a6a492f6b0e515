"""Bodies of skills that the session was given and lost to a compaction, once more."""

from kai.context import neutral
from kai.context.draft import Draft, Item
from kai.context.fences import close_code, fence_id, fenced
from kai.context.tokens import estimate
from kai.model.agents import Skill
from kai.model.context import Facts, Verdict

BODY_TOKENS = 5_000


def draft(facts: Facts) -> Draft | None:
    if not facts.skill_bodies:
        return None
    items = tuple(_item(skill) for skill in facts.skill_bodies)

    def frame(admitted: tuple[Item, ...]) -> tuple[str, str]:
        names = ", ".join(neutral.line(item.id) for item in items if item not in admitted)
        left_out = f"left out for lack of space, ask for them with skill_read: {names}" if names else ""
        if not admitted:
            return f"[Skills again: {left_out}.]", ""
        head = "[Skills again: you had read these before the conversation was compacted; they are yours to follow.]"
        return head, f"({left_out})" if names else ""

    return Draft("session.skills", items, frame, stable=True)


def _item(skill: Skill) -> Item:
    body, note = _within(skill.body)
    label = f"skill {neutral.line(skill.name)}"
    text = close_code(neutral.data(body)) + (f"\n[{note}; the whole by skill_read]" if note else "")
    verdict = Verdict.TRUNCATED if note else Verdict.SUBMITTED
    return Item("skill", skill.name, fenced(fence_id(label + skill.body), label, text), verdict=verdict, reason=note)


def _within(body: str) -> tuple[str, str]:
    """The first whole lines of `body` that are at most 5,000 tokens, and a note when that is not all of it."""
    total = estimate(body)
    if total <= BODY_TOKENS:
        return body.strip("\n"), ""
    kept, left = [], BODY_TOKENS
    for line in body.splitlines():
        left -= estimate(line + "\n")
        if left < 0:
            break
        kept.append(line)
    return "\n".join(kept), f"cut at {BODY_TOKENS:,} of about {total:,} tokens"
