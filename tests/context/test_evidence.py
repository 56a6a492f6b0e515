"""What people may see of a block."""

import json
from dataclasses import replace
from datetime import UTC, datetime
from hashlib import sha256

import pytest

from kai.context.assemble import assemble
from kai.context.evidence import Earlier, diff, diff_lines, show, show_lines, verify, verify_lines
from kai.model.context import MARKER, Budget, Retrieval, RetrievalStatus
from kai.model.ids import DispatchId, TurnId
from tests.context.examples import HITS, enabled, facts

BLOCK = assemble(enabled())
FRAME = json.dumps({"type": "user", "message": {"content": [{"type": "text", "text": BLOCK.text}]}}).encode() + b"\n"
HASH = sha256(FRAME).hexdigest()


def test_the_block_is_shown_to_the_byte_and_travels_as_json() -> None:
    document = json.loads(json.dumps(show(BLOCK, why=True)))
    assert document["text"] == BLOCK.text
    assert [section["name"] for section in document["sections"]] == [section.name for section in BLOCK.sections]
    assert len(document["dispositions"]) == len(BLOCK.dispositions)
    assert "\n".join(show_lines(document)).startswith(BLOCK.text)
    assert "dispositions" not in show(BLOCK)


def test_why_names_what_did_not_go_along_and_for_what_reason() -> None:
    long = tuple(replace(hit, text=hit.text * 20) for hit in HITS)
    narrow = assemble(enabled(retrieval=Retrieval(RetrievalStatus.OK, long, 2), budget=Budget(3_000)))
    lines = show_lines(show(narrow, why=True))
    assert any("record m-1c9 rev 1" in line and "omitted_budget" in line for line in lines)
    assert any("MEMORY.md" in line and "left_out  " in line and "semantic_memory" in line for line in lines)


def test_what_the_live_session_was_sent_earlier_stands_below() -> None:
    sent = Earlier(DispatchId("d-1"), TurnId("t-1"), datetime(2026, 11, 30, tzinfo=UTC), ("agent", "now"))
    bare = Earlier(DispatchId("d-2"), TurnId("t-2"), datetime(2026, 11, 30, tzinfo=UTC), ())
    lines = show_lines(show(BLOCK, earlier=(sent, bare)))
    told = lines.index("-- this session has from turn t-1, 2026-11-30 00:00:00 UTC:")
    assert lines[told + 1] == "   agent, now"
    assert lines[-1] == "   the words alone"


def test_a_native_command_is_shown_as_what_it_is() -> None:
    lines = show_lines(show(assemble(facts(words="/compact", native_command=True))))
    assert lines[0] == "/compact"
    assert "-- a native command: it went bare, with no block" in lines


def test_nothing_that_is_shown_can_steer_the_terminal() -> None:
    hostile = assemble(facts(words="\x1b]0;title\x07 \x1b[2J", reply_quote="\x1b[31m"))
    assert "\x1b" not in "\n".join(show_lines(show(hostile, why=True)))
    assert "\x1b" not in "\n".join(diff_lines(diff(hostile, BLOCK)))


def test_a_comparison_names_the_sections_that_changed() -> None:
    later = assemble(enabled(fresh=False, now_setting="day", words="And now?"))
    changes = {section["name"]: section["change"] for section in diff(BLOCK, later)["sections"]}
    assert changes["agent"] == changes["memory"] == "same"
    assert changes["now"] == changes["words"] == "changed"
    assert changes["session.history"] == "removed"
    assert {section["change"] for section in diff(later, BLOCK)["sections"]} == {"same", "changed", "added"}
    lines = diff_lines(diff(BLOCK, later))
    assert "changed  words" in lines
    assert "  -And after I change the clock?" in lines
    assert "  +And now?" in lines
    assert diff_lines(diff(BLOCK, BLOCK)) == [
        f"same     {name}" for name in [s.name for s in BLOCK.sections] + ["words"]
    ]


def test_the_bytes_that_were_written_carry_the_snapshot() -> None:
    document = verify(BLOCK, FRAME, HASH)
    assert document["ok"]
    assert all(line.startswith(("ok", "  ")) for line in verify_lines(document))


@pytest.mark.parametrize("at", range(0, len(FRAME), max(1, len(FRAME) // 40)))
def test_one_flipped_bit_anywhere_makes_it_fail(at: int) -> None:
    flipped = FRAME[:at] + bytes([FRAME[at] ^ 1]) + FRAME[at + 1 :]
    assert not verify(BLOCK, flipped, HASH)["ok"]


def test_a_frame_that_carries_it_twice_or_in_pieces_or_not_at_all_fails() -> None:
    text = BLOCK.text
    for content in ([text, text], [text[:100], text[100:]], [], text + text):
        frame = json.dumps({"content": content}).encode()
        document = verify(BLOCK, frame, sha256(frame).hexdigest())
        assert not document["ok"]
        assert any(line.startswith("FAIL the snapshot") for line in verify_lines(document))


def test_the_marker_in_the_persons_own_words_does_not_unsettle_it() -> None:
    block = assemble(facts(words=f"{MARKER}\nhello"))
    frame = json.dumps([block.text]).encode()
    assert verify(block, frame, sha256(frame).hexdigest())["ok"]


def test_a_bare_command_is_proven_like_any_other() -> None:
    block = assemble(facts(words="/compact", native_command=True))
    frame = json.dumps({"content": "/compact"}).encode()
    assert verify(block, frame, sha256(frame).hexdigest())["ok"]
