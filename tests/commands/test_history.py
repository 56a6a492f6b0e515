"""``kai history``."""

import json
from typing import Any

import pytest

from kai.commands import history
from tests.commands.conftest import Kai
from tests.fake_daemon import FakeDaemon


def message(number: int) -> dict[str, Any]:
    moment = "2026-11-30T12:00:00+00:00"
    return {"number": number, "name": "Ann", "text": f"no {number}", "created_at": moment, "tool_lines": []}


def test_messages_are_found_by_their_words(kai: Kai, fake: FakeDaemon) -> None:
    fake.canned["POST", "/v1/history/search"] = (200, [message(3)])
    assert kai("history", "search", "pump", "schedule")[1].splitlines()[1].endswith("Ann  no 3")
    assert {"query": "pump schedule", "limit": 20}.items() <= fake.asked[-1].body.items()
    fake.canned["POST", "/v1/history/search"] = (200, [])
    assert kai("history", "search", "x")[1] == "Nothing found.\n"


@pytest.mark.parametrize("missing", [set(), {2, 3, 5}])
def test_a_whole_conversation_is_exported_once_and_in_order(
    kai: Kai, fake: FakeDaemon, monkeypatch: pytest.MonkeyPatch, missing: set[int]
) -> None:
    """Numbers may be missing: edits are no messages of their own."""
    monkeypatch.setattr(history, "PAGE", 3)
    there = [number for number in range(1, 11) if number not in missing]

    def page(query: dict[str, list[str]]) -> list[dict[str, Any]]:
        before = int(query.get("before", ["99"])[0])
        return [message(number) for number in there if number < before][-int(query["limit"][0]) :]

    fake.computed["GET", "/v1/channels/main/messages"] = page
    rows = [json.loads(line) for line in kai("history", "export", "--json")[1].splitlines()]
    assert [row["number"] for row in rows] == there


def test_an_export_for_reading_says_who_and_when(kai: Kai, fake: FakeDaemon) -> None:
    fake.canned["GET", "/v1/channels/garden/messages"] = (200, [{**message(1), "tool_lines": ["read x: ok"]}])
    out = kai("history", "export", "--channel", "garden")[1]
    assert out.endswith(" Ann:\n· read x: ok\nno 1\n\n")


def test_an_empty_conversation_is_an_empty_export(kai: Kai, fake: FakeDaemon) -> None:
    fake.canned["GET", "/v1/channels/main/messages"] = (200, [])
    assert kai("history", "export") == (0, "", "")
