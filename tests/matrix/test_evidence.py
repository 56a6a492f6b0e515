"""Each check of the matrix passes what is sound and names what is not."""

from dataclasses import replace
from typing import Any

import pytest

from tests.matrix.evidence import Turn, added, arrived, holds, leaked, without_clock
from tests.stub_model import Request

HEAD = "[Recent canonical conversation context: 2 of 2 messages.]\n<<f1 history\n"
SAID = "2026-11-30 18:40 Ann: the plant is a quince\n2026-11-30 18:41 kai (via claude): noted,\n\n  a quince\nf1>>"
BLOCK = f"{HEAD}{SAID}\n\n[Now: Mon 2026-11-30 18:41 Europe/Berlin]\n\n[marker]\nwhich plant?"


def turn(backend: str, words: str, answer: str, block: str, *bodies: Any, **more: Any) -> Turn:
    dispatch = {
        "dispatch": f"d-{backend}",
        "turn": f"t-{words}",
        "session": f"s-{backend}",
        "run": f"r-{backend}",
        "native_id": f"native-{backend}",
        "epoch": f"epoch-{backend}",
        "frame_sha256": "",
    }
    sections = [{"name": "session.history", "bytes": len((HEAD + SAID).encode())}]
    requests = tuple(Request(n, 0.0, "POST", "/v1", {"x-id": "1"}, body) for n, body in enumerate(bodies))
    return Turn(backend, words, answer, {"text": block, "dispatch": dispatch, "sections": sections}, requests, **more)


BEFORE = turn("claude", "the plant is a quince", "noted,\n\na quince", "x")
AFTER = turn("codex", "which plant?", "a quince", BLOCK, {"system": "you are codex", "input": [{"text": BLOCK}]})


def test_a_sound_switch_has_no_faults() -> None:
    faults = [*arrived(AFTER), *holds(AFTER.block, [BEFORE]), *leaked(AFTER, [BEFORE]), *added(AFTER, AFTER)]
    assert faults == []


@pytest.mark.parametrize(
    ("bodies", "fault"),
    [
        ([], "0 model requests"),
        ([{"a": BLOCK}, {"a": BLOCK}], "2 model requests"),
        ([{"a": BLOCK[:-1]}], "stands 0 times"),
        ([{"a": BLOCK, "b": BLOCK}], "stands 2 times"),
        ([{"a": BLOCK + BLOCK}], "stands 2 times"),
        ([{"a": "hm " + BLOCK}], "3 characters stand beside"),
    ],
)
def test_a_block_that_is_not_there_once_and_alone_is_a_fault(bodies: list[Any], fault: str) -> None:
    (found,) = arrived(turn("codex", "which plant?", "a quince", BLOCK, *bodies))
    assert fault in found


def test_an_agent_that_puts_words_of_its_own_before_a_message_may_do_so() -> None:
    assert list(arrived(turn("copilot", "w", "a", BLOCK, {"a": "hm " + BLOCK}), adds=True)) == []


def test_an_agent_without_a_model_must_have_counted_and_shown_what_is_in_the_block() -> None:
    counted = f"{len(BLOCK.split())} words, {len(BLOCK)} characters, {len(BLOCK.encode())} bytes. 1 sections."
    sound = turn("offline", "count", counted, BLOCK, told={"session.history": HEAD + SAID})
    assert list(arrived(sound)) == []
    assert "counted" in next(arrived(replace(sound, answer="1 words, 2 characters, 3 bytes.")))
    for part in ("", SAID, HEAD + SAID.replace("quince", "medlar")):
        assert "session.history" in next(arrived(replace(sound, told={"session.history": part})))


def test_every_question_and_answer_must_stand_there_in_order_under_its_name() -> None:
    assert list(holds(BLOCK, [replace(BEFORE, answer="noted")])) == []
    assert len(list(holds(BLOCK, [replace(BEFORE, words="never said", answer="nor that")]))) == 2
    assert len(list(holds(BLOCK, [replace(BEFORE, backend="gemini")]))) == 1
    assert list(holds(BLOCK, [BEFORE, BEFORE]))
    with_tools = BLOCK.replace("a quince\nf1", "a quince\n  [Bash ls: ok; Read x: failed]\nf1")
    assert list(holds(with_tools, [replace(BEFORE, tools=("Bash ls: ok", "Read x: failed"))])) == []
    assert list(holds(with_tools, [replace(BEFORE, tools=("Read x: failed", "Bash ls: ok"))]))


@pytest.mark.parametrize("mark", ["d-claude", "s-claude", "r-claude", "native-claude", "epoch-claude"])
def test_whatever_names_another_agents_turn_is_a_leak_wherever_it_stands(mark: str) -> None:
    in_body = turn("codex", "w", "a", BLOCK, {"metadata": {"user": f"u-{mark}"}})
    in_block = turn("codex", "w", "a", BLOCK + mark, {})
    in_told = turn("offline", "w", "a", BLOCK, told={"agent": mark})
    in_head = replace(AFTER, requests=(replace(AFTER.requests[0], headers={"session": mark}),))
    for leaking in (in_body, in_block, in_told, in_head):
        assert list(leaked(leaking, [BEFORE])) == [f"{mark} of claude is in it"]


def test_what_a_direct_start_would_not_send_is_told_and_what_moves_each_time_is_not() -> None:
    def sent(system: str, *rest: Any) -> Turn:
        return turn("codex", "w", "a", BLOCK, {"system": system, "input": [*rest, {"text": BLOCK}]})

    first = "at 2026-11-30T18:41:02.123Z in 0199f0aa-0000-7000-8000-00000000abcd"
    again = "at 2026-11-30T18:42:00Z in 0199f0bb-1111-7000-8000-00000000abcd"
    assert list(added(sent(first), sent(again))) == []
    assert list(added(sent("you are claude"), sent("you are codex")))
    assert list(added(sent("x", {"text": "<claude>"}), sent("x")))


def test_only_the_line_with_the_time_is_set_aside() -> None:
    later = BLOCK.replace("18:41 Europe", "18:42 Europe")
    assert without_clock(later) == without_clock(BLOCK)
    assert without_clock(BLOCK.replace("18:40 Ann", "18:39 Ann")) != without_clock(BLOCK)
    assert without_clock(f"{BLOCK}\nsaid: [Now: never]") != without_clock(BLOCK)
