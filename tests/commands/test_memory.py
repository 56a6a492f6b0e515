"""``kai memory`` as a person types it."""

import json
from pathlib import Path
from typing import Any

import pytest

from tests.commands.conftest import Kai
from tests.fake_daemon import FakeDaemon

ROW = {"record": "rec-1", "kind": "preference", "pinned": True, "said_at": "2026-11-30T12:00:00+00:00",
       "status": "active", "text": "short answers", "score": 0.5}  # fmt: skip


def receipt(outcome: str = "committed") -> dict[str, Any]:
    return {"outcome": outcome, "sentence": f"So it is: {outcome}."}


@pytest.mark.parametrize(
    ("argv", "method", "path", "body"),
    [
        (("add", "the", "pump"), "POST", "records", {"text": "the pump", "kind": "fact", "ttl_s": 0.0}),
        (("add", "--kind", "note", "--pin", "--days", "1", "x"), "POST", "records", {"pinned": True, "ttl_s": 86400.0}),
        (("correct", "rec-1", "--base", "2", "a", "b"), "POST", "records/rec-1/correct", {"text": "a b", "base": 2}),
        (("forget", "rec-1"), "POST", "records/rec-1/forget", {}),
        (("forget", "rec-1", "--redact"), "POST", "records/rec-1/redact", {}),
        (("restore", "rec-1"), "POST", "records/rec-1/restore", {}),
        (("accept", "rec-1"), "POST", "records/rec-1/accept", {}),
        (("reject", "rec-1"), "POST", "records/rec-1/reject", {}),
        (("grant", "rec-1", "kitchen"), "POST", "grants", {"what": "rec-1", "to": "kitchen", "days": 0.0}),
        (("revoke", "g-1"), "POST", "grants/g-1/revoke", {}),
    ],
)
def test_what_changes_something_ends_by_its_receipt(
    kai: Kai, fake: FakeDaemon, argv: tuple[str, ...], method: str, path: str, body: dict[str, Any]
) -> None:
    for outcome, status in (("committed", 0), ("noop", 0), ("rejected", 1), ("conflict", 1)):
        fake.canned[method, f"/v1/memory/{path}"] = (200, receipt(outcome))
        assert kai("memory", *argv)[:2] == (status, f"So it is: {outcome}.\n")
    assert body.items() <= fake.asked[-1].body.items()


def test_records_and_hits_are_listed(kai: Kai, fake: FakeDaemon) -> None:
    fake.canned["GET", "/v1/memory/records"] = (200, [ROW])
    assert kai("memory", "list")[1].splitlines()[1].split() == [
        "rec-1", "preference", "*", "2026-11-30", "active", "short", "answers"
    ]  # fmt: skip
    fake.canned["POST", "/v1/memory/search"] = (200, {"status": "ok", "reason": "", "hits": [ROW]})
    assert kai("memory", "search", "answers")[1].splitlines()[1].startswith("0.50   rec-1")
    fake.canned["POST", "/v1/memory/search"] = (200, {"status": "empty", "reason": "", "hits": []})
    assert kai("memory", "search", "x")[1] == "Nothing that is remembered fits.\n"
    fake.canned["POST", "/v1/memory/search"] = (200, {"status": "denied", "reason": "not_granted", "hits": []})
    assert kai("memory", "search", "x")[1] == "Not searched: denied: not_granted.\n"


def test_an_export_goes_to_a_file_of_ones_own_and_comes_back(kai: Kai, fake: FakeDaemon, tmp_path: Path) -> None:
    fake.canned["GET", "/v1/memory/export"] = (200, {"kai_memory": 1, "records": [{"text": "é"}]})
    file = tmp_path / "memory.json"
    assert kai("memory", "export", str(file)) == (0, "", "")
    assert file.stat().st_mode & 0o777 == 0o600
    assert json.loads(kai("memory", "export")[1]) == json.loads(file.read_text())
    fake.canned["POST", "/v1/memory/import"] = (
        200,
        {"counts": {"committed": 3, "rejected: tombstoned": 1}, "entries": []},
    )
    assert kai("memory", "import", str(file))[1] == "3 committed\n1 rejected: tombstoned\n"
    file.write_text("no json")
    assert kai("memory", "import", str(file))[0] == 2


def test_a_markdown_file_is_looked_at_first_and_told_line_by_line(kai: Kai, fake: FakeDaemon, tmp_path: Path) -> None:
    entry = {"line": 3, "outcome": "committed", "reason": "", "kind": "fact", "text": "the pump is loud"}
    refused = {"line": 4, "outcome": "rejected", "reason": "secret:key", "kind": "fact", "text": ""}
    fake.canned["POST", "/v1/memory/import"] = (200, {"counts": {"committed": 1}, "entries": [entry, refused]})
    file = tmp_path / "MEMORY.md"
    file.write_text("- the pump is loud\n")
    lines = kai("memory", "import", "--dry-run", str(file))[1].splitlines()
    assert lines[:2] == ["line 3: committed: fact: the pump is loud", "line 4: rejected (secret:key)"]
    assert lines[-1].startswith("Nothing was kept")
    assert fake.asked[-1].body == {"dry_run": True, "markdown": "- the pump is loud\n"}


def test_what_waits_is_listed(kai: Kai, fake: FakeDaemon) -> None:
    fake.canned["GET", "/v1/memory/records"] = (200, [{**ROW, "status": "candidate"}])
    assert "candidate" in kai("memory", "candidates")[1]


def test_a_finding_is_an_exit_status(kai: Kai, fake: FakeDaemon) -> None:
    fake.canned["GET", "/v1/memory/doctor"] = (200, [])
    assert kai("memory", "doctor")[:2] == (0, "Nothing is wrong.\n")
    fake.canned["GET", "/v1/memory/doctor"] = (200, [{"name": "memory-index", "problem": "lost", "mend": "Do."}])
    fake.canned["POST", "/v1/memory/reindex"] = (200, {"records": 1})
    assert kai("memory", "doctor", "--reindex")[:2] == (1, "memory-index: lost. Do.\n")
