"""``kai agent``."""

from typing import Any

from tests.commands.conftest import Kai
from tests.fake_daemon import FakeDaemon

HOUSE: dict[str, Any] = {
    "name": "house", "purpose": "help", "instructions": "Be plain.\nAsk first.", "capabilities": ["files"],
    "skills": [{"name": "pump", "summary": "test pumps", "body": "Close the valve."}], "aliases": [],
    "revision": "abc", "in_force": True, "memory": {"inject": []},
    "versions": [{"revision": "abc", "seen_at": "2026-11-30T10:00:00Z"}],
}  # fmt: skip


def test_the_definitions_are_listed_with_their_revision(kai: Kai, fake: FakeDaemon) -> None:
    row = {
        "agent": "house",
        "purpose": "help",
        "revision": "abc",
        "aliases": [],
        "capabilities": [],
        "skills": ["pump"],
    }
    fake.canned["GET", "/v1/agents"] = (200, [row])
    code, out, _ = kai("agent", "list")
    assert code == 0
    assert all(word in out for word in ("house", "abc", "pump", "help"))


def test_one_is_shown_as_an_agent_reads_it_with_its_versions(kai: Kai, fake: FakeDaemon) -> None:
    fake.canned["GET", "/v1/agents/house"] = (200, HOUSE)
    code, out, _ = kai("agent", "show", "house", "--revision", "ab")
    assert code == 0
    for words in (
        "revision abc (in force)",
        "Ask first.",
        "Skill pump: test pumps",
        "Close the valve.",
        "2026-11-30 10:00",
    ):
        assert words in out
    assert fake.asked[-1].query == {"revision": ["ab"]}
    fake.canned["GET", "/v1/agents/house"] = (200, {**HOUSE, "in_force": False})
    assert "not in force any more" in kai("agent", "show", "house")[1]


def test_one_is_chosen_for_a_channel(kai: Kai, fake: FakeDaemon) -> None:
    fake.canned["POST", "/v1/use"] = (200, {"channel": "c-1", "sentence": "From the next message on: research."})
    assert kai("agent", "set", "research", "--channel", "garden")[0] == 0
    assert fake.asked[-1].body == {"agent": "research", "channel": "garden", "wait": False}
