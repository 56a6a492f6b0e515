"""``kai chat``: who speaks, on which daemon. How it talks is the terminal bridge's part."""

import getpass
import io
import json
import os
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.commands.conftest import Kai
from tests.fake_daemon import FakeDaemon


@pytest.fixture
def fake(fake: FakeDaemon) -> FakeDaemon:
    people = [("Ann", "p-ann", "somebody"), ("Me", "p-me", getpass.getuser())]
    rows = [{"name": name, "principal": at, "os_user": user, "is_you": at == "p-me"} for name, at, user in people]
    fake.canned["GET", "/v1/people"] = (200, rows)
    return fake


@pytest.fixture(autouse=True)
def _nothing_on_stdin(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    with Path(os.devnull).open(encoding="utf-8") as nothing:
        monkeypatch.setattr(sys, "stdin", nothing)
        yield


@pytest.mark.parametrize(("flag", "chat"), [([], "p-me"), (["--as", "Ann"], "p-ann")])
def test_every_person_speaks_at_an_address_of_their_own(kai: Kai, fake: FakeDaemon, flag: list[str], chat: str) -> None:
    assert kai("chat", *flag, "--channel", "garden", "hello", "there") == (0, "ok\n", "")
    sent = fake.bodies("POST", "/v1/messages")[0]
    assert (sent["chat"], sent["thread"], sent["text"]) == (chat, "garden", "hello there")


def test_somebody_who_is_unknown_cannot_speak(kai: Kai, fake: FakeDaemon) -> None:
    said = "kai: There is no person 'Anm'.\n     Did you mean 'Ann'? Known: Ann, Me.\n"
    assert kai("chat", "--as", "Anm", "x") == (1, "", said)
    assert fake.said() == []


def test_who_is_nobody_any_more_is_not_taken_for_another_of_the_same_os_user(kai: Kai, fake: FakeDaemon) -> None:
    rows = [{"name": n, "principal": n, "os_user": getpass.getuser(), "is_you": False} for n in ("Ann", "Bo")]
    fake.canned["GET", "/v1/people"] = (200, rows)
    status, out, err = kai("chat", "x")
    assert (status, out, fake.said()) == (1, "", [])
    assert "shared with Ann, Bo" in err
    assert "'kai person add NAME' or 'kai init', or say --as PERSON" in err


def test_a_backend_is_chosen_for_the_conversation_before_the_message(kai: Kai, fake: FakeDaemon) -> None:
    fake.canned["POST", "/v1/use"] = (200, {"sentence": "ok"})
    assert kai("chat", "--backend", "gemini", "--channel", "garden", "x")[0] == 0
    order = [one.path for one in fake.asked if one.path in ("/v1/use", "/v1/messages")]
    assert order == ["/v1/use", "/v1/messages"]
    assert fake.bodies("POST", "/v1/use") == [{"backend": "gemini", "channel": "garden", "wait": False, "begin": True}]


def test_a_message_may_come_from_stdin_and_must_not_be_empty(
    kai: Kai, fake: FakeDaemon, monkeypatch: pytest.MonkeyPatch
) -> None:
    class Bytes(io.StringIO):
        buffer = io.BytesIO("naïve \udcff".encode("utf-8", "surrogateescape"))

        def fileno(self) -> int:
            return 0

    monkeypatch.setattr(sys, "stdin", Bytes())
    assert kai("chat", "-")[0] == 0
    assert fake.said() == ["naïve \ufffd"]
    assert kai("chat", "  ")[0] == 2


def test_a_private_talk_leaves_nothing_running_and_keeps_its_state_apart(kai: Kai, folders: list[str]) -> None:
    status, out, err = kai("chat", "--private", "--json", "count one two")
    assert err == ""
    end = json.loads(out.splitlines()[-1])
    assert (status, end["state"]) == (0, "done")
    assert "2 words" in end["text"]
    assert (Path(folders[3]) / "private" / "kai.db").exists()
    assert not (Path(folders[3]) / "kai.db").exists()
