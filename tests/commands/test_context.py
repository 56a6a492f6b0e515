"""``kai context``."""

import json
from typing import Any

from tests.commands.conftest import Kai
from tests.fake_daemon import FakeDaemon

ROW = {
    "section": "memory", "kind": "record", "id": "m-1", "revision": 2, "bytes": 10, "tokens": 3,
    "verdict": "omitted_budget", "reason": "",
}  # fmt: skip
BLOCK = {"text": "[Agent: house]\n\nwords", "bare": False, "tokens": 9, "bytes": 21, "sections": [], "earlier": []}


def test_a_preview_shows_the_block_and_only_with_why_what_was_considered(kai: Kai, fake: FakeDaemon) -> None:
    fake.canned["POST", "/v1/context/preview"] = (200, {**BLOCK, "dispositions": [ROW]})
    out = kai("context", "preview", "some", "words", "--channel", "garden")[1]
    assert out.startswith("[Agent: house]\n\nwords\n")
    assert "omitted_budget" not in out
    assert fake.asked[-1].body == {"text": "some words", "channel": "garden"}
    assert "omitted_budget" in kai("context", "preview", "words", "--why")[1]


def test_the_exact_block_of_a_turn_is_shown(kai: Kai, fake: FakeDaemon) -> None:
    fake.canned["GET", "/v1/turns/t-1/context"] = (200, {**BLOCK, "dispositions": [ROW]})
    assert "omitted_budget" in kai("context", "show", "t-1", "--why")[1]
    assert fake.asked[-1].query == {"why": ["1"]}
    assert json.loads(kai("context", "show", "t-1", "--json")[1])["text"] == BLOCK["text"]


def test_a_diff_names_the_sections_that_changed(kai: Kai, fake: FakeDaemon) -> None:
    fake.canned["GET", "/v1/turns"] = (200, [{"turn": "t-2"}])
    changes = [{"name": "now", "change": "changed", "lines": ["-a", "+b"]}]
    fake.canned["GET", "/v1/context/diff"] = (200, {"a": "t-1", "b": "t-2", "sections": changes})
    assert kai("context", "diff", "t-1")[1] == "changed  now\n  -a\n  +b\n"
    assert fake.asked[-1].query == {"a": ["t-1"], "b": ["t-2"]}


def verdict(*, holds: bool) -> dict[str, Any]:
    checks = [{"what": "the frame is the one that was written", "holds": holds}]
    attempt = {"attempt": 1, "state": "settled", "ok": holds, "checks": checks, "bytes": 21, "frame_sha256": "ab"}
    unsent = {"attempt": 2, "state": "settled", "ok": True, "checks": [], "note": "nothing was written to the backend"}
    return {"turn": "t-1", "ok": holds, "dispatches": [attempt, unsent]}


def test_a_block_that_was_written_is_proven_and_a_mismatch_is_exit_status_1(kai: Kai, fake: FakeDaemon) -> None:
    path = "/v1/turns/t-1/context/verify"
    fake.canned["GET", path] = (200, verdict(holds=True))
    status, out, _ = kai("context", "verify", "t-1")
    assert status == 0
    assert "ok   the frame is the one that was written" in out
    assert "nothing was written to the backend" in out
    fake.canned["GET", path] = (200, verdict(holds=False))
    status, out, _ = kai("context", "verify", "t-1")
    assert (status, "FAIL the frame is the one that was written" in out) == (1, True)
    assert kai("context", "verify", "t-1", "--json")[0] == 1
