"""Which launcher a daemon uses."""

import os
import socket
from pathlib import Path

import pytest

from kai.processes.choose import launcher


@pytest.mark.parametrize("kind", ["direct", "spawner", "sudo"])
def test_a_named_kind_is_taken(kind: str) -> None:
    assert launcher(kind, "/nowhere").name == kind


def test_by_itself_the_spawner_is_taken_where_it_may_be_asked(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    assert launcher("auto", str(tmp_path / "none.sock")).name == "direct"
    with socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET) as there:
        there.bind(str(tmp_path / "spawner.sock"))
        monkeypatch.setattr(os, "geteuid", lambda: 1000)
        assert launcher("auto", str(tmp_path / "spawner.sock")).name == "spawner"
        monkeypatch.setattr(os, "geteuid", lambda: 0)
        assert launcher("auto", str(tmp_path / "spawner.sock")).name == "direct", "it serves no root"
