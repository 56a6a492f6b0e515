"""Skills that a compaction took from the session."""

from kai.context.sections.skills import BODY_TOKENS, draft
from kai.context.tokens import estimate
from kai.model.agents import Skill
from kai.model.context import Verdict
from tests.context.examples import facts


def test_there_is_no_section_when_none_was_lost() -> None:
    assert draft(facts()) is None


def test_each_body_comes_again_in_a_fence_of_its_own() -> None:
    found = draft(facts(skill_bodies=(Skill("a", "", "1. one\n"), Skill("b", "", "```\ntwo"))))
    assert found is not None
    text = found.text(found.items)
    assert text.startswith("[Skills again: ")
    assert " skill a\n1. one\nk" in text
    assert " skill b\n```\ntwo\n```\nk" in text
    assert found.stable


def test_a_body_over_its_share_is_cut_between_lines_and_says_so() -> None:
    body = "\n".join(f"step {n}: do this and that" for n in range(3_000))
    found = draft(facts(skill_bodies=(Skill("long", "", body),)))
    assert found is not None
    (item,) = found.items
    assert item.verdict is Verdict.TRUNCATED
    shown = item.text.split("\n")[1:-2]
    assert body.split("\n")[: len(shown)] == shown
    assert BODY_TOKENS - 200 < estimate("\n".join(shown)) <= BODY_TOKENS
    assert "\n[cut at 5,000 of about " in item.text


def test_those_left_out_for_space_are_named() -> None:
    found = draft(facts(skill_bodies=(Skill("a", "", "x"), Skill("b", "", "y"))))
    assert found is not None
    assert found.text(found.items[1:]).endswith("(left out for lack of space, ask for them with skill_read: a)")
    assert found.text(()) == "[Skills again: left out for lack of space, ask for them with skill_read: a, b.]"
