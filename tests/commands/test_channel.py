"""``kai channel``."""

import json
from pathlib import Path

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


def test_a_shared_channel_is_made_filled_and_bound(kai: Kai, fake: FakeDaemon) -> None:
    family = {**MAIN, "channel": "c-2", "title": "family", "kind": "shared"}
    fake.canned["GET", "/v1/channels"] = (200, [MAIN])
    fake.canned["POST", "/v1/channels"] = (201, family)
    fake.canned["POST", "/v1/channels/family/members"] = (200, family)
    fake.canned["POST", "/v1/channels/family/addresses"] = (201, family)
    assert kai("channel", "add", "family", "--member", "Ann", "--member", "Bob")[0] == 0
    assert fake.asked[-1].body == {"title": "family", "os_user": "", "members": ["Ann", "Bob"]}
    assert kai("channel", "join", "family", "Cleo")[0] == 0
    assert fake.asked[-1].body == {"member": "Cleo", "present": True}
    assert kai("channel", "leave", "family", "Cleo")[0] == 0
    assert fake.asked[-1].body == {"member": "Cleo", "present": False}
    assert kai("channel", "bind", "family", "telegram", "--", "-100")[0] == 0
    assert fake.asked[-1].body == {"bridge": "telegram", "chat": "-100", "thread": ""}
    fake.canned["GET", "/v1/channels"] = (200, [family])
    fake.canned["POST", "/v1/channels/c-2/members"] = (200, family)
    assert kai("channel", "add", "Family", "--member", "Dora")[0] == 0
    assert fake.asked[-1].body == {"member": "Dora", "present": True}


def test_a_file_is_fetched_and_never_over_one_that_is_there(kai: Kai, fake: FakeDaemon, tmp_path: Path) -> None:
    stored = {"ref": "x-1", "name": "a.txt", "media_type": "text/plain", "size_bytes": 2, "sha256": ""}
    fake.canned["POST", "/v1/channels/main/files"] = (201, stored)
    fake.canned["GET", "/v1/attachments/x-1"] = (200, "hi")
    out = tmp_path / "there.txt"
    assert kai("channel", "fetch", "main", "a.txt", "--out", str(out))[0] == 0
    assert "hi" in out.read_text()
    status, _, err = kai("channel", "fetch", "main", "a.txt", "--out", str(out))
    assert (status, "exists" in err) == (1, True)
