"""``kai channel``."""

import json

from tests.commands.conftest import Kai
from tests.fake_daemon import FakeDaemon

MAIN = {
    "channel": "c-1", "title": "main", "kind": "private", "member_names": ["Ann"], "running": None, "queued": 0,
    "os_user": "",
}  # fmt: skip


def test_conversations_are_listed_and_shown(kai: Kai, fake: FakeDaemon) -> None:
    fake.canned["GET", "/v1/channels"] = (200, [MAIN])
    fake.canned["GET", "/v1/channels/main"] = (200, MAIN)
    assert kai("channel", "list")[1].splitlines()[1].split() == ["main", "private", "Ann", "-", "-", "0", "c-1"]
    assert json.loads(kai("channel", "show", "main", "--json")[1]) == MAIN
